"""What a study's parts left in the store, and their files on this machine."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from components.study.records import Record, fetch_file, read_record
from components.study.scoring import cross_name, crossed_identity, probed_identity

if TYPE_CHECKING:
    from components.core.spec.study_load import Study

NOT_REACHED: Final = "it left no record: it was not reached, or ended without one; see the run's log"
"""Why a part is missing of which nothing else is known."""


class Uncrossed(NamedTuple):
    """Why an arm that is there was not scored by a judge.

    Attributes:
        reason: in words.
        failed: whether it was tried.
    """

    reason: str
    failed: bool


@dataclasses.dataclass(frozen=True)
class Found:
    """The records of a study's parts; a part without one was not reached.

    Attributes:
        arms: by the arm's name.
        probes: by the scorer's name.
        crosses: by the names of arm and scorer; those alone that have scores.
        uncrossed: by the same names, what is missing of them though the arm is there.
    """

    arms: Mapping[str, Record]
    probes: Mapping[str, Record]
    crosses: Mapping[tuple[str, str], Record]
    uncrossed: Mapping[tuple[str, str], Uncrossed] = dataclasses.field(default_factory=dict)

    def hashes(self) -> dict[str, object]:
        """What decides the report: every result's content, and why parts are missing."""
        parts = {"arms": self.arms, "probes": self.probes, "crosses": {"|".join(k): v for k, v in self.crosses.items()}}
        missing = {"|".join(key): list(why) for key, why in self.uncrossed.items()}
        known = {
            kind: {
                name: {"error": record.error, **{step: left.sha256 for step, left in record.results.items()}}
                for name, record in records.items()
            }
            for kind, records in parts.items()
        }
        return {**known, "uncrossed": missing}


def find_all(study: "Study", store: str) -> Found:
    """Every record of the study as it is now asked for.

    Raises:
        StorageError: the store cannot be read.
        ContractError: a record is none.
    """
    name, arms, probes = study.spec.name, {}, {}
    crosses: dict[tuple[str, str], Record] = {}
    uncrossed: dict[tuple[str, str], Uncrossed] = {}
    for arm in study.arms:
        record = read_record(store, name, "arms", arm.name, arm.identity())
        if record is None:
            continue
        arms[arm.name] = record
        for scorer in study.scorers:
            if record.error or not study.spec.cross:
                continue
            identity = crossed_identity(record, scorer)
            crossed = read_record(store, name, "crosses", cross_name(arm, scorer), identity)
            if crossed is not None and not crossed.error:
                crosses[arm.name, scorer.name] = crossed
            elif crossed is not None:
                uncrossed[arm.name, scorer.name] = Uncrossed(crossed.error, failed=True)
            else:
                uncrossed[arm.name, scorer.name] = Uncrossed(NOT_REACHED, failed=False)
    for scorer in study.scorers:
        record = read_record(store, name, "probes", scorer.name, probed_identity(study, scorer))
        if record is not None:
            probes[scorer.name] = record
    return Found(arms, probes, crosses, uncrossed)


class Files:
    """Published files, fetched when they are asked for.

    Args:
        store: URL of the store's root.
        folder: where they are kept.
    """

    def __init__(self, store: str, folder: Path) -> None:
        self._store, self._folder = store, folder
        self._fetched: dict[tuple[str, str], Path] = {}

    def get(self, record: Record, step: str, name: str) -> Path:
        """A file of a result of the record.

        Raises:
            StorageError: it is not there, or is damaged.
            ContractError: the record has no such result, or another one lies in its place.
        """
        left = record.left(step)
        key = left.uri, name
        if key not in self._fetched:
            # Checked even where an earlier start has left it: that one may have been killed while it wrote.
            self._fetched[key] = fetch_file(self._store, left, name, self._folder / left.sha256)
        return self._fetched[key]
