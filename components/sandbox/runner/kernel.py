"""The few system calls that Python 3.11 has no function for. Linux on x86_64 and aarch64."""

import contextlib
import ctypes
import os
import platform
import resource
import sys
from typing import Final

_LIBC: Final = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS: Final = 0x00020000
CLONE_NEWUTS: Final = 0x04000000
CLONE_NEWIPC: Final = 0x08000000
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWPID: Final = 0x20000000
CLONE_NEWNET: Final = 0x40000000

MS_RDONLY: Final = 0x1
MS_NOSUID: Final = 0x2
MS_NODEV: Final = 0x4
MS_NOEXEC: Final = 0x8
MS_REMOUNT: Final = 0x20
MS_BIND: Final = 0x1000
MS_REC: Final = 0x4000
MS_PRIVATE: Final = 0x40000

_MNT_DETACH: Final = 2
_AT_FDCWD: Final = -100
_AT_RECURSIVE: Final = 0x8000
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38
_CAPABILITY_VERSION_3: Final = 0x20080522

MACHINE: Final = platform.machine()
_NUMBERS: Final = {
    "x86_64": {"capset": 126, "pivot_root": 155, "seccomp": 317, "mount_setattr": 442},
    "aarch64": {"capset": 91, "pivot_root": 41, "seccomp": 277, "mount_setattr": 442},
}
_CLOSE_RANGE: Final = 436
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446


def _failed(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


def syscall(number: int, *arguments: object) -> int:
    """A raw system call.

    Raises:
        OSError: it failed.
    """
    result = int(_LIBC.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        raise _failed(f"system call {number}")
    return result


def _named(name: str, *arguments: object) -> int:
    if sys.platform != "linux" or MACHINE not in _NUMBERS:
        raise OSError(f"{name}: unknown on {sys.platform} {MACHINE}")
    return syscall(_NUMBERS[MACHINE][name], *arguments)


def unshare(flags: int) -> None:
    """Leave the namespaces of these kinds for new ones."""
    if _LIBC.unshare(ctypes.c_int(flags)) != 0:
        raise _failed("unshare")


def setns(descriptor: int, kind: int) -> None:
    """Enter a namespace; for pids, of the children to come."""
    if _LIBC.setns(ctypes.c_int(descriptor), ctypes.c_int(kind)) != 0:
        raise _failed("setns")


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """``mount(2)``."""
    parts = [None if text is None else text.encode() for text in (source, target, kind)]
    data = None if options is None else options.encode()
    if _LIBC.mount(*parts, ctypes.c_ulong(flags), data) != 0:
        raise _failed(f"mount {target}")


def make_readonly(target: str) -> None:
    """Everything mounted at ``target`` and below: read-only, without devices and set-uid programs (Linux 5.12)."""
    attributes = (ctypes.c_uint64 * 4)(MS_RDONLY | MS_NOSUID | MS_NODEV, 0, 0, 0)
    _named("mount_setattr", _AT_FDCWD, target.encode(), _AT_RECURSIVE, ctypes.byref(attributes), ctypes.c_size_t(32))


def change_root(new: str) -> None:
    """Make the mount ``new`` the root and let go of the old one."""
    os.chdir(new)
    _named("pivot_root", b".", b".")
    if _LIBC.umount2(b".", _MNT_DETACH) != 0:
        raise _failed("umount2")
    os.chdir("/")


def close_from(first: int) -> None:
    """Close every descriptor from ``first`` on, whatever its number.

    Where the kernel has no ``close_range`` (Linux 5.9) and there is no ``/proc``, those up to the process's limit; a
    process that has had that limit from its start, and inherited nothing, has none beyond it.
    """
    try:
        syscall(_CLOSE_RANGE, ctypes.c_uint(first), ctypes.c_uint(0xFFFFFFFF), 0)
    except OSError:
        try:
            numbers = [int(name) for name in os.listdir("/proc/self/fd")]
        except FileNotFoundError:
            numbers = list(range(first, resource.getrlimit(resource.RLIMIT_NOFILE)[0]))
        for number in numbers:
            if number >= first:
                with contextlib.suppress(OSError):
                    os.close(number)


def prctl(option: int, value: int = 0) -> None:
    """``prctl(2)`` with one argument."""
    if _LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise _failed(f"prctl {option}")


def die_with_parent() -> None:
    """Be killed when the thread that started this process ends."""
    prctl(_PR_SET_PDEATHSIG, 9)


def adopt_orphans() -> None:
    """Descendants whose parent dies become children of this process."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def hide_memory() -> None:
    """Let no process of the same user read or write this one's memory, nor its environment in /proc."""
    prctl(_PR_SET_DUMPABLE, 0)


def drop_capabilities() -> None:
    """Give up every capability and every way to new ones, for this process and all that it starts."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _named("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def filter_calls(program: bytes) -> None:
    """Install a seccomp filter; needs no privilege after :func:`drop_capabilities`."""
    code = ctypes.create_string_buffer(program, len(program))
    described = _Program(len(program) // 8, ctypes.cast(code, ctypes.c_void_p))
    _named("seccomp", 1, 0, ctypes.byref(described))


def restrict_paths(readable: list[str], writable: list[str]) -> None:
    """Landlock: nothing on disk but ``readable`` and below, and writing only in ``writable``; also no reading of the
    memory or environment of processes outside. Needs no privilege after :func:`drop_capabilities` (Linux 5.13).

    Raises:
        OSError: the kernel has no Landlock.
    """
    version = syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)
    rights = (1 << min(13 + (version > 1) + (version > 2), 15)) - 1
    reading = 0b1101
    ruleset = syscall(_LANDLOCK_CREATE, ctypes.byref(ctypes.c_uint64(rights)), ctypes.c_size_t(8), 0)
    try:
        for path, allowed in [*((each, reading) for each in readable), *((each, rights) for each in writable)]:
            if os.path.exists(path):
                _add_path(ruleset, path, allowed if os.path.isdir(path) else allowed & 0b111)
        syscall(_LANDLOCK_RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def _add_path(ruleset: int, path: str, allowed: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        beneath = allowed.to_bytes(8, sys.byteorder) + descriptor.to_bytes(4, sys.byteorder)
        syscall(_LANDLOCK_ADD, ruleset, 1, ctypes.create_string_buffer(beneath, 12), 0)
    finally:
        os.close(descriptor)
