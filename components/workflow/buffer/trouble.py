"""What errors about the buffer's file mean to the user."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from components.core.errors import StorageError

RESTORE = (
    "move it away and run again: a training then starts from the copy in its newest checkpoint, if there is one "
    "(checkpoints/global_step_N/work in the step's folder of the store)"
)


class ForeignFileError(sqlite3.DatabaseError):
    """The file is a database, and none of ours."""


@contextmanager
def translated(path: Path, verb: str) -> Iterator[None]:
    """Turn SQLite's errors about ``path`` into StorageError. ``verb``: read, written or opened."""
    try:
        yield
    except (sqlite3.Error, OSError, OverflowError, UnicodeError) as error:
        raise StorageError(
            f"the experience buffer cannot be {verb}: {error}", where=str(path), remedy=_remedy(error, path)
        ) from error


def damaged(path: Path, what: str) -> StorageError:
    """The error for a file whose content is not what was written."""
    return StorageError(f"the experience buffer is damaged: {what}", where=str(path), remedy=RESTORE)


def _remedy(error: Exception, path: Path) -> str:
    if isinstance(error, ForeignFileError):
        return "name the right file; if this one is in a buffer's place, move it away"
    # The extended code bears the kind of failure in its lowest byte.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return RESTORE
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "end the process that holds the file, and run again; what was kept stays"
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return f"make the file and its folder {path.parent} writable for this user"
    return "see that the disk is well and has room, and run again; what was kept stays"
