"""Which keys a table has, so that most questions about keys that it lacks need no statement."""

import sqlite3
from pathlib import Path
from typing import Final

_MOST: Final = 100_000
"""Keys that are remembered; of a table with more, nothing is."""

_AGAIN: Final = 256
"""Numbers of rows that are looked at once more, for those of removed rows are given out again."""


class Present:
    """The keys of a table that any process may add to.

    Every commit changes the write-ahead log; as long as it did not change, neither did the keys. One that another
    process adds within the tick of the file system's clock in which we looked may be missed until the next commit.

    Args:
        path: the database, in WAL mode.
        table: its table.
        column: the column of the keys.
    """

    def __init__(self, path: Path, table: str, column: str) -> None:
        self._log = path.with_name(f"{path.name}-wal")
        self._query = f"SELECT rowid, {column} FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT {_MOST}"
        self._seen: tuple[int, int] | None = None
        self._keys: set[bytes] = set()
        self._last = 0
        self._few = True

    def may_have(self, db: sqlite3.Connection, key: bytes) -> bool:
        """Whether the table may have the key; False only where it has none such.

        Raises:
            sqlite3.Error: the table cannot be read.
        """
        if key in self._keys or not self._few:
            return True
        return self._look(db) and (key in self._keys or not self._few)

    def _look(self, db: sqlite3.Connection) -> bool:
        """Take up what is new; returns whether anything may be."""
        now = _state(self._log)
        if now is not None and now == self._seen:
            return False
        self._seen = now
        found = db.execute(self._query, (self._last - _AGAIN,)).fetchall()
        if found:
            self._last = max(self._last, found[-1][0])
            self._keys.update(key for _, key in found)
        if len(self._keys) >= _MOST:
            self._few, self._keys = False, set()
        return True


def _state(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
