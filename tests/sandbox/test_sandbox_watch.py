"""What a call's end is called when the kernel ended it."""

import contextlib
import os
import resource
import signal
import socket
from collections.abc import Iterator

import pytest

from components.sandbox.runner.child import READY
from components.sandbox.runner.watch import Watch, counted_seconds

CPU_SECONDS = 1


class _ExactWatch(Watch):
    """The exact processor time of a busy machine: a good deal less than what the kernel counted for the limit."""

    def end(self) -> float:
        return 0.6 * min(CPU_SECONDS, super().end())


@contextlib.contextmanager
def _child(*, endless: bool) -> Iterator[_ExactWatch]:
    """A process that its limit kills, as number 1 of a namespace is: by SIGKILL, since SIGXCPU does not reach it."""
    (answer, theirs), output, (channel, other) = os.pipe(), os.pipe(), socket.socketpair()
    if (pid := os.fork()) == 0:
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        os.write(theirs, READY)
        while endless:
            pass
        os.kill(os.getpid(), signal.SIGKILL)
    os.close(theirs)
    limits = {"wall_seconds": 120.0, "cpu_seconds": CPU_SECONDS, "value_bytes": 10, "output_bytes": 10}
    with channel, other:
        yield _ExactWatch(pid, False, answer, output[0], channel.fileno(), b"nonce", limits)
    for descriptor in (answer, *output):
        os.close(descriptor)


def test_a_limit_of_processor_time_is_told_by_what_the_kernel_counted() -> None:
    with _child(endless=True) as watch:
        report = watch.report()
    assert (report["kind"], report["text"]) == ("timeout", f"processor time of {CPU_SECONDS} s used up")


def test_who_is_killed_early_was_killed_from_outside() -> None:
    with _child(endless=False) as watch:
        report = watch.report()
    assert report["kind"] == "killed"
    assert report["text"].startswith("ended by SIGKILL after")


def test_the_kernels_count_outlives_the_process_until_it_is_waited_for() -> None:
    with _child(endless=True) as watch:
        os.waitid(os.P_PID, watch.pid, os.WEXITED | os.WNOWAIT)
        assert counted_seconds(watch.pid) == pytest.approx(CPU_SECONDS, abs=0.2)
        os.waitpid(watch.pid, 0)
        assert counted_seconds(watch.pid) == 0.0
