"""Opening a SQLite file of ours, by many processes at once, and never somebody else's."""

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path


def open_database(path: Path, *, application: int, schema: Sequence[str], wait: float) -> sqlite3.Connection:
    """Open or make a database in WAL mode, for use from any thread, one at a time.

    Args:
        path: the file.
        application: number that marks our files of this kind.
        schema: statements that make what is missing; they run once, when the file is made.
        wait: seconds to wait for other processes, here and in later statements.

    Raises:
        sqlite3.Error: it cannot be opened, or is something else.
    """
    deadline = time.monotonic() + wait
    while True:
        db = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
        try:
            _prepare(db, application, schema)
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


def _prepare(db: sqlite3.Connection, application: int, schema: Sequence[str]) -> None:
    if not _ours(db, application):
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
        raise sqlite3.DatabaseError("it is a database of something else")
    return False
