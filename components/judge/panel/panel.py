"""The panel: judges that are asked about the same sample at the same time."""

import asyncio
import dataclasses
import hashlib
from collections.abc import Sequence

from components.core.errors import JudgeError
from components.judge.base import Judge
from components.judge.memory import Entry, Ledger
from components.judge.panel.combine import Combine, combine
from components.judge.panel.tally import Tally
from components.judge.verdict import Sample, Verdict


class Panel:
    """A judge made of judges (Verga et al. 2024, arXiv 2404.18796).

    Members write their own verdicts to the ledger, under their own names; the panel adds the combined ones under its
    name, so that disagreement stays on record.

    Args:
        judges: the members, at least two; closed with the panel.
        rule: how verdicts are combined; see :func:`components.judge.panel.combine.combine`.
        name: of the panel, in verdicts and the ledger; must not be a member's.
        quorum: known verdicts of members that a criterion needs.
        ledger: gets the combined verdicts; the caller closes it.

    Raises:
        JudgeError: fewer than two members, or a quorum that they cannot reach.
    """

    def __init__(
        self,
        judges: Sequence[Judge],
        rule: Combine,
        *,
        name: str = "panel",
        quorum: int = 1,
        ledger: Ledger | None = None,
    ) -> None:
        if len(judges) < 2:
            raise JudgeError(f"a panel of {len(judges)} judges", where=f"panel {name}", remedy="name at least two")
        if not 1 <= quorum <= len(judges):
            raise JudgeError(
                f"a quorum of {quorum} among {len(judges)} judges",
                where=f"panel {name}",
                remedy=f"set quorum to 1 ... {len(judges)}",
            )
        self._judges = tuple(judges)
        self._rule: Combine = rule
        self._name = name
        self._quorum = quorum
        self._ledger = ledger
        self.tally = Tally()
        """What the members said so far: agreement and acceptance."""

    async def judge(self, sample: Sample) -> list[Verdict]:
        """One combined verdict a criterion, in the order of ``sample.criteria``."""
        given = await asyncio.gather(*(member.judge(sample) for member in self._judges))
        self.tally.add(given)
        combined = [
            combine(
                verdicts,
                self._rule,
                quorum=self._quorum,
                penalty=criterion.points < 0,
                judge=self._name,
                protocol=self._protocol(verdicts),
            )
            for criterion, *verdicts in zip(sample.criteria, *given, strict=True)
        ]
        if self._ledger is not None:
            # The members' rows carry the calls; counted here again they would double every total.
            self._ledger.add(
                [
                    Entry.of(sample, index, dataclasses.replace(verdict, attempts=0), seconds=0.0, prompt_tokens=0)
                    for index, verdict in enumerate(combined)
                ]
            )
        return combined

    async def close(self) -> None:
        """Close the members."""
        await asyncio.gather(*(member.close() for member in self._judges))

    def _protocol(self, verdicts: Sequence[Verdict]) -> str:
        members = sorted(f"{verdict.judge}={verdict.protocol}" for verdict in verdicts)
        content = "\n".join([self._rule, str(self._quorum), *members])
        return f"panel-{self._rule}/{hashlib.sha256(content.encode()).hexdigest()[:12]}"
