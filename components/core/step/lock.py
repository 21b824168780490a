"""One process at a time on one identity."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from components.core.errors import StepError
from components.core.progress import Progress, clock_text
from components.core.services.filelock import FileLock

WAIT_VARIABLE = "GAVEL_LOCK_WAIT"
_DEFAULT_WAIT = 3600.0
_REMIND_SECONDS = 30.0


def lock_wait() -> float:
    """Seconds to wait for another process on the same identity: GAVEL_LOCK_WAIT, one hour by default.

    Raises:
        StepError: it is set to something that is no number.
    """
    text = os.environ.get(WAIT_VARIABLE) or str(_DEFAULT_WAIT)
    try:
        return float(text)
    except ValueError as error:
        raise StepError(f"not a number of seconds: {text!r}", where=WAIT_VARIABLE) from error


@contextmanager
def exclusive(path: Path, progress: Progress, limit: float) -> Iterator[None]:
    """Hold the lock file ``path``, waiting at most ``limit`` seconds for whoever holds it.

    Raises:
        StepError: the limit passed; the holder is named.
    """
    lock = FileLock(path)
    try:
        _wait(lock, progress, limit)
        yield
    finally:
        lock.release()


def _wait(lock: FileLock, progress: Progress, limit: float) -> None:
    began = time.monotonic()
    told: float | None = None
    while not lock.acquire():
        waited = time.monotonic() - began
        if waited >= limit:
            raise StepError(
                f"another process works on the same result: {lock.holder()}",
                where=str(lock.path),
                remedy=f"wait for it or end it (waited {clock_text(waited)}; {WAIT_VARIABLE} sets the limit)",
            )
        if told is None or waited - told >= _REMIND_SECONDS:
            progress.phase(f"waiting for another process on the same result: {lock.holder()}")
            told = waited
        time.sleep(min(0.2, max(0.01, limit - waited)))
