"""Moving many files at once."""

import io
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from components.core.errors import StorageError
from components.core.manifest import MANIFEST_NAME, FileEntry, Manifest, list_files, scan_folder, sha256_file
from components.core.progress import Progress

PART_SIZE = 8 << 20
"""Bytes moved at a time. Files up to this size travel side by side, larger ones one after another in parts."""
WORKERS = 4
_WORTH_TELLING = 16 << 20

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Transfer:
    """What an upload or a download moved, and what was there already."""

    sent_files: int
    sent_bytes: int
    """That really went over the line; of a file of which parts were there, the others."""
    kept_files: int
    kept_bytes: int


def in_parallel(work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """What the work made of each item; at the first error drop what has not begun, and raise it."""
    with ThreadPoolExecutor(WORKERS) as pool:
        jobs = [pool.submit(work, item) for item in items]
        try:
            return [job.result() for job in jobs]
        finally:
            pool.shutdown(cancel_futures=True)


def move(
    files: Sequence[FileEntry],
    held: Callable[[FileEntry], bool],
    carry: Callable[[FileEntry, Progress], int],
    progress: Progress | None,
    note: str,
) -> Transfer:
    """Carry every file that is not held yet. ``note`` says in the progress line what is going on.

    ``carry`` returns the bytes that it moved, fewer than the file has where parts of it were there.
    """
    missing = [entry for entry in files if not held(entry)]
    total = total_size(missing)
    if progress is None or total < _WORTH_TELLING:
        progress = Progress("", stream=io.StringIO())
    meter = progress.begin(total, "B", note=note)
    moved = sum(in_parallel(lambda entry: carry(entry, meter), [e for e in missing if e.size <= PART_SIZE]))
    moved += sum(carry(entry, meter) for entry in missing if entry.size > PART_SIZE)
    kept = max(0, total_size(files) - moved)
    return Transfer(len(missing), moved, len(files) - len(missing), kept)


def total_size(files: Iterable[FileEntry]) -> int:
    """Bytes of all files."""
    return sum(entry.size for entry in files)


def matches(path: Path, entry: FileEntry) -> bool:
    """Whether a local file is there with this content."""
    return path.is_file() and path.stat().st_size == entry.size and sha256_file(path) == entry.sha256


def outgoing_manifest(folder: Path) -> Manifest:
    """The manifest of a folder that is about to be published; made now if it has none.

    Contents are not hashed again here: each file is when it is sent.

    Raises:
        StorageError: there is no such folder, or its files are not those of its manifest.
    """
    if not folder.is_dir():
        raise StorageError("no such folder to publish", where=str(folder))
    if not (folder / MANIFEST_NAME).exists():
        return Manifest(files=scan_folder(folder))
    manifest = Manifest.read(folder)
    if list_files(folder) != [entry.path for entry in manifest.files]:
        raise StorageError("the folder changed after its manifest was written", where=str(folder))
    return manifest


def corrupt(where: str, entry: FileEntry, found: str) -> StorageError:
    """The error for a file whose content, of hash ``found``, is not what the manifest says."""
    return StorageError(
        f"corrupted file {entry.path}: its sha256 is {found[:12]}…, the manifest says {entry.sha256[:12]}…",
        where=where,
        remedy="delete the published folder that holds it; the step that made it then runs again",
    )
