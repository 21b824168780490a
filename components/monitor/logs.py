"""Reading a training's logs while it writes them.

They are SQLite files in WAL mode. Each look is one short transaction of a connection that may not write: a reader of
such a file never keeps its writer waiting, and one that is gone at once does not keep the journal from being emptied.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from components.workflow.log_name import NAME

ROLLOUTS: Final = "rollouts.sqlite"
_WAIT = 1.0
"""Seconds for a lock, which there is only while a journal is taken over after a kill."""
_ROLLOUTS: Final = (
    "step",
    "row_id",
    "sample_id",
    "sample_index",
    "response_tokens",
    "finished",
    "status",
    "reward",
    "reason",
    "parts",
    "attempt",
)
"""Without the texts, which may be large."""
_WORKFLOWS: Final = (
    "sample_id",
    "domain",
    "dataset",
    "source",
    "status",
    "reason",
    "right",
    "calls",
    "tokens",
    "seconds",
    "money",
    "trace",
)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write.

    Where even the files that SQLite needs for reading cannot be made beside the log, a copy is read.

    Raises:
        sqlite3.Error: it cannot be read.
    """
    try:
        connection = _connect(path)
    except sqlite3.OperationalError:
        with tempfile.TemporaryDirectory(prefix="gavel-monitor-") as folder:
            for part in path.parent.glob(f"{path.name}*"):
                if part.name in (path.name, f"{path.name}-wal"):
                    shutil.copyfile(part, Path(folder, part.name))
            with closing(_connect(Path(folder, path.name))) as copy:
                yield copy
        return
    with closing(connection):
        yield connection


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_WAIT)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


class Growing:
    """The rows of one table that only grows, each read once.

    A row that takes another's place is a new one, and the table may have both here, the newer one later.

    Args:
        path: the database, which need not be there yet.
        columns: that are wanted; the table is the first one that has them all.
    """

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._path, self._columns = path, tuple(columns)
        self._file: tuple[int, int] | None = None
        self._last = 0
        self._rows: list[dict[str, Any]] = []

    def read(self) -> list[dict[str, Any]]:
        """All rows up to now; empty while there is no table.

        Raises:
            sqlite3.Error: the file cannot be read now.
        """
        try:
            found = self._path.stat()
        except FileNotFoundError:
            self._forget(None)
            return []
        if (found.st_dev, found.st_ino) != self._file:
            self._forget((found.st_dev, found.st_ino))
        with reading(self._path) as log:
            table = _table(log, self._columns)
            if table is None:
                return []
            # One that was put in its place may have fewer rows.
            if (log.execute(f'SELECT max(rowid) FROM "{table}"').fetchone()[0] or 0) < self._last:
                self._forget(self._file)
            names = ", ".join(f'"{name}"' for name in self._columns)
            # The last row may have been replaced by one of its own number.
            query = f'SELECT rowid, {names} FROM "{table}" WHERE rowid >= ? ORDER BY rowid'
            for rowid, *values in log.execute(query, (self._last,)):
                if rowid == self._last and self._rows:
                    self._rows.pop()
                self._rows.append(dict(zip(self._columns, values, strict=True)))
                self._last = rowid
        return self._rows

    def _forget(self, file: tuple[int, int] | None) -> None:
        self._file, self._last, self._rows = file, 0, []


def _table(log: sqlite3.Connection, columns: Sequence[str]) -> str | None:
    for (name,) in log.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid").fetchall():
        there = {row[1] for row in log.execute(f'PRAGMA table_info("{name}")')}
        if there.issuperset(columns):
            return str(name)
    return None


class Logs:
    """Rollouts and workflows of one work folder."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self._rollouts = Growing(work / ROLLOUTS, _ROLLOUTS)
        self._workflows = Growing(work / NAME, _WORKFLOWS)
        self._attempts = Growing(work / ROLLOUTS, ("attempt", "resumed_from"))

    def read(self) -> tuple[list[dict[str, Any]], Mapping[str, Mapping[str, Any]], Mapping[int, int]]:
        """Rollouts that count: of each step those of the last attempt that goes through it; workflows by sample; the
        step that each attempt resumed from.

        Raises:
            sqlite3.Error: a file cannot be read now.
        """
        # A workflow is noted before its reward, so that this order finds it.
        rollouts = self._rollouts.read()
        attempts = {row["attempt"]: row["resumed_from"] for row in self._attempts.read()}
        last = last_attempt(attempts)
        kept = [row for row in rollouts if row["attempt"] == last(row["step"])]
        return kept, {row["sample_id"]: row for row in self._workflows.read()}, attempts


def last_attempt(attempts: Mapping[int, int]) -> Callable[[int], int]:
    """A function from a step to the last attempt that goes through it."""

    def last(step: int) -> int:
        return max((attempt for attempt, resumed_from in attempts.items() if resumed_from < step), default=0)

    return last
