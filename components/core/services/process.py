"""Processes by pid and start time, since a pid alone may come back as another process."""

import ctypes
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import psutil

from components.core.errors import ServiceError

SUPERVISOR_VARIABLE = "GAVEL_SUPERVISOR"
_TOLERANCE = 2.0
"""Seconds by which two readings of one start time may differ when the clock is adjusted."""
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class ProcessId:
    """One process of this machine, now and never another. ``start`` in seconds since the epoch."""

    pid: int
    start: float

    @classmethod
    def current(cls) -> Self:
        """This process."""
        return cls.of(os.getpid())

    @classmethod
    def of(cls, pid: int) -> Self:
        """The process that has this pid now.

        Raises:
            ServiceError: there is none.
        """
        try:
            return cls(pid, float(psutil.Process(pid).create_time()))
        except psutil.NoSuchProcess as error:
            raise ServiceError(f"no process has the pid {pid}") from error

    @classmethod
    def parse(cls, text: str) -> Self:
        """From ``pid:start``.

        Raises:
            ServiceError: the text is not of that form.
        """
        pid, _, start = text.partition(":")
        try:
            return cls(int(pid), float(start))
        except ValueError as error:
            raise ServiceError(f"not pid:start: {text!r}", where=SUPERVISOR_VARIABLE) from error

    def __str__(self) -> str:
        return f"{self.pid}:{self.start:.2f}"

    def same(self, other: "ProcessId") -> bool:
        """Whether both mean one process."""
        return self.pid == other.pid and abs(self.start - other.start) <= _TOLERANCE

    def alive(self) -> bool:
        """Whether it still runs; a zombie does not."""
        try:
            process = psutil.Process(self.pid)
            start = float(process.create_time())
            return self.same(ProcessId(self.pid, start)) and str(process.status()) != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False


def supervisor() -> ProcessId | None:
    """The command that this process works for, from GAVEL_SUPERVISOR; None when nobody does (on a cluster)."""
    text = os.environ.get(SUPERVISOR_VARIABLE)
    return ProcessId.parse(text) if text else None


def guarded(argv: Sequence[str], owner: ProcessId, *, grace: float = 5.0, unlink: Sequence[str] = ()) -> list[str]:
    """The command that runs ``argv`` under a guard, which ends it, and all that it started, when ``owner`` is gone.

    Args:
        argv: the program and its arguments.
        owner: the process to watch.
        grace: seconds from being asked to end to being killed.
        unlink: files to remove at the end.
    """
    options = ["--supervisor", str(owner), "--grace", str(grace), *(f"--unlink={path}" for path in unlink)]
    return [sys.executable, "-m", "components.core.services.guard", *options, "--", *argv]


def adopt_orphans() -> None:
    """On Linux, let descendants whose parent died become children of this process, so that they are found."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """On Linux, let the kernel signal this process when the thread that started it ends; also for ``preexec_fn``."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)


def descendants(process: ProcessId) -> list[ProcessId]:
    """Every living process that descends from this one."""
    if not process.alive():
        return []
    found = []
    try:
        for child in psutil.Process(process.pid).children(recursive=True):
            found.append(ProcessId(child.pid, float(child.create_time())))
    except psutil.NoSuchProcess:
        pass
    return found


def kill_all(processes: Iterable[ProcessId]) -> None:
    """Kill exactly these, and the process groups that they lead."""
    own_group = os.getpgid(0)
    for process in processes:
        try:
            if not process.alive():
                continue
            if os.getpgid(process.pid) == process.pid != own_group:
                os.killpg(process.pid, signal.SIGKILL)
            os.kill(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def kill_descendants(spare: Iterable[ProcessId] = (), rounds: int = 5) -> None:
    """Kill every process that descends from this one, and what they start meanwhile, but not this one or ``spare``."""
    spared = set(spare)
    for _ in range(rounds):
        found = [process for process in descendants(ProcessId.current()) if process not in spared]
        if not found:
            return
        kill_all(found)
