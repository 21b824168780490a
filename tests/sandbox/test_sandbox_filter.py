"""The filter's program, run by an interpreter of classic BPF that is written from its definition (linux/filter.h)."""

import struct

import pytest

from components.sandbox.runner.seccomp import program

ALLOW, EPERM, ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026
ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# From the tables of system calls: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
NUMBERS = {
    "x86_64": {"read": 0, "write": 1, "mmap": 9, "socket": 41, "socketpair": 53, "clone": 56, "fork": 57, "vfork": 58}
    | {"execve": 59, "kill": 62, "ptrace": 101, "setsid": 112, "prctl": 157, "mount": 165, "tgkill": 234}
    | {"unshare": 272, "prlimit64": 302, "setns": 308, "bpf": 321, "io_uring_setup": 425, "clone3": 435}
    | {"ioctl": 16, "fcntl": 72, "fchmod": 91, "fchmodat": 268, "fchownat": 260, "utimensat": 280, "setxattr": 188}
    | {"fsetxattr": 190, "setpriority": 141, "sched_setparam": 142, "sched_setscheduler": 144, "ioprio_set": 251}
    | {"sched_setaffinity": 203, "timer_create": 222, "migrate_pages": 256, "move_pages": 279, "sched_setattr": 314}
    | {"setrlimit": 160, "tkill": 200, "seccomp": 317, "memfd_create": 319}
    | {"kcmp": 312, "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_open": 434, "process_mrelease": 448},
    "aarch64": {"read": 63, "write": 64, "mmap": 222, "socket": 198, "socketpair": 199, "clone": 220, "execve": 221}
    | {"kill": 129, "ptrace": 117, "setsid": 157, "prctl": 167, "mount": 40, "tgkill": 131, "unshare": 97}
    | {"prlimit64": 261, "setns": 268, "bpf": 280, "io_uring_setup": 425, "clone3": 435}
    | {"ioctl": 29, "fcntl": 25, "fchmod": 52, "fchmodat": 53, "fchownat": 54, "utimensat": 88, "setxattr": 5}
    | {"fsetxattr": 7, "setpriority": 140, "sched_setparam": 118, "sched_setscheduler": 119, "ioprio_set": 30}
    | {"sched_setaffinity": 122, "timer_create": 107, "migrate_pages": 238, "move_pages": 239, "sched_setattr": 274}
    | {"setrlimit": 164, "tkill": 130, "seccomp": 277, "memfd_create": 279}
    | {"kcmp": 272, "process_vm_readv": 270, "process_vm_writev": 271, "pidfd_open": 434, "process_mrelease": 448},
}
SCHEDULING = (
    *("setpriority", "sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr", "ioprio_set"),
    *("migrate_pages", "move_pages", "timer_create"),
    *("kcmp", "process_vm_readv", "process_vm_writev", "pidfd_open", "process_mrelease"),
)
FORK_FLAGS, THREAD_FLAGS = 0x01200011, 0x003D0F00
PID = 4242


def decide(code: bytes, architecture: int, number: int, first: int = 0, second: int = 0, third: int = 0) -> int:
    data = struct.pack("=IIQ6Q", number, architecture, 0, first, second, third, 0, 0, 0)
    steps = [struct.unpack_from("=HBBI", code, at) for at in range(0, len(code), 8)]
    accumulator, at = 0, 0
    while True:
        operation, true, false, value = steps[at]
        at += 1
        if operation == 0x06:
            return int(value)
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[operation]
            at += true if holds else false


@pytest.mark.parametrize("machine", NUMBERS)
@pytest.mark.parametrize("forks", [False, True])
@pytest.mark.parametrize("only", [None, PID])
def test_filter_decides_as_its_rules_say(machine: str, forks: bool, only: int | None) -> None:
    code = program(machine, forks=forks, only=only)

    def of(name: str, *arguments: int) -> int:
        return decide(code, ARCHITECTURE[machine], NUMBERS[machine][name], *arguments)

    assert {of(name) for name in ("read", "write", "mmap", "execve")} == {ALLOW}
    assert {of(name) for name in SCHEDULING} == {EPERM}
    changing = {of(name) for name in ("fchmod", "fchmodat", "fchownat", "utimensat", "fsetxattr", "setxattr")}
    assert changing == ({ALLOW} if only is None else {EPERM})
    # fchmodat2, setxattrat, removexattrat, file_setattr
    newer = {decide(code, ARCHITECTURE[machine], number) for number in (452, 463, 466, 469)}
    assert newer == changing
    # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL with O_NONBLOCK, F_SETLK, F_DUPFD_CLOEXEC
    assert {of("fcntl", 3, command, 0x800) for command in (0, 1, 2, 3, 4, 6, 1030)} == {ALLOW}
    # F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY; F_SETFL with O_ASYNC
    assert {of("fcntl", 3, command, PID) for command in (8, 10, 15, 1024, 1026)} == {EPERM}
    assert {of("fcntl", 3, 4, flags) for flags in (0x2000, 0x2800, 0xFFFFFFFF)} == {EPERM}
    # TCGETS, FIONREAD, FIONBIO, FIOCLEX; FIOASYNC, FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCSCTTY, TIOCLINUX
    assert {of("ioctl", 3, command) for command in (0x5401, 0x541B, 0x5421, 0x5451)} == {ALLOW}
    denied = (0x5452, 0x8901, 0x8902, 0x5412, 0x540E, 0x541C)
    assert {of("ioctl", 3, command) for command in denied} == {EPERM}
    # Unix sockets of streams and of packets in sequence; datagrams, "raw" ones; TIPC
    assert {of("socketpair", 1, kind) for kind in (1, 5, 1 | 0x80800)} == {ALLOW}
    assert {of("socketpair", *pair) for pair in ((1, 2), (1, 3), (1, 2 | 0x80800), (30, 1), (0, 1))} == {EPERM}
    assert {of(name) for name in ("socket", "ptrace", "mount", "unshare", "setns", "bpf", "io_uring_setup")} == {EPERM}
    assert of("clone3") == ENOSYS
    assert of("clone", THREAD_FLAGS) == ALLOW
    assert of("clone", FORK_FLAGS) == (ALLOW if forks else EPERM)
    assert of("clone", FORK_FLAGS | 0x10000000) == EPERM
    if machine == "x86_64":
        assert {of("fork"), of("vfork")} == {ALLOW if forks else EPERM}
    assert (of("prctl", 1), of("prctl", 62), of("prctl", 15)) == (EPERM, EPERM, ALLOW)
    assert (of("prlimit64", 0), of("prlimit64", 7)) == (ALLOW, EPERM)
    own = {of(name, pid) for name in ("kill", "tgkill") for pid in (PID, 0)}
    others = {of(name, pid) for name in ("kill", "tgkill") for pid in (1, PID + 1, 0xFFFFFFFF)}
    assert own == {ALLOW}
    assert others == ({ALLOW} if only is None else {EPERM})
    assert of("setsid") == (ALLOW if only is None else EPERM)


@pytest.mark.parametrize("machine", NUMBERS)
def test_other_ways_into_the_kernel_are_shut(machine: str) -> None:
    code = program(machine, forks=True, only=None)
    assert decide(code, 0x40000003, 1) == EPERM  # 32-bit x86, where 1 is exit
    if machine == "x86_64":
        assert decide(code, ARCHITECTURE[machine], 0x40000000 | NUMBERS[machine]["socket"]) == EPERM


def test_unknown_machine_has_no_filter() -> None:
    with pytest.raises(OSError, match="riscv64"):
        program("riscv64", forks=False, only=None)


@pytest.mark.parametrize("machine", NUMBERS)
@pytest.mark.parametrize("forks", [False, True])
def test_nothing_lets_a_process_end_as_if_it_were_killed_from_outside(machine: str, forks: bool) -> None:
    code = program(machine, forks=forks, only=PID)

    def of(name: str, *arguments: int) -> int:
        return decide(code, ARCHITECTURE[machine], NUMBERS[machine][name], *arguments)

    # SIGKILL is 9; tgkill has the signal third.
    assert of("kill", PID, 15) == of("tgkill", PID, PID, 15) == ALLOW
    assert of("kill", PID, 9) == of("tgkill", PID, PID, 9) == (ALLOW if forks else EPERM)
    assert of("tkill", PID, 9) == EPERM
    # RLIMIT_CPU is 0, RLIMIT_STACK 3; a new limit is a pointer, which may have zeros in its lower half.
    assert {of("setrlimit", 0, 1), of("prlimit64", 0, 0, 1 << 12), of("prlimit64", 0, 0, 1 << 32)} == {EPERM}
    assert {of("setrlimit", 3, 1), of("prlimit64", 0, 3, 1 << 12), of("prlimit64", 0, 0, 0)} == {ALLOW}
    # PR_SET_SECCOMP is 22.
    assert {of("seccomp", 0), of("prctl", 22), of("memfd_create")} == {EPERM}
