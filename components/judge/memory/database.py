"""Opening a SQLite file of ours, by many processes at once, and never somebody else's."""

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

from components.judge.memory.trouble import ForeignError


def open_database(
    path: Path, *, application: int, schema: Sequence[str], wait: float, make: bool = True
) -> sqlite3.Connection:
    """Open or make a database in WAL mode, for use from any thread, one at a time.

    Args:
        path: the file.
        application: number that marks our files of this kind.
        schema: statements that make what is missing; they run once, when the file is made.
        wait: seconds to wait for other processes, here and in later statements.
        make: whether an empty or missing file becomes a database.

    Raises:
        sqlite3.Error: it cannot be opened, or is something else (:class:`ForeignError`).
    """
    deadline = time.monotonic() + wait
    while True:
        db = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
        try:
            _prepare(db, application, schema, make)
            return db
        except sqlite3.OperationalError as error:
            db.close()
            # Changing the journal's mode fails at once where another process is doing the same.
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        except BaseException:
            db.close()
            raise


def _prepare(db: sqlite3.Connection, application: int, schema: Sequence[str], make: bool) -> None:
    if not _ours(db, application):
        if not make:
            raise ForeignError("the file is empty")
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("BEGIN IMMEDIATE")
        if not _ours(db, application):
            for statement in schema:
                db.execute(statement)
            db.execute(f"PRAGMA application_id={application}")
        db.execute("COMMIT")
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("PRAGMA journal_size_limit=67108864")


def _ours(db: sqlite3.Connection, application: int) -> bool:
    """Whether the file bears our mark; False when it is to be made."""
    mark, others = db.execute(
        "SELECT application_id, (SELECT GROUP_CONCAT(name, char(10)) FROM sqlite_master WHERE type = 'table') "
        "FROM pragma_application_id"
    ).fetchone()
    if mark == application:
        return True
    if mark != 0 or others:
        # The lowest byte counts versions.
        other = mark >> 8 == application >> 8
        raise ForeignError("another version of Gavel made it" if other else "it is a database of something else")
    return False
