"""The filter over system calls that untrusted code runs under: no sockets, no other processes' affairs.

A classic BPF program over ``struct seccomp_data`` (linux/seccomp.h): the call's number at offset 0, the architecture
at 4, the arguments from 16 on, 8 bytes each.
"""

import struct
from typing import Final

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND, _THIRD = 0, 4, 16, 24, 32

_THREAD: Final = 0x00010000
_NAMESPACES: Final = 0x7E020080
"""Bits of ``clone``: a thread of the caller; new namespaces of any kind."""
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SCHED_CORE = 1, 22, 62
_RLIMIT_CPU, _SIGKILL = 0, 9
_AF_UNIX, _DATAGRAM_BIT = 1, 2
"""A pair of datagram sockets can send to any other by its name; of the types that there are, those of streams and of
packets in sequence lack the bit, and cannot."""
_F_SETFL, _O_ASYNC = 4, 0x2000
_FCNTL_ALLOWED: Final = (
    # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW
    *(0, 1, 2, 3, 5, 6, 7, 36, 37, 38),
    # F_DUPFD_CLOEXEC, F_SETPIPE_SZ, F_GETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS
    *(1030, 1031, 1032, 1033, 1034),
)
"""Not F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE, F_NOTIFY: with them the kernel sends a signal of the caller's choice
to a process of the caller's choice."""
_IOCTL_ALLOWED: Final = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""TCGETS, TCGETS2, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX; not FIOASYNC, FIOSETOWN, SIOCSPGRP, TIOCSTI."""

_ARCHITECTURES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_DENIED: Final = {
    "x86_64": (
        # socket, connect, bind, listen, ptrace, personality, pivot_root, chroot, acct, settimeofday, mount, umount2
        *(41, 42, 49, 50, 101, 135, 155, 161, 163, 164, 165, 166),
        # swapon, swapoff, reboot, sethostname, setdomainname, init_module, delete_module, quotactl, mq_open
        *(167, 168, 169, 170, 171, 175, 176, 179, 240),
        # kexec_load, add_key, request_key, keyctl, unshare, perf_event_open, fanotify_init, open_by_handle_at
        *(246, 248, 249, 250, 272, 298, 300, 304),
        # clock_adjtime, setns, process_vm_readv, process_vm_writev, kcmp, finit_module, kexec_file_load, bpf,
        # userfaultfd
        *(305, 308, 310, 311, 312, 313, 320, 321, 323),
        # shmget, shmat, shmctl, semget, msgget
        *(29, 30, 31, 64, 68),
        # setpriority, sched_setparam, sched_setscheduler, sched_setaffinity, ioprio_set, migrate_pages, move_pages,
        # sched_setattr, timer_create
        *(141, 142, 144, 203, 251, 256, 279, 314, 222),
        # seccomp (with it a process could have itself killed), memfd_create (memory that no limit counts)
        *(317, 319),
    ),
    "aarch64": (
        *(198, 203, 200, 201, 117, 92, 41, 51, 89, 170, 40, 39),
        *(224, 225, 142, 161, 162, 105, 106, 60, 180),
        *(104, 217, 218, 219, 97, 241, 262, 265),
        *(266, 268, 270, 271, 272, 273, 294, 280, 282),
        *(194, 196, 195, 190, 186),
        *(140, 118, 119, 122, 30, 238, 239, 274, 107),
        *(277, 279),
    ),
}
# From 424 on all architectures count alike: pidfd_send_signal, io_uring_setup, _enter, _register, open_tree,
# move_mount, fsopen, fsconfig, fsmount, fspick, pidfd_open, pidfd_getfd, process_madvise, mount_setattr, quotactl_fd,
# memfd_secret, process_mrelease.
_DENIED_ALIKE: Final = (424, 425, 426, 427, 428, 429, 430, 431, 432, 433, 434, 438, 440, 442, 443, 447, 448)
_CLONE3: Final = 435
_CLONE: Final = {"x86_64": 56, "aarch64": 220}
_FORKS: Final = {"x86_64": (57, 58), "aarch64": ()}
_PRCTL: Final = {"x86_64": 157, "aarch64": 167}
_PRLIMIT: Final = {"x86_64": 302, "aarch64": 261}
_SETRLIMIT: Final = {"x86_64": 160, "aarch64": 164}
_SIGNALS_BY_PROCESS: Final = {"x86_64": (62, 234), "aarch64": (129, 131)}
_SIGNALS_OTHERWISE: Final = {"x86_64": (200, 129, 297), "aarch64": (130, 138, 240)}
_LEAVING_THE_GROUP: Final = {"x86_64": (109, 112), "aarch64": (154, 157)}
_FCNTL: Final = {"x86_64": 72, "aarch64": 25}
_IOCTL: Final = {"x86_64": 16, "aarch64": 29}
_SOCKETPAIR: Final = {"x86_64": 53, "aarch64": 199}
_CHANGING_FILES: Final = {
    "x86_64": (
        # chmod, fchmod, fchmodat, fchmodat2, chown, fchown, lchown, fchownat, utime, utimes, futimesat, utimensat
        *(90, 91, 268, 452, 92, 93, 94, 260, 132, 235, 261, 280),
        # setxattr, lsetxattr, fsetxattr, removexattr, lremovexattr, fremovexattr, setxattrat, removexattrat,
        # file_setattr
        *(188, 189, 190, 197, 198, 199, 463, 466, 469),
    ),
    "aarch64": (52, 53, 452, 54, 55, 88, 5, 6, 7, 14, 15, 16, 463, 466, 469),
}
"""What Landlock does not restrict: changes of a file's mode, owner, times and attributes, wherever it lies."""
_X32: Final = 0x40000000


def program(machine: str, *, forks: bool, only: int | None) -> bytes:
    """The filter for one process.

    Args:
        machine: as ``platform.machine()`` names it.
        forks: whether it may start processes.
        only: its pid where no pid namespace hides the others: it may signal only itself and its group, not leave
            the group, and not change modes, owners and times of files. None where a namespace does that.

    Raises:
        OSError: no filter is known for this machine.
    """
    if machine not in _ARCHITECTURES:
        raise OSError(f"no filter of system calls is known for {machine}")
    code = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, _ARCHITECTURES[machine], 1, 0),
        _errno(_EPERM),
        _step(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        code += [_step(_AT_LEAST, _X32, 0, 1), _errno(_EPERM)]
    denied = [*_DENIED[machine], *_DENIED_ALIKE]
    if only is not None:
        denied += [*_SIGNALS_OTHERWISE[machine], *_LEAVING_THE_GROUP[machine], *_CHANGING_FILES[machine]]
    if not forks:
        denied += _FORKS[machine]
    for number in denied:
        code += _when(number, [_errno(_EPERM)])
    # The flags of clone3 lie in memory, where a filter cannot look; the C library then takes clone.
    code += _when(_CLONE3, [_errno(_ENOSYS)])
    code += _when(_CLONE[machine], _clone(forks))
    code += _when(_PRCTL[machine], _unless(_FIRST, (_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SCHED_CORE)))
    # Its processor time it may not shorten: it would look as if something outside had killed it.
    code += _when(_SETRLIMIT[machine], _unless(_FIRST, (_RLIMIT_CPU,)))
    code += _when(_PRLIMIT[machine], _prlimit())
    code += _when(_FCNTL[machine], _fcntl())
    code += _when(_IOCTL[machine], _only(_SECOND, _IOCTL_ALLOWED))
    code += _when(_SOCKETPAIR[machine], _socketpair())
    if only is not None:
        for number, signal in zip(_SIGNALS_BY_PROCESS[machine], (_SECOND, _THIRD), strict=True):
            # Who is alone has no use for this signal but to look as if something outside had killed it.
            unkilled = [] if forks else [_step(_LOAD, signal), *_when(_SIGKILL, [_errno(_EPERM)])]
            code += _when(number, [*unkilled, *_only(_FIRST, (only, 0))])
    return b"".join([*code, _allow()])


def _clone(forks: bool) -> list[bytes]:
    no_namespaces = [_step(_LOAD, _FIRST), _step(_ANY_BIT, _NAMESPACES, 0, 1), _errno(_EPERM)]
    return (
        [*no_namespaces, _allow()]
        if forks
        else [*no_namespaces, _step(_ANY_BIT, _THREAD, 1, 0), _errno(_EPERM), _allow()]
    )


def _prlimit() -> list[bytes]:
    """Of itself alone; limits of processor time are only read, which is when there is no new one: a null pointer."""
    read = [_step(_LOAD, _THIRD), *_when(0, [_step(_LOAD, _THIRD + 4), *_when(0, [_allow()]), _errno(_EPERM)])]
    of_time = [*read, _errno(_EPERM)]
    return [
        _step(_LOAD, _FIRST),
        *_when(0, [_step(_LOAD, _SECOND), *_when(_RLIMIT_CPU, of_time), _allow()]),
        _errno(_EPERM),
    ]


def _fcntl() -> list[bytes]:
    flags = [_step(_LOAD, _THIRD), _step(_ANY_BIT, _O_ASYNC, 0, 1), _errno(_EPERM), _allow()]
    return [_step(_LOAD, _SECOND), *_when(_F_SETFL, flags), *_only(_SECOND, _FCNTL_ALLOWED)]


def _socketpair() -> list[bytes]:
    kind = [_step(_LOAD, _SECOND), _step(_ANY_BIT, _DATAGRAM_BIT, 0, 1), _errno(_EPERM), _allow()]
    return [_step(_LOAD, _FIRST), *_when(_AF_UNIX, kind), _errno(_EPERM)]


def _only(argument: int, values: tuple[int, ...]) -> list[bytes]:
    """Allowed where the lower half of this argument is one of these, which is what the kernel looks at."""
    return [_step(_LOAD, argument), *(step for value in values for step in _when(value, [_allow()])), _errno(_EPERM)]


def _unless(argument: int, values: tuple[int, ...]) -> list[bytes]:
    return [_step(_LOAD, argument), *(step for value in values for step in _when(value, [_errno(_EPERM)])), _allow()]


def _when(number: int, block: list[bytes]) -> list[bytes]:
    """``block``, which always returns, where what was loaded is ``number``."""
    return [_step(_EQUAL, number, 0, len(block)), *block]


def _step(code: int, value: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, true, false, value)


def _errno(number: int) -> bytes:
    return _step(_RETURN, _ERRNO | number)


def _allow() -> bytes:
    return _step(_RETURN, _ALLOW)
