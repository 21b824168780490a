"""A folder for what lies between reading and writing, gone afterwards whatever happens."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def workspace(work: Path) -> Iterator[Path]:
    """An empty folder in ``work``; one that a killed run left is emptied first."""
    folder = work / "mixture"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
