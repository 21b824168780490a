"""The append-only log of verdicts: SQLite in WAL mode, for several writers on one host."""

import dataclasses
import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from components.core.contracts import VERDICTS, write_table
from components.core.errors import JudgeError
from components.judge.memory.budget import Spent
from components.judge.memory.rows import CallRow, Entry, subject

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
CREATE TABLE IF NOT EXISTS calls (
    time REAL NOT NULL, judge TEXT NOT NULL, protocol TEXT NOT NULL, purpose TEXT NOT NULL, prompt_hash TEXT NOT NULL,
    attempts INTEGER NOT NULL, seconds REAL NOT NULL, key INTEGER, endpoint INTEGER, prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL, cost REAL, currency TEXT, finish TEXT,
    reason TEXT, from_cache INTEGER NOT NULL, reply_chars INTEGER NOT NULL, raw_id TEXT, sample_id TEXT,
    response_chars INTEGER
);
"""


_COLUMNS = tuple(field.name for field in dataclasses.fields(Entry))
_INSERT = f"INSERT INTO verdicts ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' for _ in _COLUMNS)})"
_CALL_COLUMNS = tuple(field.name for field in dataclasses.fields(CallRow))
_INSERT_CALL = f"INSERT INTO calls ({', '.join(_CALL_COLUMNS)}) VALUES ({', '.join('?' for _ in _CALL_COLUMNS)})"


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

    def add_call(self, row: CallRow) -> None:
        """Append one call.

        Raises:
            JudgeError: the disk is full, or another writer holds the file for too long.
        """
        about = subject()
        if about is not None and row.sample_id is None and row.response_chars is None:
            row = dataclasses.replace(row, sample_id=about[0], response_chars=about[1])
        try:
            self._db.execute(_INSERT_CALL, [getattr(row, name) for name in _CALL_COLUMNS])
        except sqlite3.Error as error:
            raise JudgeError(f"the verdict ledger cannot be written: {error}", where=str(self.path)) from error

    def calls(self) -> list[CallRow]:
        """All calls in the order of writing."""
        found = self._db.execute(f"SELECT {', '.join(_CALL_COLUMNS)} FROM calls ORDER BY rowid")
        names = dict.fromkeys(_CALL_COLUMNS)
        return [CallRow(**(dict(zip(names, row, strict=True)) | {"from_cache": bool(row[16])})) for row in found]

    def spent(self, judge: str) -> Spent:
        """What the calls to ``judge`` took so far; for a budget that goes on."""
        (found,) = self._db.execute(
            "SELECT COALESCE(SUM(attempts), 0), COALESCE(SUM(prompt_tokens + completion_tokens), 0), "
            "COALESCE(SUM(cost), 0.0) FROM calls WHERE judge = ?",
            (judge,),
        )
        return Spent(*found)

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
