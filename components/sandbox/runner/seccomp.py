"""The filter over system calls that untrusted code runs under: no sockets, no other processes' affairs.

A classic BPF program over ``struct seccomp_data`` (linux/seccomp.h): the call's number at offset 0, the architecture
at 4, the arguments from 16 on, 8 bytes each.
"""

import struct
from typing import Final

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_NUMBER, _ARCHITECTURE, _FIRST = 0, 4, 16

_THREAD: Final = 0x00010000
_NAMESPACES: Final = 0x7E020080
"""Bits of ``clone``: a thread of the caller; new namespaces of any kind."""
_PR_SET_PDEATHSIG: Final = 1

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
    ),
    "aarch64": (
        *(198, 203, 200, 201, 117, 92, 41, 51, 89, 170, 40, 39),
        *(224, 225, 142, 161, 162, 105, 106, 60, 180),
        *(104, 217, 218, 219, 97, 241, 262, 265),
        *(266, 268, 270, 271, 272, 273, 294, 280, 282),
        *(194, 196, 195, 190, 186),
    ),
}
# From 424 on all architectures count alike: pidfd_send_signal, io_uring_setup, _enter, _register, open_tree,
# move_mount, fsopen, fsconfig, fsmount, fspick, pidfd_open, pidfd_getfd, process_madvise, mount_setattr.
_DENIED_ALIKE: Final = (424, 425, 426, 427, 428, 429, 430, 431, 432, 433, 434, 438, 440, 442)
_CLONE3: Final = 435
_CLONE: Final = {"x86_64": 56, "aarch64": 220}
_FORKS: Final = {"x86_64": (57, 58), "aarch64": ()}
_PRCTL: Final = {"x86_64": 157, "aarch64": 167}
_PRLIMIT: Final = {"x86_64": 302, "aarch64": 261}
_SIGNALS_BY_PROCESS: Final = {"x86_64": (62, 234), "aarch64": (129, 131)}
_SIGNALS_OTHERWISE: Final = {"x86_64": (200, 129, 297), "aarch64": (130, 138, 240)}
_LEAVING_THE_GROUP: Final = {"x86_64": (109, 112), "aarch64": (154, 157)}
_X32: Final = 0x40000000


def program(machine: str, *, forks: bool, only: int | None) -> bytes:
    """The filter for one process.

    Args:
        machine: as ``platform.machine()`` names it.
        forks: whether it may start processes.
        only: its pid where no pid namespace hides the others: it may signal only itself and its group, and not leave
            the group. None where a namespace does that.

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
        denied += [*_SIGNALS_OTHERWISE[machine], *_LEAVING_THE_GROUP[machine]]
    if not forks:
        denied += _FORKS[machine]
    for number in denied:
        code += _when(number, [_errno(_EPERM)])
    # The flags of clone3 lie in memory, where a filter cannot look; the C library then takes clone.
    code += _when(_CLONE3, [_errno(_ENOSYS)])
    code += _when(_CLONE[machine], _clone(forks))
    code += _when(_PRCTL[machine], _first_is(_PR_SET_PDEATHSIG, _errno(_EPERM), _allow()))
    code += _when(_PRLIMIT[machine], _first_is(0, _allow(), _errno(_EPERM)))
    if only is not None:
        for number in _SIGNALS_BY_PROCESS[machine]:
            own = [_step(_LOAD, _FIRST), _step(_EQUAL, only, 1, 0), _step(_EQUAL, 0, 0, 1), _allow(), _errno(_EPERM)]
            code += _when(number, own)
    return b"".join([*code, _allow()])


def _clone(forks: bool) -> list[bytes]:
    no_namespaces = [_step(_LOAD, _FIRST), _step(_ANY_BIT, _NAMESPACES, 0, 1), _errno(_EPERM)]
    return (
        [*no_namespaces, _allow()]
        if forks
        else [*no_namespaces, _step(_ANY_BIT, _THREAD, 1, 0), _errno(_EPERM), _allow()]
    )


def _first_is(value: int, then: bytes, otherwise: bytes) -> list[bytes]:
    return [_step(_LOAD, _FIRST), _step(_EQUAL, value, 0, 1), then, otherwise]


def _when(number: int, block: list[bytes]) -> list[bytes]:
    """``block``, which always returns, for one system call."""
    return [_step(_EQUAL, number, 0, len(block)), *block]


def _step(code: int, value: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, true, false, value)


def _errno(number: int) -> bytes:
    return _step(_RETURN, _ERRNO | number)


def _allow() -> bytes:
    return _step(_RETURN, _ALLOW)
