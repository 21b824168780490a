"""Waits for one call's answer, within its limits, and ends all its processes."""

import contextlib
import dataclasses
import os
import select
import signal
import time
from collections.abc import Mapping
from typing import Any, Final

from components.sandbox.runner.child import READY
from components.sandbox.runner.sweep import fuller_than

_TICK: Final = 0.05
_CHUNK: Final = 1 << 16
_SHOWN: Final = 2000
_EXIT_GRACE: Final = 0.5
_HEAD: Final = 8
_FILES: Final = 4096
_TOLD: Final = frozenset({"value", "memory", "import_error", "exception", "bad_result"})
"""What a call's own process may say of itself."""


def counted_seconds(pid: int) -> float:
    """Processor seconds of a process that has not been waited for, as the kernel counts them for the limit.

    These are whole ticks of its clock. What ``wait4`` tells is exact instead, and on a busy machine some percent less:
    by it alone, a program that its limit ended would look like one that somebody else killed. 0 where there is no such
    clock.
    """
    try:
        # CPUCLOCK_PROF of the process, numbered as Linux numbers the clocks of processes.
        return time.clock_gettime(~pid << 3)
    except OSError:
        return 0.0


class AbandonedError(Exception):
    """Whoever asked is gone."""


class BrokenError(Exception):
    """The call's process could not be confined, so that the code was not run."""


@dataclasses.dataclass
class Watch:
    """One call under way.

    Attributes:
        pid: its first process.
        group: whether its processes are found by their group and as our children, not by a pid namespace.
        answer, output: descriptors to read from.
        channel: descriptor that hangs up when nobody wants the answer any more.
        nonce: bytes that an answer begins with.
        limits: fields of :class:`components.sandbox.limits.Limits`.
        leash: a socket with whose other end the call ends as well; None for a call that ends by itself.
        folder: the call's temporary folder, where it is no file system with a size of its own.
    """

    pid: int
    group: bool
    answer: int
    output: int
    channel: int
    nonce: bytes
    limits: Mapping[str, Any]
    begun: float = dataclasses.field(default_factory=time.monotonic)
    got: bytes = b""
    printed: int = 0
    shown: bytes = b""
    leash: int | None = None
    folder: str | None = None
    looked: float = 0.0

    def report(self) -> dict[str, Any]:
        """What came of it, as told to the parent: ``kind``, ``text``, ``seconds``, ``output``.

        Raises:
            AbandonedError: nobody waits for it any more.
            BrokenError: the code was not run.
        """
        code: int | None = None
        counted = 0.0
        try:
            found = self._wait()
            if found is None:
                code = self._exit_code()
                counted = counted_seconds(self.pid)
        finally:
            usage = self.end()
        kind, text = found or self._without_answer(code, max(usage, counted))
        shown = self.shown.decode(errors="replace")
        return {"kind": kind, "text": text, "seconds": time.monotonic() - self.begun, "output": shown}

    def _wait(self) -> tuple[str, str] | None:
        """(kind, text); None when the process gave no answer by the time that it closed its descriptor."""
        poller = select.poll()
        for descriptor in (self.answer, self.output):
            poller.register(descriptor, select.POLLIN)
        poller.register(self.channel, 0)
        if self.leash is not None:
            poller.register(self.leash, 0)
        deadline = self.begun + self.limits["wall_seconds"]
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return "timeout", f"wall time of {self.limits['wall_seconds']:g} s used up"
            ready = poller.poll(min(left, _TICK) * 1000)
            for descriptor, _ in ready:
                if descriptor == self.channel:
                    raise AbandonedError
                if descriptor == self.leash:
                    return "crash", "the other end of its socket was closed"
                data = os.read(descriptor, _CHUNK)
                if descriptor == self.output:
                    if not data:
                        poller.unregister(descriptor)
                    elif (over := self._heard(data)) is not None:
                        return over
                elif not data:
                    return None
                else:
                    self.got += data
                    if (found := self._parse()) is not None:
                        self._drain()
                        return found
            if not ready and self.group and self._gone():
                return None
            if (over := self._written()) is not None:
                return over

    def _written(self) -> tuple[str, str] | None:
        """Whether the folder holds more than its files may take together; looked at from time to time."""
        if self.folder is None or time.monotonic() - self.looked < _TICK:
            return None
        most = self.limits["file_bytes"]
        full = fuller_than(self.folder, most, _FILES)
        self.looked = time.monotonic()
        return ("too_large", f"more than {most} bytes, or {_FILES} files, in its folder") if full else None

    def _heard(self, data: bytes) -> tuple[str, str] | None:
        self.printed += len(data)
        self.shown += data[: max(0, _SHOWN - len(self.shown))]
        most = self.limits["output_bytes"]
        return ("too_large", f"more than {most} bytes of output") if self.printed > most else None

    def _drain(self) -> None:
        """What was printed before the answer is in the pipe by now."""
        os.set_blocking(self.output, False)
        with contextlib.suppress(BlockingIOError):
            if data := os.read(self.output, _CHUNK):
                self._heard(data)

    def _parse(self) -> tuple[str, str] | None:
        """The answer, if it is whole; refuses what does not begin like one."""
        if not self.got.startswith(READY):
            return None
        rest = self.got[len(READY) :]
        begin = self.nonce[: len(rest)]
        if not rest.startswith(begin):
            return "crash", "something else than the answer was written to its descriptor"
        head = len(self.nonce) + _HEAD
        if len(rest) < head:
            return None
        size = int.from_bytes(rest[len(self.nonce) : head], "big")
        if size > self.limits["value_bytes"] + 16:
            return "too_large", f"an answer of {size} bytes; at most {self.limits['value_bytes']}"
        if len(rest) < head + size:
            return None
        kind, _, text = rest[head : head + size].decode("ascii", "replace").partition("\n")
        return (kind, text) if kind in _TOLD else ("crash", "an answer of no known kind")

    def _gone(self) -> bool:
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _exit_code(self) -> int | None:
        """As ``subprocess`` has it; None when the process runs on. It stays a zombie, so that its pid stays its own."""
        deadline = time.monotonic() + _EXIT_GRACE
        while (ended := os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is None:
            if time.monotonic() > deadline:
                return None
            time.sleep(0.001)
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def _without_answer(self, code: int | None, usage: float) -> tuple[str, str]:
        if not self.got.startswith(READY):
            raise BrokenError(self.got.decode(errors="replace") or "its process ended before it was confined")
        if code is None:
            return "crash", "closed the descriptor of its answer"
        if code >= 0:
            return "crash", f"ended with exit code {code} and without an answer"
        if code == -signal.SIGXCPU or (code == -signal.SIGKILL and usage > self.limits["cpu_seconds"] - 0.5):
            return "timeout", f"processor time of {self.limits['cpu_seconds']} s used up"
        kind = "killed" if code == -signal.SIGKILL else "crash"
        return kind, f"ended by {signal.Signals(-code).name} after {usage:.1f} s of processor time"

    def end(self) -> float:
        """Kill every process of the call and wait until none is left; returns its first one's processor seconds."""
        os.kill(self.pid, signal.SIGKILL)
        if not self.group:
            # The kernel kills all others of the pid namespace before this one can be waited for.
            used = os.wait4(self.pid, 0)[2]
            return used.ru_utime + used.ru_stime
        seconds = 0.0
        while True:
            # As long as a child is left, the number of the group is taken by it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            try:
                pid, _, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return seconds
            if pid == self.pid:
                seconds = used.ru_utime + used.ru_stime
            elif pid == 0:
                time.sleep(0.001)
