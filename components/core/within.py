"""A limit on the whole of what a library does, where its own limits are those of one read each."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """What ``work`` returns or raises. It runs in a thread of its own, which is left to itself after the time: it keeps
    no process alive, and what it still does must do no harm.

    Raises:
        TimeoutError: it was not done within ``seconds``.
    """
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 (raised again by whoever waits)
            done.set_exception(error)

    threading.Thread(target=run, name="within", daemon=True).start()
    return done.result(seconds)
