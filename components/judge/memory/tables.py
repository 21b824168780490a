"""The ledger's database: its tables, how it is opened, and how rows go in."""

import dataclasses
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from components.judge.memory.database import open_database
from components.judge.memory.rows import CallRow, Entry

WAIT = 30.0
"""Seconds that a writer waits for another one."""

_APPLICATION = 0x4756_4C32
"""Marks a SQLite file as a ledger with these columns, so that no other database is taken for one."""

_BATCH = 256
"""Rows of one statement at most. One statement a batch, because Python's lock is given up and fought for again with
every statement, and a busy event loop gives it back only every 5 ms."""

COLUMNS: dict[str, tuple[str, ...]] = {
    "verdicts": tuple(field.name for field in dataclasses.fields(Entry)),
    "calls": tuple(field.name for field in dataclasses.fields(CallRow)),
    "failures": ("raw_id", "sample_id", "detail", "body", "time"),
}
"""The tables of rows, with their columns in order. Rows are only ever appended, so their rowid counts them."""

SCHEMA = (
    """
CREATE TABLE IF NOT EXISTS verdicts (
    sample_id TEXT NOT NULL, row_id TEXT NOT NULL, criterion TEXT NOT NULL, criterion_index INTEGER NOT NULL,
    status TEXT NOT NULL, probability REAL, log_ratio REAL, reason TEXT, judge TEXT NOT NULL, protocol TEXT NOT NULL,
    attempts INTEGER NOT NULL, seconds REAL NOT NULL, prompt_tokens INTEGER NOT NULL, response_chars INTEGER NOT NULL,
    raw_id TEXT, time REAL NOT NULL, mass REAL, explanation TEXT
)""",
    """
CREATE TABLE IF NOT EXISTS calls (
    time REAL NOT NULL, judge TEXT NOT NULL, protocol TEXT NOT NULL, purpose TEXT NOT NULL, prompt_hash TEXT NOT NULL,
    attempts INTEGER NOT NULL, seconds REAL NOT NULL, key INTEGER, endpoint INTEGER, prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL, cost REAL, currency TEXT, finish TEXT,
    reason TEXT, from_cache INTEGER NOT NULL, reply_chars INTEGER NOT NULL, raw_id TEXT, sample_id TEXT,
    response_chars INTEGER
)""",
    """
CREATE TABLE IF NOT EXISTS failures (
    raw_id TEXT, sample_id TEXT NOT NULL, detail TEXT NOT NULL, body BLOB, time REAL NOT NULL
)""",
)
"""The tables of rows."""

_BOOKS = (
    "CREATE TABLE IF NOT EXISTS tails (name TEXT PRIMARY KEY, done INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "INSERT OR IGNORE INTO about VALUES ('id', lower(hex(randomblob(8))))",
)
"""How far each writer's tail has been taken over, and the ledger's own id."""


def connect(path: Path, *, make: bool) -> sqlite3.Connection:
    """Open the database of a ledger, or make it; usable from any thread, one at a time.

    Raises:
        sqlite3.Error: it cannot be opened, or is something else.
    """
    return open_database(path, application=_APPLICATION, schema=SCHEMA + _BOOKS, wait=WAIT, make=make)


def insert(db: sqlite3.Connection, table: str, rows: Sequence[Sequence[Any]]) -> None:
    """Append rows, each with all columns of ``table`` in order, in the transaction that is open."""
    columns = COLUMNS[table]
    one = f"({', '.join('?' * len(columns))})"
    begin = 0
    while begin < len(rows):
        # Powers of two, so that a handful of statements is compiled once and serves every number of rows.
        size = min(_BATCH, 1 << ((len(rows) - begin).bit_length() - 1))
        values = [value for row in rows[begin : begin + size] for value in row]
        db.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([one] * size)}", values)
        begin += size
