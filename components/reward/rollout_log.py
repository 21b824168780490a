"""Every response that the trainer sampled, with its reward, kept beside the trainer in SQLite.

verl's own dumps lack the reward's parts and the samples that abstained. Rows are appended in one transaction each, so
that a killed run loses at most the samples in flight.
"""

import dataclasses
import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from components.reward.judge_rates import Judged

_COLUMNS = (
    "step",
    "row_id",
    "sample_id",
    "sample_index",
    "question",
    "response",
    "response_tokens",
    "finished",
    "status",
    "reward",
    "reason",
    "known_weight",
    "parts",
    "attempt",
)

_COUNTS = tuple(field.name for field in dataclasses.fields(Judged))
_JUDGED = ", ".join(_COUNTS)


class RolloutLog:
    """Append-only; one writer process, any number of readers."""

    def __init__(self, path: Path) -> None:
        """Open or make the log at ``path``."""
        self._connection = sqlite3.connect(path, timeout=30)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(f"CREATE TABLE IF NOT EXISTS rollouts ({', '.join(_COLUMNS)}, time REAL)")
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS judged "
            f"(step INTEGER, attempt INTEGER, {', '.join(f'{name} INTEGER' for name in _COUNTS)})"
        )
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS attempts (attempt INTEGER PRIMARY KEY, resumed_from INTEGER)"
        )
        self._connection.commit()

    def start_attempt(self, resumed_from: int) -> int:
        """Note that the trainer starts again from a checkpoint, and return the attempt's number, from 1.

        Args:
            resumed_from: the checkpoint's step; 0 for a fresh start.
        """
        with self._connection:
            cursor = self._connection.execute("INSERT INTO attempts (resumed_from) VALUES (?)", (resumed_from,))
        return int(cursor.lastrowid or 0)

    def attempts(self) -> dict[int, int]:
        """The step that each attempt resumed from, by its number."""
        return dict(self._connection.execute("SELECT attempt, resumed_from FROM attempts ORDER BY attempt"))

    def append(self, row: Mapping[str, Any], judged: Judged | None = None) -> None:
        """Add one sample; keys are the columns of the ROLLOUTS contract, ``judged`` is how the judge treated it."""
        values = [json.dumps(row[name]) if isinstance(row[name], dict) else row[name] for name in _COLUMNS]
        marks = ", ".join("?" * (len(_COLUMNS) + 1))
        with self._connection:
            self._connection.execute(f"INSERT INTO rollouts VALUES ({marks})", [*values, time.time()])
            if judged is not None:
                counts = (row["step"], row["attempt"], *dataclasses.astuple(judged))
                self._connection.execute(
                    f"INSERT INTO judged (step, attempt, {_JUDGED}) VALUES ({', '.join('?' * len(counts))})", counts
                )

    def judged_in(self, step: int) -> list[Judged]:
        """How the judge treated the samples of one step, in the last attempt that ran it."""
        query = (
            f"SELECT {_JUDGED} FROM judged WHERE step = ? "
            "AND attempt = (SELECT MAX(attempt) FROM judged WHERE step = ?) ORDER BY rowid"
        )
        return [_judged(values) for values in self._connection.execute(query, (step, step))]

    def parts_in(self, step: int) -> list[tuple[float | None, dict[str, float | None]]]:
        """Reward and parts of the samples of one step, in the last attempt that ran it."""
        query = (
            "SELECT reward, parts FROM rollouts WHERE step = ? "
            "AND attempt = (SELECT MAX(attempt) FROM rollouts WHERE step = ?) ORDER BY rowid"
        )
        return [(reward, json.loads(parts)) for reward, parts in self._connection.execute(query, (step, step))]

    def newest_judged(self, count: int) -> list[Judged]:
        """How the judge treated the newest ``count`` samples, those of repeated steps included."""
        query = f"SELECT {_JUDGED} FROM judged ORDER BY rowid DESC LIMIT ?"
        return [_judged(values) for values in self._connection.execute(query, (count,))]

    def rows(self) -> list[dict[str, Any]]:
        """The samples that the final weights come from: of each step, those of the last attempt that ran it."""
        last = _last_attempts(self.attempts())
        query = f"SELECT {', '.join(_COLUMNS)} FROM rollouts ORDER BY step, row_id, sample_index, rowid"
        rows = [dict(zip(_COLUMNS, values, strict=True)) for values in self._connection.execute(query)]
        for row in rows:
            row["finished"] = bool(row["finished"])
        return [row for row in rows if row["attempt"] == last(row["step"])]

    def recent_statuses(self, count: int) -> list[str]:
        """Statuses of the newest ``count`` samples, newest first."""
        query = "SELECT status FROM rollouts ORDER BY rowid DESC LIMIT ?"
        return [status for (status,) in self._connection.execute(query, (count,))]

    def progress(self) -> tuple[int, int, float]:
        """The newest step, its number of samples, and the Unix time of the newest sample (0 when there is none)."""
        query = "SELECT step, time FROM rollouts ORDER BY rowid DESC LIMIT 1"
        newest = self._connection.execute(query).fetchone()
        if newest is None:
            return 0, 0, 0.0
        count = self._connection.execute("SELECT COUNT(*) FROM rollouts WHERE step = ?", (newest[0],)).fetchone()[0]
        return int(newest[0]), int(count), float(newest[1])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def _judged(values: Sequence[Any]) -> Judged:
    """The row with its truth values, which SQLite keeps as 0 and 1."""
    kinds = [field.type for field in dataclasses.fields(Judged)]
    return Judged(*(bool(value) if kind is bool else value for kind, value in zip(kinds, values, strict=True)))


def _last_attempts(attempts: Mapping[int, int]) -> Any:
    """A function from a step to the last attempt that trained it."""

    def last(step: int) -> int:
        return max((attempt for attempt, resumed_from in attempts.items() if resumed_from < step), default=0)

    return last
