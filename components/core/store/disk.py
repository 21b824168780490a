"""Writing to local disks so that a file is complete or not there, with errors that say what was lacking."""

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from components.core.errors import StorageError
from components.core.progress import size_text

_FULL = {errno.ENOSPC, errno.EDQUOT}
_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}
TEMPORARY = ".partial-"


def free_bytes(path: Path) -> int:
    """Bytes that this user may still write where ``path`` is or would be."""
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free


def require_space(path: Path, needed: int) -> None:
    """Raise StorageError unless ``needed`` bytes fit where ``path`` is."""
    with translated(path, needed):
        free = free_bytes(path)
    if needed > free:
        raise full_disk(path, needed)


@contextmanager
def translated(path: Path, needed: int = 0) -> Iterator[None]:
    """Turn the operating system's errors about ``path`` into StorageError. ``needed``: bytes being written."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, path, needed) from error


def storage_error(error: OSError, path: Path, needed: int = 0) -> StorageError:
    """What an OSError means to the user."""
    where = str(path)
    if error.errno in _FULL:
        return full_disk(path, needed, quota=error.errno == errno.EDQUOT)
    if error.errno in _DENIED:
        return StorageError(
            f"no permission: {error.strerror}",
            where=where,
            remedy="make the folder writable for this user or choose another one",
        )
    if isinstance(error, FileNotFoundError):
        return StorageError("not there", where=where)
    if isinstance(error, NotADirectoryError | FileExistsError | IsADirectoryError):
        return StorageError(f"a file and a folder want the same name: {error.strerror}", where=where)
    return StorageError(f"the file system failed: {error.strerror or error}", where=where)


def full_disk(path: Path, needed: int, *, quota: bool = False) -> StorageError:
    """The error for a disk that cannot take ``needed`` bytes (0: unknown)."""
    cause = "the disk quota is used up" if quota else "the disk is full"
    need = f"{size_text(needed)} needed, " if needed else ""
    return StorageError(
        f"{cause}: {need}{size_text(free_bytes(path))} free",
        where=str(path),
        remedy="free some space, or put the store and GAVEL_STATE on a larger disk",
    )


@contextmanager
def atomic(path: Path, size: int) -> Iterator[BinaryIO]:
    """A stream whose content becomes ``path`` when the block ends well, durably, and leaves nothing otherwise."""
    temporary = path.with_name(f"{TEMPORARY}{uuid.uuid4().hex[:12]}-{path.name}"[:250])
    with translated(path, size):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
