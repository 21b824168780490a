"""How full the experience buffer is, without a lock.

Its file has a rollback journal: a reader's lock would keep a writer waiting, and with it the training, for as long as a
reader that was stopped in between. So a copy is read, and one that was taken while somebody wrote is thrown away.
"""

import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from components.workflow.buffer.database import FILE

_QUERY: Final = "SELECT DISTINCT domain, workflow_hash FROM entries"
_TRIES: Final = 3


def fill_of_work(folder: Path, capacity: int | None) -> dict[str, int] | None:
    """Domain -> entries that count in the buffer of a work folder; None where there is none, or it is just written.

    Args:
        folder: of the training.
        capacity: entries of a domain that count; None for all.
    """
    file = folder / FILE
    for _ in range(_TRIES):
        before = _state(file)
        if before is None or _written(file):
            continue
        with tempfile.TemporaryDirectory(prefix="gavel-monitor-") as place:
            copy = Path(place, FILE)
            try:
                copy.write_bytes(file.read_bytes())
                if _written(file) or _state(file) != before:
                    continue
                with closing(sqlite3.connect(f"{copy.as_uri()}?immutable=1", uri=True)) as base:
                    return count(base.execute(_QUERY), capacity)
            except (OSError, sqlite3.Error):
                continue
    return None


def fill_of_table(table: Path, capacity: int | None) -> dict[str, int] | None:
    """The same of a published buffer; None where there is none."""
    if not table.is_file():
        return None
    columns = pq.read_table(table, columns=["domain", "workflow_hash"]).to_pylist()
    return count(((row["domain"], row["workflow_hash"]) for row in columns), capacity)


def count(pairs: Iterable[tuple[str, str]], capacity: int | None) -> dict[str, int]:
    """Different workflows of each domain, at most ``capacity``."""
    found: dict[str, set[str]] = {}
    for domain, workflow in pairs:
        found.setdefault(domain, set()).add(workflow)
    return {domain: min(len(those), capacity or len(those)) for domain, those in sorted(found.items())}


def _state(file: Path) -> tuple[int, int, int] | None:
    try:
        stat = file.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _written(file: Path) -> bool:
    return file.with_name(f"{file.name}-journal").exists()
