"""The namespaces that calls live in: a file system of the interpreter alone, no network, no other processes."""

import os
from collections.abc import Sequence
from typing import Final

from components.sandbox.runner import kernel

_SYSTEM: Final = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin")
_FILES: Final = ("/etc/ld.so.cache",)
_DEVICES: Final = ("null", "zero", "urandom", "random")
_SPACES: Final = (
    kernel.CLONE_NEWNS | kernel.CLONE_NEWUTS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWNET | kernel.CLONE_NEWPID
)
_NEW_ROOT: Final = "/proc"
"""Where the new root is put together: a folder that is always there, and that nothing is taken from."""
_INNER_ID: Final = 1000
FOLDER: Final = "/sandbox"
"""The call's temporary folder in its own root; not ``/tmp``, where folders to be read may lie."""


def leave_host() -> bool:
    """Enter new namespaces; the pid namespace only from the next child on. Returns whether a user namespace was needed.

    Raises:
        OSError: the kernel, or the container that we run in, does not permit it.
    """
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        try:
            kernel.unshare(_SPACES)
        except PermissionError:
            pass
        else:
            return False
    kernel.unshare(_SPACES | kernel.CLONE_NEWUSER)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{_INNER_ID} {user} 1"),
        ("gid_map", f"{_INNER_ID} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    return True


def change_root(folders: Sequence[str]) -> None:
    """Replace the file system by one of the system's libraries and ``folders``, all read-only.

    Raises:
        OSError: a mount is not permitted.
    """
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("sandbox", _NEW_ROOT, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=1m,mode=755")
    for path in _SYSTEM:
        if os.path.islink(path):
            os.symlink(os.readlink(path), _NEW_ROOT + path)
        elif os.path.isdir(path):
            _bind(path)
    for path in _outermost([each for each in folders if not each.startswith("/usr/")]):
        _bind(path)
    for path in _FILES:
        if os.path.isfile(path):
            _bind(path)
    for name in _DEVICES:
        _make_place(f"{_NEW_ROOT}/dev/{name}", folder=False)
    os.makedirs(_NEW_ROOT + FOLDER)
    if not os.path.exists(_NEW_ROOT + "/tmp"):
        os.symlink(FOLDER, _NEW_ROOT + "/tmp")
    kernel.make_readonly(_NEW_ROOT)
    for name in _DEVICES:
        kernel.mount(f"/dev/{name}", f"{_NEW_ROOT}/dev/{name}", None, kernel.MS_BIND)
    kernel.change_root(_NEW_ROOT)


def fresh_folder(size: int) -> None:
    """A temporary folder that no other process sees and that ends with the calling process.

    Args:
        size: bytes of all its files together.
    """
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("tmp", FOLDER, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, f"size={size},nr_inodes=4096,mode=1777")


def _outermost(folders: Sequence[str]) -> list[str]:
    found: list[str] = []
    for path in sorted({os.path.abspath(each) for each in folders}):
        if path != "/" and os.path.isdir(path) and not any(path.startswith(f"{other}/") for other in found):
            found.append(path)
    return found


def _bind(path: str) -> None:
    place = _NEW_ROOT + path
    _make_place(place, folder=os.path.isdir(path))
    kernel.mount(path, place, None, kernel.MS_BIND | kernel.MS_REC)


def _make_place(place: str, *, folder: bool) -> None:
    os.makedirs(place if folder else os.path.dirname(place), exist_ok=True)
    if not folder:
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY, 0o444))
