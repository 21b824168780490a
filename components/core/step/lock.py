"""One process at a time on one identity."""

import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from components.core.errors import StepError
from components.core.progress import Progress, clock_text

WAIT_VARIABLE = "GAVEL_LOCK_WAIT"
_DEFAULT_WAIT = 3600.0
_REMIND_SECONDS = 30.0


def lock_wait() -> float:
    """Seconds to wait for another process on the same identity: GAVEL_LOCK_WAIT, one hour by default."""
    return float(os.environ.get(WAIT_VARIABLE) or _DEFAULT_WAIT)


@contextmanager
def exclusive(path: Path, progress: Progress, limit: float) -> Iterator[None]:
    """Hold the lock file ``path``, waiting at most ``limit`` seconds for whoever holds it.

    The kernel drops the lock when its holder dies, however it dies.

    Raises:
        StepError: the limit passed; the holder is named.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as stream:
        began = time.monotonic()
        told: float | None = None
        while not _try_lock(stream):
            waited = time.monotonic() - began
            holder = _holder(stream)
            if waited >= limit:
                raise StepError(
                    f"another process works on the same result: {holder}",
                    where=str(path),
                    remedy=f"wait for it or end it (waited {clock_text(waited)}; {WAIT_VARIABLE} sets the limit)",
                )
            if told is None or waited - told >= _REMIND_SECONDS:
                progress.phase(f"waiting for another process on the same result: {holder}")
                told = waited
            time.sleep(min(0.2, max(0.01, limit - waited)))
        _sign(stream)
        try:
            yield
        finally:
            stream.truncate(0)


def _try_lock(stream: BinaryIO) -> bool:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sign(stream: BinaryIO) -> None:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    stream.seek(0)
    stream.truncate(0)
    stream.write(json.dumps({"pid": os.getpid(), "since": since, "command": " ".join(sys.argv)[:200]}).encode())
    stream.flush()


def _holder(stream: BinaryIO) -> str:
    stream.seek(0)
    try:
        record = json.loads(stream.read())
        return f"pid {record['pid']} since {record['since']} ({record['command']})"
    except (ValueError, KeyError, TypeError):
        return "not yet signed"
