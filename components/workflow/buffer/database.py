"""The buffer's file: SQLite with a rollback journal, for several processes, also where they share a network disk.

No write-ahead log: readers on other machines could not see it. Whatever a call has returned from is on the disk; a
process that is killed in the middle of a transaction leaves a journal, by which the next one undoes it.
"""

import dataclasses
import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from components.core.identity import canonical_json
from components.workflow.buffer.entry import Entry, Vector
from components.workflow.buffer.trouble import ForeignFileError, damaged, translated

FILE = "buffer.sqlite"
"""In a training's work folder, and in its checkpoints."""
WAIT = 60.0
"""Seconds that a process waits for another one."""
_APPLICATION = 0x4756_4231
"""Marks a SQLite file as a buffer of this layout; the lowest byte counts layouts."""
_COLUMNS = (
    *("problem_id", "problem_hash", "domain", "dataset", "problem", "workflow", "workflow_hash"),
    *("reward", "parts", "judge", "executor", "step", "time"),
)
_ORDER = ("-reward", "step", "workflow_hash", "problem_hash", "problem_id")
"""The best first, and of equals the earlier; never by the order in which they came, which differs between runs."""
_LAST = 2**62
_AT_ONCE = 500
"""Values in one statement."""
_SCHEMA = (
    """CREATE TABLE entries (
    number INTEGER PRIMARY KEY, problem_id TEXT NOT NULL, problem_hash TEXT NOT NULL, domain TEXT NOT NULL,
    dataset TEXT NOT NULL, problem TEXT NOT NULL, workflow TEXT NOT NULL, workflow_hash TEXT NOT NULL,
    reward REAL NOT NULL, parts TEXT NOT NULL, judge TEXT NOT NULL, executor TEXT NOT NULL, step INTEGER NOT NULL,
    time REAL NOT NULL, mark BLOB NOT NULL)""",
    f"CREATE INDEX ranked ON entries (domain, {', '.join(_ORDER)})",
    """CREATE TABLE vectors (
    encoder TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL, mark BLOB NOT NULL,
    PRIMARY KEY (encoder, text_hash)) WITHOUT ROWID""",
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
)


class Rank(NamedTuple):
    """What an entry's place is decided by, beside its order.

    Attributes:
        number: of the entry in the file.
        workflow_hash: see :class:`Entry`.
        problem_hash: see :class:`Entry`.
        problem_id: see :class:`Entry`.
    """

    number: int
    workflow_hash: str
    problem_hash: str
    problem_id: str


class Database:
    """Entries, vectors of problems, and what the buffer was opened with. From any thread, one at a time.

    Args:
        path: the file.
        write: whether a missing file is made, and anything may be written.

    Raises:
        StorageError: from every method: it cannot be opened, read or written, is damaged, or is something else.
    """

    def __init__(self, path: Path, *, write: bool = True) -> None:
        self.path = path
        self._lock = threading.RLock()
        with translated(path, "opened"):
            self._db = _open(path, write)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction, whole or not at all; other writers wait."""
        with self._lock, translated(self.path, "written"):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def ranked(self, domain: str, *, before: int | None = None) -> list[Rank]:
        """Entries of a domain, the best first.

        Args:
            domain: of the entries.
            before: only those of earlier steps.
        """
        return self._ranks("domain = ? AND step < ?", (domain, _LAST if before is None else before))

    def outranking(self, entry: Entry) -> list[Rank]:
        """Entries of its domain and of no later step that come before ``entry``, or are the same one."""
        key = (-entry.reward, entry.step, entry.workflow_hash, entry.problem_hash, entry.problem_id)
        return self._ranks(
            f"domain = ? AND step <= ? AND ({', '.join(_ORDER)}) <= (?, ?, ?, ?, ?)", (entry.domain, entry.step, *key)
        )

    def entries(self, ranks: Sequence[Rank]) -> list[Entry]:
        """The entries themselves, without vectors; those that are gone by now are left out."""
        query = f"SELECT number, mark, {', '.join(_COLUMNS)} FROM entries WHERE number IN "
        found = {row[0]: self._entry(*row) for row in self._by_some(query, [rank.number for rank in ranks])}
        return [found[rank.number] for rank in ranks if rank.number in found]

    def _ranks(self, where: str, values: Sequence[Any]) -> list[Rank]:
        # All of it is in the index: thousands of texts stay unread.
        query = f"SELECT {', '.join(Rank._fields)} FROM entries WHERE {where} ORDER BY {', '.join(_ORDER)}, number"
        with self._lock, translated(self.path, "read"):
            return [Rank(*row) for row in self._db.execute(query, values)]

    def _by_some(self, query: str, keys: Sequence[Any], *first: Any) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        with self._lock, translated(self.path, "read"):
            for begin in range(0, len(keys), _AT_ONCE):
                some = keys[begin : begin + _AT_ONCE]
                rows += self._db.execute(f"{query} ({', '.join('?' * len(some))})", (*first, *some)).fetchall()
        return rows

    def _entry(self, number: int, mark: bytes, *values: Any) -> Entry:
        if mark != _mark(*values):
            raise damaged(self.path, f"entry {number} (problem {values[0]!r}) is not what was written")
        found = dict(zip(_COLUMNS, values, strict=True))
        return Entry(**{**found, "parts": json.loads(found["parts"])})

    def add(self, entry: Entry) -> None:
        """Write an entry; its vector is written by :meth:`keep_vector`."""
        parts = canonical_json(dict(entry.parts), ascii=False)
        # Numbers as SQLite gives them back.
        given = {**dataclasses.asdict(entry), "parts": parts, "reward": float(entry.reward), "time": float(entry.time)}
        values = [given[name] for name in _COLUMNS]
        marks = ", ".join("?" * (len(_COLUMNS) + 1))
        with self._lock, translated(self.path, "written"):
            self._db.execute(
                f"INSERT INTO entries ({', '.join(_COLUMNS)}, mark) VALUES ({marks})", (*values, _mark(*values))
            )

    def forget_after(self, step: int) -> int:
        """Remove the entries of later steps; how many they were."""
        with self.writing():
            return self._db.execute("DELETE FROM entries WHERE step > ?", (step,)).rowcount

    def vectors(self, encoder: str, texts: Sequence[str]) -> dict[str, Vector]:
        """Those that are kept, by text.

        Args:
            encoder: version of the embedder.
            texts: of the problems.
        """
        by_hash = {_text_hash(text): text for text in texts}
        query = "SELECT text_hash, vector, mark FROM vectors WHERE encoder = ? AND text_hash IN"
        found: dict[str, Vector] = {}
        for hashed, vector, mark in self._by_some(query, list(by_hash), encoder):
            if mark != _mark(encoder, hashed, vector):
                what = f"the vector of the problem {by_hash[hashed][:40]!r} is not what was written"
                raise damaged(self.path, what)
            found[by_hash[hashed]] = np.frombuffer(vector, "<f4").astype(np.float32)
        return found

    def keep_vector(self, encoder: str, text: str, vector: Vector) -> None:
        """Keep a vector, unless there is one: the first one counts for all processes."""
        hashed, data = _text_hash(text), vector.astype("<f4").tobytes()
        row = (encoder, hashed, data, _mark(encoder, hashed, data))
        with self._lock, translated(self.path, "written"):
            self._db.execute("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?, ?)", row)

    def about(self) -> dict[str, Any]:
        """What the buffer was last opened with, as JSON."""
        with self._lock, translated(self.path, "read"):
            return {name: json.loads(value) for name, value in self._db.execute("SELECT name, value FROM about")}

    def describe(self, settings: Mapping[str, Any]) -> None:
        """Write what the buffer is opened with, where it has changed."""
        if self.about() == json.loads(json.dumps(dict(settings))):
            return
        with self.writing():
            self._db.execute("DELETE FROM about")
            rows = [(name, canonical_json(value)) for name, value in settings.items()]
            self._db.executemany("INSERT INTO about VALUES (?, ?)", rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _text_hash(text: str) -> str:
    """Of the very text; a problem's own hash is the same for texts that differ in white space."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _mark(*values: Any) -> bytes:
    """Tells what was written from what a damaged disk gives back."""
    digest = hashlib.blake2b(digest_size=16)
    for value in values:
        data = value if isinstance(value, bytes) else repr(value).encode("utf-8", "backslashreplace")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


def _open(path: Path, write: bool) -> sqlite3.Connection:
    mode = "rwc" if write else "ro"
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=WAIT, isolation_level=None, check_same_thread=False
    )
    try:
        db.execute("PRAGMA synchronous=FULL")
        if not _ours(db):
            if not write:
                raise ForeignFileError("the file is empty")
            _make(db)
        (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise damaged(path, str(found).replace("\n", " "))
    except BaseException:
        db.close()
        raise
    return db


def _make(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    # Another process may have been first.
    if not _ours(db):
        for statement in _SCHEMA:
            db.execute(statement)
        db.execute(f"PRAGMA application_id={_APPLICATION}")
    db.execute("COMMIT")


def _ours(db: sqlite3.Connection) -> bool:
    """Whether the file bears our mark; False when it is to be made."""
    (mark,) = db.execute("PRAGMA application_id").fetchone()
    if mark == _APPLICATION:
        return True
    (tables,) = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    if mark or tables:
        other = mark >> 8 == _APPLICATION >> 8
        raise ForeignFileError("another version of Gavel made it" if other else "it is a database of something else")
    return False
