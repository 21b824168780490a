"""What SQLite's and the system's errors about a file mean to the user."""

import errno
import sqlite3
from pathlib import Path

from components.core.errors import JudgeError

DURING = (sqlite3.Error, OSError, OverflowError, UnicodeError)
"""What reading or writing a ledger can raise; the last two for a value that SQLite has no place for."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_DENIED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class ForeignError(sqlite3.DatabaseError):
    """The file is a database, and not of the kind that was to be opened."""


def ledger_error(verb: str, path: Path, error: Exception) -> JudgeError:
    """The error for a ledger that cannot be ``verb``: ``opened``, ``read`` or ``written``."""
    return JudgeError(f"the verdict ledger cannot be {verb}: {error}", where=str(path), remedy=_remedy(error, path))


def _remedy(error: Exception, path: Path) -> str:
    kind = _kind(error)
    if kind == "full":
        return "free the disk, or raise the limit on file sizes; then run again, what was judged is kept"
    if kind == "denied":
        return f"make the file and its folder {path.parent} writable for this user"
    if kind == "busy":
        return "end the process that holds the file; then run again, what was judged is kept"
    if kind == "foreign":
        return "name the right file; if this one is in a ledger's place, move it away and a new one is made"
    if kind == "damaged":
        return (
            f"save what is left with: sqlite3 {path.name} .recover; then move the file away and run again "
            "(segments that a step has shipped are in the store)"
        )
    return "see that the disk is well and has room; then run again, what was judged is kept"


def _kind(error: Exception) -> str:
    if isinstance(error, OSError):
        return "full" if error.errno in _FULL else "denied" if error.errno in _DENIED else ""
    if isinstance(error, ForeignError):
        return "foreign"
    # The extended code bears the kind of failure in its lowest byte.
    code = getattr(error, "sqlite_errorcode", None)
    kinds = {
        sqlite3.SQLITE_FULL: "full",
        sqlite3.SQLITE_READONLY: "denied",
        sqlite3.SQLITE_CANTOPEN: "denied",
        sqlite3.SQLITE_PERM: "denied",
        sqlite3.SQLITE_BUSY: "busy",
        sqlite3.SQLITE_LOCKED: "busy",
        sqlite3.SQLITE_NOTADB: "foreign",
        sqlite3.SQLITE_CORRUPT: "damaged",
    }
    # A write beyond the limit on file sizes reaches us as a failure of the disk.
    full = code == sqlite3.SQLITE_IOERR_WRITE
    return "full" if full else kinds.get(code & 0xFF, "") if isinstance(code, int) else ""
