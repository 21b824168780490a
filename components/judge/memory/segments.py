"""The ledger in a store: parquet segments, each named by its ledger, its rows and its content.

    <prefix>/<ledger id>/<table>-<first row>-<last row>-<12 hex of its SHA-256>.parquet

What is shipped is told from these names alone, so that no mark can disagree with the store. Two processes that ship at
once, or one that was killed, can leave rows in two segments; every row bears its ledger's id and its number there, and
joining takes each once.
"""

import hashlib
import io
import re
import sqlite3
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.contracts.schemas import VERDICTS
from components.core.errors import ContractError, StorageError
from components.core.store import Store
from components.judge.memory import tables
from components.judge.memory.ledger import Ledger

SEGMENT_ROWS = 100_000
"""Rows of one segment at most."""

_NAME = re.compile(r"(?:^|/)([0-9a-f]+)/(verdicts|calls|failures)-(\d+)-(\d+)-([0-9a-f]{12})\.parquet$")


def _fields(*columns: tuple[str, pa.DataType, bool]) -> pa.Schema:
    return pa.schema([pa.field(name, kind, nullable=nullable) for name, kind, nullable in columns])


SCHEMAS: dict[str, pa.Schema] = {
    "verdicts": VERDICTS,
    "calls": _fields(
        ("time", pa.float64(), False),
        ("judge", pa.string(), False),
        ("protocol", pa.string(), False),
        ("purpose", pa.string(), False),
        ("prompt_hash", pa.string(), False),
        ("attempts", pa.int32(), False),
        ("seconds", pa.float64(), False),
        ("key", pa.int32(), True),
        ("endpoint", pa.int32(), True),
        ("prompt_tokens", pa.int64(), False),
        ("completion_tokens", pa.int64(), False),
        ("cached_tokens", pa.int64(), False),
        ("cost", pa.float64(), True),
        ("currency", pa.string(), True),
        ("finish", pa.string(), True),
        ("reason", pa.string(), True),
        ("from_cache", pa.bool_(), False),
        ("reply_chars", pa.int64(), False),
        ("raw_id", pa.string(), True),
        ("sample_id", pa.string(), True),
        ("response_chars", pa.int64(), True),
    ),
    "failures": _fields(
        ("raw_id", pa.string(), True),
        ("sample_id", pa.string(), False),
        ("detail", pa.string(), False),
        ("body", pa.binary(), True),
        ("time", pa.float64(), False),
    ),
}
"""Columns of a table's rows; a segment has ``ledger`` and ``number`` before them."""


def ship(ledger: Ledger, store: Store, prefix: str) -> list[str]:
    """Write the rows that the store does not have yet; returns the keys of the new segments.

    Raises:
        JudgeError: the ledger cannot be read.
        StorageError: the store does not take them; what is there stays, and the next call goes on.
    """
    folder = f"{prefix.strip('/')}/{ledger.id}" if prefix.strip("/") else ledger.id
    shipped = dict.fromkeys(tables.COLUMNS, 0)
    for entry in store.list(folder):
        if (name := _NAME.search(entry.key)) is not None:
            shipped[name[2]] = max(shipped[name[2]], int(name[4]))
    written = []
    for table, columns in tables.COLUMNS.items():
        while rows := ledger.select(
            f"SELECT rowid, {', '.join(columns)} FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT ?",
            (shipped[table], SEGMENT_ROWS),
        ):
            data = _segment(ledger.id, table, rows)
            name12 = hashlib.sha256(data).hexdigest()[:12]
            key = f"{folder}/{table}-{rows[0][0]:012d}-{rows[-1][0]:012d}-{name12}.parquet"
            store.write_bytes(key, data)
            written.append(key)
            shipped[table] = rows[-1][0]
    return written


def join(store: Store, prefix: str = "") -> sqlite3.Connection:
    """All segments below ``prefix``, of any number of ledgers, as one database in memory, each row once.

    It has the tables of a ledger; :func:`columns` and :mod:`components.judge.memory.totals` read both alike.

    Raises:
        ContractError: a segment is damaged.
        StorageError: the store cannot be read, or has no segment there.
    """
    db = sqlite3.connect(":memory:", isolation_level=None)
    for statement in tables.SCHEMA:
        db.execute(statement)
    found = [(name, entry.key) for entry in store.list(prefix) if (name := _NAME.search(entry.key)) is not None]
    if not found:
        raise StorageError("there is no segment of a ledger", where=store.uri(prefix))
    # In the order of their first rows, segments of one ledger can overlap, and none goes back behind another's first.
    found.sort(key=lambda each: (each[0][2], each[0][1], int(each[0][3]), int(each[0][4])))
    taken: dict[tuple[str, str], int] = {}
    db.execute("BEGIN")
    for name, key in found:
        table, mine = name[2], (name[2], name[1])
        rows = _rows(table, store.read_bytes(key), name[5], store.uri(key))
        tables.insert(db, table, [row for number, *row in rows if number > taken.get(mine, 0)])
        taken[mine] = max(taken.get(mine, 0), int(name[4]))
    db.execute("COMMIT")
    return db


def columns(db: sqlite3.Connection, table: str) -> pa.Table:
    """One table of a ledger or a join, under its schema, in the order of its rows."""
    names = tables.COLUMNS[table]
    rows = db.execute(f"SELECT {', '.join(names)} FROM {table} ORDER BY rowid").fetchall()
    return to_table(table, rows)


def to_table(table: str, rows: list[Any]) -> pa.Table:
    """Rows of the database as an arrow table under the schema of ``table``."""
    schema = SCHEMAS[table]
    arrays = []
    for index, field in enumerate(schema):
        # SQLite keeps a truth value as 0 or 1.
        kind = pa.int8() if pa.types.is_boolean(field.type) else field.type
        arrays.append(pa.array([row[index] for row in rows], kind).cast(field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def _segment(ledger: str, table: str, rows: list[Any]) -> bytes:
    whole = to_table(table, [row[1:] for row in rows])
    whole = whole.add_column(0, "ledger", pa.array([ledger] * len(rows), pa.string()))
    whole = whole.add_column(1, "number", pa.array([row[0] for row in rows], pa.int64()))
    sink = io.BytesIO()
    pq.write_table(whole, sink, compression="zstd")
    return sink.getvalue()


def _rows(table: str, data: bytes, digest: str, where: str) -> Iterator[tuple[Any, ...]]:
    """(number, columns ...) of each row."""
    if hashlib.sha256(data).hexdigest()[:12] != digest:
        raise ContractError("the segment's content is not that of its name", where=where, remedy="fetch it again")
    try:
        read = pq.read_table(io.BytesIO(data)).select(["number", *tables.COLUMNS[table]])
    except (pa.ArrowInvalid, KeyError) as error:
        raise ContractError(f"no segment of a ledger of this version: {error}", where=where) from error
    return zip(*(column.to_pylist() for column in read.columns), strict=True)
