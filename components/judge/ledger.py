"""The append-only log of verdicts: SQLite in WAL mode, for several writers on one host."""

import dataclasses
import hashlib
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from components.core.contracts import VERDICTS, write_table
from components.core.errors import JudgeError
from components.judge.verdict import Sample, Verdict

_RAW_LIMIT = 4096
"""Bytes kept of the reply of a failed call; enough for an error message, too little to fill a disk."""

_WAIT = 30.0
"""Seconds that a writer waits for another one."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS verdicts (
    sample_id TEXT NOT NULL, row_id TEXT NOT NULL, criterion TEXT NOT NULL, criterion_index INTEGER NOT NULL,
    status TEXT NOT NULL, probability REAL, log_ratio REAL, reason TEXT, judge TEXT NOT NULL, protocol TEXT NOT NULL,
    attempts INTEGER NOT NULL, seconds REAL NOT NULL, prompt_tokens INTEGER NOT NULL, response_chars INTEGER NOT NULL,
    raw_id TEXT, time REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS failures (
    raw_id TEXT, sample_id TEXT NOT NULL, detail TEXT NOT NULL, body BLOB, time REAL NOT NULL
);
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One row of the ledger; the fields are the columns of the VERDICTS contract."""

    sample_id: str
    row_id: str
    criterion: str
    criterion_index: int
    status: str
    probability: float | None
    log_ratio: float | None
    reason: str | None
    judge: str
    protocol: str
    attempts: int
    seconds: float
    prompt_tokens: int
    response_chars: int
    raw_id: str | None
    time: float

    @classmethod
    def of(cls, sample: Sample, index: int, verdict: Verdict, *, seconds: float, prompt_tokens: int) -> Self:
        """The row of one verdict on criterion ``index`` of ``sample``; ``seconds`` is the wall time of its calls."""
        return cls(
            sample_id=sample.sample_id,
            row_id=sample.row_id,
            criterion=sample.criteria[index].text,
            criterion_index=index,
            status=verdict.status.value,
            probability=verdict.probability,
            log_ratio=verdict.log_ratio,
            reason=None if verdict.reason is None else verdict.reason.value,
            judge=verdict.judge,
            protocol=verdict.protocol,
            attempts=verdict.attempts,
            seconds=seconds,
            prompt_tokens=prompt_tokens,
            response_chars=len(sample.response),
            raw_id=verdict.raw_id,
            time=time.time(),
        )


_COLUMNS = tuple(field.name for field in dataclasses.fields(Entry))
_INSERT = f"INSERT INTO verdicts ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' for _ in _COLUMNS)})"


class Ledger:
    """Every verdict that a judge gave. A killed writer loses the call in flight and nothing else.

    Args:
        path: the database file, on a local disk (WAL does not work over a network file system); made if missing.

    Raises:
        JudgeError: the file cannot be opened, or is something else.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.executescript(_SCHEMA)
        except (sqlite3.Error, OSError) as error:
            raise JudgeError(
                f"the verdict ledger cannot be opened: {error}",
                where=str(path),
                remedy="move the file away if it is no ledger, or free the disk",
            ) from error

    def add(self, entries: Sequence[Entry], *, raw: bytes | None = None, detail: str | None = None) -> None:
        """Append the verdicts of one sample, all or none.

        Args:
            entries: one a criterion.
            raw: body of the reply that failed.
            detail: why it failed; needed for a row of the failures to be kept.

        Raises:
            JudgeError: the disk is full, or another writer holds the file for too long.
        """
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                self._db.executemany(_INSERT, [tuple(getattr(entry, name) for name in _COLUMNS) for entry in entries])
                if detail is not None and entries:
                    raw_id = None if raw is None else hashlib.sha256(raw).hexdigest()
                    body = None if raw is None else raw[:_RAW_LIMIT]
                    self._db.execute(
                        "INSERT INTO failures VALUES (?, ?, ?, ?, ?)",
                        (raw_id, entries[0].sample_id, detail, body, entries[0].time),
                    )
        except sqlite3.Error as error:
            raise JudgeError(f"the verdict ledger cannot be written: {error}", where=str(self.path)) from error

    def rows(self) -> list[Entry]:
        """All verdicts in the order of writing."""
        found = self._db.execute(f"SELECT {', '.join(_COLUMNS)} FROM verdicts ORDER BY rowid")
        return [Entry(*row) for row in found]

    def failures(self) -> list[tuple[str, str, bytes | None]]:
        """(sample id, why it failed, first bytes of the reply) of every sample without verdicts."""
        return list(self._db.execute("SELECT sample_id, detail, body FROM failures ORDER BY rowid"))

    def export_parquet(self, path: Path) -> int:
        """Write all verdicts under the VERDICTS contract; returns their number."""
        return write_table(path, [dataclasses.asdict(entry) for entry in self.rows()], VERDICTS)

    def close(self) -> None:
        """Close the file; calling it twice is harmless."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
