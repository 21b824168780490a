"""SIGTERM as an exception, so that what waits can be left in order."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

EXIT_TERMINATED = 143


class TerminatedError(BaseException):
    """The process was asked to end. No Exception: nothing on the way may take it for a failure of its own."""


@contextmanager
def terminable() -> Iterator[None]:
    """Within, SIGTERM raises :class:`TerminatedError` in the main thread; outside of that thread nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        # A second one changes nothing: the question whether the run was cancelled takes its time.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise TerminatedError

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
