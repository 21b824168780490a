"""A persistent cache of whole replies, shared by the processes of one host."""

import dataclasses
import hashlib
import logging
import sqlite3
import threading
from pathlib import Path
from typing import Self

from components.judge.memory import background
from components.judge.memory.database import open_database
from components.judge.memory.present import Present

log = logging.getLogger(__name__)

_APPLICATION = 0x4756_4352
"""Marks a SQLite file as a cache of replies."""

_READ_WAIT = 0.5
"""Seconds that a caller waits for a locked file; the file is given up after it."""

_WRITE_WAIT = 10.0
"""Seconds that the writer in the background waits for another one."""

_SCHEMA = "CREATE TABLE IF NOT EXISTS replies (key BLOB PRIMARY KEY, mark BLOB NOT NULL, body BLOB NOT NULL)"

_BATCH = 64
"""Replies of one statement; see :mod:`components.judge.memory.tables` on why."""


@dataclasses.dataclass(frozen=True, slots=True)
class CacheKey:
    """What a reply depends on, as 32 bytes."""

    digest: bytes

    @classmethod
    def of(cls, *, judge: str, protocol: str, body: bytes, sampling: str = "") -> Self:
        """The key of one call.

        Args:
            judge: identity of the judge: name, model and whatever else decides its replies; not its address.
            protocol: name and version hash of the protocol.
            body: the whole request body in a canonical form (sorted keys), without credentials.
            sampling: identity of the sampling beyond the body, such as the number of a repetition.
        """
        return cls(KeyMaker(judge, protocol, sampling)(body).digest)


class KeyMaker:
    """The keys of many calls that differ in their bodies; see :meth:`CacheKey.of`."""

    def __init__(self, judge: str, protocol: str, sampling: str = "") -> None:
        self._begun = hashlib.sha256()
        for part in (judge.encode(), protocol.encode(), sampling.encode()):
            self._begun.update(len(part).to_bytes(8, "big") + part)

    def __call__(self, body: bytes) -> CacheKey:
        """The key of the call with that body."""
        digest = self._begun.copy()
        digest.update(len(body).to_bytes(8, "big"))
        digest.update(body)
        return CacheKey(digest.digest())


class Cache:
    """Whole good replies by key. A broken or locked file means no cache and one warning, never a failure.

    Replies are written in the background, some at a time; those of the last moment before a ``kill -9`` are lost, and
    asked for again. Each bears a mark of key and body, so that a damaged one is no reply.

    Args:
        path: the file, on a local disk; made if missing.
        limit: bytes that the file may take, about; the oldest replies leave first.
    """

    def __init__(self, path: Path, *, limit: int = 2 << 30) -> None:
        self.path = path
        self.limit = limit
        self.hits = 0
        self.misses = 0
        # What is to be written; None for a reply that is to go.
        self._pending: dict[bytes, bytes | None] = {}
        self._changed = threading.Condition()
        self._reading = threading.Lock()
        self._writer = background.Writer("cache", self._changed, lambda: len(self._pending), self._try_write)
        self._given_up = False
        self._present = Present(path, "replies", "key")
        self._reads: sqlite3.Connection | None = None
        self._writes: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writes = _connect(path, _WRITE_WAIT)
            self._reads = _connect(path, _READ_WAIT)
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)

    @property
    def working(self) -> bool:
        """Whether replies are kept; False once the file was found broken or locked."""
        return self._reads is not None

    def get(self, key: CacheKey) -> bytes | None:
        """The body of the reply, exactly as it was put; None when it is not there."""
        with self._changed:
            waiting = key.digest in self._pending
            body = self._pending.get(key.digest)
        if not waiting and self._reads is not None:
            body = self._read(key.digest)
        if body is None:
            self.misses += 1
        else:
            self.hits += 1
        return body

    def put(self, key: CacheKey, body: bytes) -> None:
        """Keep the body of a reply of status 200 that came whole. Never a failure's."""
        self._wait(key, body)

    def remove(self, key: CacheKey) -> None:
        """Forget a reply, also one that is not written yet, so that the question is asked again."""
        self._wait(key, None)

    def close(self) -> None:
        """Write what is pending and close; twice is harmless."""
        self._writer.stop()
        if self._pending:
            self._try_write()
        with self._reading:
            for db in (self._reads, self._writes):
                if db is not None:
                    db.close()
            self._reads = self._writes = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait(self, key: CacheKey, body: bytes | None) -> None:
        if self._reads is None:
            return
        with self._changed:
            self._pending[key.digest] = body
            self._writer.added()

    def _read(self, digest: bytes) -> bytes | None:
        try:
            with self._reading:
                if self._reads is None or not self._present.may_have(self._reads, digest):
                    return None
                # All rows are fetched, or the open read would keep the log from being taken over.
                found = self._reads.execute("SELECT mark, body FROM replies WHERE key = ?", (digest,)).fetchall()
        except sqlite3.Error as error:
            self._give_up(error)
            return None
        if not found:
            return None
        ((mark, body),) = found
        whole = isinstance(body, bytes) and mark == _mark(digest, body)
        return body if whole else None

    def _try_write(self) -> bool:
        with self._changed:
            batch = dict(self._pending)
        db = self._writes
        if db is not None:
            try:
                self._write(db, batch)
            except sqlite3.Error as error:
                self._give_up(error)
        with self._changed:
            for digest, body in batch.items():
                # Until now get() found it here; what was put again meanwhile stays.
                if digest in self._pending and self._pending[digest] is body:
                    del self._pending[digest]
        return True

    def _write(self, db: sqlite3.Connection, batch: dict[bytes, bytes | None]) -> None:
        items = [(digest, body) for digest, body in batch.items() if body is not None]
        gone = [(digest,) for digest, body in batch.items() if body is None]
        db.execute("BEGIN IMMEDIATE")
        try:
            if gone:
                db.executemany("DELETE FROM replies WHERE key = ?", gone)
            for begin in range(0, len(items), _BATCH):
                part = items[begin : begin + _BATCH]
                values = [value for digest, body in part for value in (digest, _mark(digest, body), body)]
                db.execute(f"INSERT OR REPLACE INTO replies VALUES {', '.join(['(?, ?, ?)'] * len(part))}", values)
            self._evict(db)
            db.execute("COMMIT")
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")

    def _evict(self, db: sqlite3.Connection) -> None:
        """Let the oldest replies go until a tenth of the limit is free. Their pages are used again."""
        if _bytes(db) <= self.limit:
            return
        while _bytes(db) > 0.9 * self.limit:
            ((first, last),) = db.execute("SELECT MIN(rowid), MAX(rowid) FROM replies").fetchall()
            if first is None:
                return
            db.execute("DELETE FROM replies WHERE rowid <= ?", (first + (last - first) // 20,))

    def _give_up(self, error: Exception) -> None:
        with self._reading:
            first, self._given_up = not self._given_up, True
            self._reads = self._writes = None
        if first:
            log.warning("the cache of replies is not used any more, every call is made: %s: %s", self.path, error)


def _connect(path: Path, wait: float) -> sqlite3.Connection:
    return open_database(path, application=_APPLICATION, schema=(_SCHEMA,), wait=wait)


def _mark(digest: bytes, body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=8, key=digest).digest()


def _bytes(db: sqlite3.Connection) -> int:
    pages, free, size = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)
