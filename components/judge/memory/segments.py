"""The ledger in a store: parquet segments, each named by its ledger, its rows and its content.

    <prefix>/<ledger id>/<table>-<first row>-<last row>-<12 hex of its SHA-256>.parquet

What is shipped is told from these names alone, so that no mark can disagree with the store. Two processes that ship at
once, or one that was killed, can leave rows in two segments; every row bears its ledger's id and its number there, and
joining takes each once.
"""

import dataclasses
import hashlib
import io
import re
import sqlite3
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.contracts import CALLS, VERDICTS
from components.core.errors import ContractError, StorageError
from components.core.store import Store
from components.core.store.keys import join as join_keys
from components.judge.memory import tables
from components.judge.memory.ledger import Ledger

SEGMENT_ROWS = 100_000
"""Rows of one segment at most."""

_NAME = re.compile(
    r"(?:(?:^|/)(?P<ledger>[0-9a-f]{16})/|^)"
    r"(?P<table>verdicts|calls|failures)-(?P<first>\d+)-(?P<last>\d+)-(?P<digest>[0-9a-f]{12})\.parquet$"
)
"""Of a key. One without the ledger's id lies directly in the store's folder, which then is one ledger's."""


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Segment:
    """What a segment's name says.

    Attributes:
        table: of the ledger.
        ledger: its id; "" when the store's folder is one ledger's.
        first, last: numbers of its rows in the ledger.
        digest: first hexadecimal digits of the SHA-256 of its content.
        key: in the store.
    """

    table: str
    ledger: str
    first: int
    last: int
    digest: str
    key: str


SCHEMAS: dict[str, pa.Schema] = {
    "verdicts": VERDICTS,
    "calls": CALLS,
    "failures": pa.schema(
        [
            pa.field("raw_id", pa.string()),
            pa.field("sample_id", pa.string(), nullable=False),
            pa.field("detail", pa.string(), nullable=False),
            pa.field("body", pa.binary()),
            pa.field("time", pa.float64(), nullable=False),
        ]
    ),
}
"""Columns of a table's rows; a segment has ``ledger`` and ``number`` before them."""


def ship(ledger: Ledger, store: Store, prefix: str) -> list[str]:
    """Write the rows that the store does not have yet; returns the keys of the new segments.

    Raises:
        JudgeError: the ledger cannot be read.
        StorageError: the store does not take them; what is there stays, and the next call goes on.
    """
    folder = join_keys(prefix, ledger.id)
    shipped = dict.fromkeys(tables.COLUMNS, 0)
    for each in found(store, folder):
        shipped[each.table] = max(shipped[each.table], each.last)
    written = []
    for table, columns in tables.COLUMNS.items():
        while rows := ledger.select(
            f"SELECT rowid, {', '.join(columns)} FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT ?",
            (shipped[table], SEGMENT_ROWS),
        ):
            data = _segment(ledger.id, table, rows)
            digest = hashlib.sha256(data).hexdigest()[:12]
            key = f"{folder}/{table}-{rows[0][0]:012d}-{rows[-1][0]:012d}-{digest}.parquet"
            store.write_bytes(key, data)
            written.append(key)
            shipped[table] = rows[-1][0]
    return written


def found(store: Store, prefix: str = "") -> list[Segment]:
    """The segments below ``prefix``, those of one table and ledger in the order of their first rows."""
    names = [(name, entry.key) for entry in store.list(prefix) if (name := _NAME.search(entry.key)) is not None]
    return sorted(
        Segment(name["table"], name["ledger"] or "", int(name["first"]), int(name["last"]), name["digest"], key)
        for name, key in names
    )


def join(store: Store, prefix: str = "") -> sqlite3.Connection:
    """All segments below ``prefix``, of any number of ledgers, as one database in memory, each row once.

    It has the tables of a ledger; :func:`columns` and :mod:`components.judge.memory.totals` read both alike.

    Raises:
        ContractError: a segment is damaged, or one between others is missing.
        StorageError: the store cannot be read, or has no segment there.
    """
    segments = found(store, prefix)
    if not segments:
        raise StorageError("there is no segment of a ledger", where=store.uri(prefix))
    db = sqlite3.connect(":memory:", isolation_level=None)
    for statement in tables.SCHEMA:
        db.execute(statement)
    taken: dict[tuple[str, str], int] = {}
    db.execute("BEGIN")
    for each in segments:
        before = taken.get((each.table, each.ledger), 0)
        # Segments of one ledger can overlap; in this order none goes back behind another's first row.
        if each.first > before + 1:
            raise ContractError(
                f"rows {before + 1} to {each.first - 1} of the table {each.table} are in no segment",
                where=store.uri(each.key),
                remedy="fetch the missing segment again; totals without it would be too low",
            )
        rows = _rows(each, store.read_bytes(each.key), store.uri(each.key))
        tables.insert(db, each.table, [row for number, *row in rows if number > before])
        taken[each.table, each.ledger] = max(before, each.last)
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


def _rows(segment: Segment, data: bytes, where: str) -> Iterator[tuple[Any, ...]]:
    """(number, columns ...) of each row."""
    if hashlib.sha256(data).hexdigest()[:12] != segment.digest:
        raise ContractError("the segment's content is not that of its name", where=where, remedy="fetch it again")
    try:
        read = pq.read_table(io.BytesIO(data))
    except (pa.ArrowInvalid, OSError) as error:
        raise ContractError(f"no segment of a ledger: {error}", where=where) from error
    columns: list[list[Any]] = []
    for field in (pa.field("number", pa.int64(), nullable=False), *SCHEMAS[segment.table]):
        if field.name in read.column_names:
            columns.append(read.column(field.name).to_pylist())
        elif field.nullable:
            # Written before there was this column.
            columns.append([None] * read.num_rows)
        else:
            raise ContractError(f"the segment has no column {field.name!r}", where=where)
    return zip(*columns, strict=True)
