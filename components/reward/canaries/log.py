"""The table of canaries, beside that of the rollouts and in its database: never among the responses of the policy."""

import contextlib
import dataclasses
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from components.reward.canaries.sighting import Sighting

_COLUMNS: Final = tuple(field.name for field in dataclasses.fields(Sighting))
_LIST: Final = ", ".join(_COLUMNS)


class CanaryLog:
    """Append-only; one writer process, any number of readers.

    Args:
        path: the database of :class:`components.reward.rollout_log.RolloutLog`, so that checkpoints that are kept
            elsewhere have both as they were at one moment.
    """

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, timeout=30)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(f"CREATE TABLE IF NOT EXISTS canaries ({_LIST})")
        self._connection.commit()

    def append(self, sighting: Sighting) -> None:
        """Add one canary."""
        marks = ", ".join("?" * len(_COLUMNS))
        with self._connection:
            self._connection.execute(f"INSERT INTO canaries VALUES ({marks})", dataclasses.astuple(sighting))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def canaries_in(path: Path, step: int) -> list[Sighting]:
    """Canaries of one step, in the last attempt that judged any; none where the training has none.

    Args:
        path: as for :class:`CanaryLog`.
        step: of the trainer.
    """
    found = _read(path, "WHERE step = ?", (step,))
    last = max((each.attempt for each in found), default=0)
    return [each for each in found if each.attempt == last]


def counted_canaries(path: Path, attempts: Mapping[int, int]) -> list[Sighting]:
    """Those of the steps that the final weights come from: of each step those of the last attempt that ran it.

    Args:
        path: as for :class:`CanaryLog`.
        attempts: the step that each attempt resumed from, by its number.
    """

    def last(step: int) -> int:
        return max((attempt for attempt, resumed_from in attempts.items() if resumed_from < step), default=0)

    return [each for each in _read(path) if each.attempt == last(each.step)]


def _read(path: Path, which: str = "", values: Sequence[object] = ()) -> list[Sighting]:
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'canaries'").fetchone():
            return []
        query = f"SELECT {_LIST} FROM canaries {which} ORDER BY rowid"
        return [Sighting(*row) for row in connection.execute(query, values)]
