"""A thread that writes what others have put down."""

import threading
from collections.abc import Callable

DELAY = 0.2
"""Longest time in seconds that something waits to be written, so that one transaction serves many."""

ENOUGH = 512
"""Things that do not wait any longer."""

_PAUSE = 1.0
"""Seconds after a failure."""


class Writer:
    """Calls ``write`` a moment after something is waiting. The thread starts with the first thing.

    Args:
        name: of the thread.
        changed: guards what is waiting.
        waiting: number of things that wait; called with ``changed`` held.
        write: writes them, without ``changed`` held; False asks for a pause before it is tried again.
    """

    def __init__(
        self, name: str, changed: threading.Condition, waiting: Callable[[], int], write: Callable[[], bool]
    ) -> None:
        self._name = name
        self._changed = changed
        self._waiting = waiting
        self._write = write
        self._thread: threading.Thread | None = None
        self._stopped = False

    def added(self) -> None:
        """One more thing is waiting; called with ``changed`` held."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        elif self._waiting() in (1, ENOUGH):
            self._changed.notify_all()

    def stop(self) -> None:
        """End the thread after the write under way; what is waiting stays. Called without ``changed`` held."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting() or self._stopped)
                self._changed.wait_for(lambda: self._waiting() >= ENOUGH or self._stopped, DELAY)
                if self._stopped:
                    return
            if not self._write():
                with self._changed:
                    self._changed.wait_for(lambda: self._stopped, _PAUSE)
