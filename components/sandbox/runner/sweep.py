"""Removes what untrusted code left in a folder: any number of files, at any depth."""

import contextlib
import os
import secrets
import stat
import time

_BLOCK = 4096
"""What a file may take beyond its bytes."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _LateError(Exception):
    pass


def sweep(top: str, seconds: float) -> bool:
    """Remove all that lies in ``top``, by processes that are gone; returns whether that was done within the time.

    Folders that are not empty are moved up to ``top`` before they are looked into, so that neither the length of a
    path nor the number of descriptors grows with the depth. What cannot be removed at all is left.
    """
    deadline = time.monotonic() + seconds
    left: set[str] = set()
    try:
        descriptor = os.open(top, _FOLDER)
    except FileNotFoundError:
        return True
    try:
        while True:
            seen = False
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    if entry.name in left:
                        continue
                    seen = True
                    if not _remove(descriptor, entry):
                        left.add(entry.name)
                        _open_up(descriptor, entry.name)
                        _empty(descriptor, entry.name, deadline)
                        with contextlib.suppress(OSError):
                            os.rmdir(entry.name, dir_fd=descriptor)
                    _check(deadline)
            if not seen:
                return True
    except _LateError:
        return False
    finally:
        os.close(descriptor)


def fuller_than(top: str, size: int, count: int) -> bool:
    """Whether files take more than ``size`` bytes of disk in ``top`` and below, or there are more than ``count``.

    Takes as much time as ``count`` files do, whatever there is. What cannot be looked into counts as full.
    """
    taken, seen, folders = 0, 0, [top]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    seen += 1
                    with contextlib.suppress(FileNotFoundError):
                        taken += entry.stat(follow_symlinks=False).st_blocks * 512
                    if taken > size + seen * _BLOCK or seen > count:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except FileNotFoundError:
            continue
        except OSError:
            return True
    return False


def _empty(top: int, name: str, deadline: float) -> None:
    try:
        descriptor = os.open(name, _FOLDER, dir_fd=top)
    except OSError:
        return
    try:
        moved = True
        while moved:
            # Again, since some file systems leave entries out when others are removed meanwhile.
            moved = False
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    if _remove(descriptor, entry) or _lift(descriptor, entry, top):
                        moved = True
                    _check(deadline)
    finally:
        os.close(descriptor)


def _remove(folder: int, entry: os.DirEntry[str]) -> bool:
    try:
        (os.rmdir if entry.is_dir(follow_symlinks=False) else os.unlink)(entry.name, dir_fd=folder)
    except OSError:
        return False
    return True


def _lift(folder: int, entry: os.DirEntry[str], top: int) -> bool:
    if not entry.is_dir(follow_symlinks=False):
        return False
    _open_up(folder, entry.name)
    try:
        os.rename(entry.name, secrets.token_hex(8), src_dir_fd=folder, dst_dir_fd=top)
    except OSError:
        return False
    return True


def _open_up(folder: int, name: str) -> None:
    with contextlib.suppress(OSError):
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            os.chmod(name, stat.S_IRWXU, dir_fd=folder)


def _check(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise _LateError
