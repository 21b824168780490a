"""How far a panel's members agree, and how often each of them accepts."""

import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from components.judge.memory import Entry
from components.judge.panel.agreement import krippendorff_alpha
from components.judge.verdict import Verdict, VerdictStatus


@dataclasses.dataclass(slots=True)
class Acceptance:
    """Verdicts of one member."""

    met: int = 0
    unmet: int = 0
    unknown: int = 0

    @property
    def rate(self) -> float | None:
        """Share of met among the known ones; None without any."""
        known = self.met + self.unmet
        return self.met / known if known else None


class Tally:
    """Counts the patterns of verdicts, one value a member for each criterion of a sample."""

    def __init__(self) -> None:
        self._units: collections.Counter[tuple[str | None, ...]] = collections.Counter()
        self.members: dict[str, Acceptance] = {}
        """By the member's name."""

    @classmethod
    def of_entries(cls, entries: Iterable[Entry], members: Sequence[str]) -> Self:
        """The tally of a ledger: the newest verdict of each member on each criterion of each sample."""
        units: dict[tuple[str, int], dict[str, str]] = {}
        for entry in entries:
            if entry.judge in members:
                units.setdefault((entry.sample_id, entry.criterion_index), {})[entry.judge] = entry.status
        tally = cls()
        for statuses in units.values():
            tally.count(statuses)
        return tally

    def add(self, given: Sequence[Sequence[Verdict]]) -> None:
        """Count one sample: for each member its verdicts, one a criterion."""
        for verdicts in zip(*given, strict=True):
            self.count({verdict.judge: verdict.status.value for verdict in verdicts})

    def count(self, statuses: Mapping[str, str]) -> None:
        """Count one criterion of one sample: the status that each member gave it."""
        for judge, status in statuses.items():
            counts = self.members.setdefault(judge, Acceptance())
            setattr(counts, status, getattr(counts, status) + 1)
        unknown = VerdictStatus.UNKNOWN.value
        self._units[tuple(None if status == unknown else status for status in statuses.values())] += 1

    @property
    def units(self) -> int:
        """Criteria of samples that at least two members know."""
        return sum(count for unit, count in self._units.items() if _known(unit) > 1)

    @property
    def split(self) -> int:
        """Those of :attr:`units` on which members differ."""
        return sum(count for unit, count in self._units.items() if len(set(unit) - {None}) > 1)

    @property
    def alpha(self) -> float | None:
        """Krippendorff's alpha (nominal) over the members' known verdicts; None where it is not defined."""
        return krippendorff_alpha(unit for unit, count in self._units.items() for _ in range(count))


def _known(unit: Sequence[str | None]) -> int:
    return sum(value is not None for value in unit)
