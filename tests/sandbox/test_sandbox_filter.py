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
    | {"unshare": 272, "prlimit64": 302, "setns": 308, "bpf": 321, "io_uring_setup": 425, "clone3": 435},
    "aarch64": {"read": 63, "write": 64, "mmap": 222, "socket": 198, "socketpair": 199, "clone": 220, "execve": 221}
    | {"kill": 129, "ptrace": 117, "setsid": 157, "prctl": 167, "mount": 40, "tgkill": 131, "unshare": 97}
    | {"prlimit64": 261, "setns": 268, "bpf": 280, "io_uring_setup": 425, "clone3": 435},
}
FORK_FLAGS, THREAD_FLAGS = 0x01200011, 0x003D0F00
PID = 4242


def decide(code: bytes, architecture: int, number: int, first: int = 0) -> int:
    data = struct.pack("=IIQ6Q", number, architecture, 0, first, 0, 0, 0, 0, 0)
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

    def of(name: str, first: int = 0) -> int:
        return decide(code, ARCHITECTURE[machine], NUMBERS[machine][name], first)

    assert {of(name) for name in ("read", "write", "mmap", "socketpair", "execve")} == {ALLOW}
    assert {of(name) for name in ("socket", "ptrace", "mount", "unshare", "setns", "bpf", "io_uring_setup")} == {EPERM}
    assert of("clone3") == ENOSYS
    assert of("clone", THREAD_FLAGS) == ALLOW
    assert of("clone", FORK_FLAGS) == (ALLOW if forks else EPERM)
    assert of("clone", FORK_FLAGS | 0x10000000) == EPERM
    if machine == "x86_64":
        assert {of("fork"), of("vfork")} == {ALLOW if forks else EPERM}
    assert (of("prctl", 1), of("prctl", 15)) == (EPERM, ALLOW)
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
