"""Processes by pid and start time, since a pid alone may come back as another process."""

import os
import signal
from dataclasses import dataclass
from typing import Self

import psutil

from components.core.errors import ServiceError

_TOLERANCE = 2.0
"""Seconds by which two readings of one start time may differ when the clock is adjusted."""


@dataclass(frozen=True)
class ProcessId:
    """One process of this machine, now and never another. ``start`` in seconds since the epoch."""

    pid: int
    start: float

    @classmethod
    def current(cls) -> Self:
        """This process."""
        return cls(os.getpid(), psutil.Process().create_time())

    @classmethod
    def of(cls, pid: int) -> Self:
        """The process that has this pid now.

        Raises:
            ServiceError: there is none.
        """
        try:
            return cls(pid, psutil.Process(pid).create_time())
        except psutil.NoSuchProcess as error:
            raise ServiceError(f"no process has the pid {pid}") from error

    @classmethod
    def parse(cls, text: str) -> Self:
        """From ``pid:start``."""
        pid, _, start = text.partition(":")
        try:
            return cls(int(pid), float(start))
        except ValueError as error:
            raise ServiceError(f"not pid:start: {text!r}", where="GAVEL_SUPERVISOR") from error

    def __str__(self) -> str:
        return f"{self.pid}:{self.start:.2f}"

    def alive(self) -> bool:
        """Whether it still runs; a zombie does not."""
        try:
            process = psutil.Process(self.pid)
            same = abs(float(process.create_time()) - self.start) <= _TOLERANCE
            return same and str(process.status()) != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False


def kill_descendants() -> None:
    """Kill every process that descends from this one, and the process groups that they lead, but not this one."""
    own_group = os.getpgid(0)
    for child in psutil.Process().children(recursive=True):
        try:
            group = os.getpgid(child.pid)
            if group == child.pid and group != own_group:
                os.killpg(group, signal.SIGKILL)
            os.kill(child.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
