"""Locks that the kernel drops when their holder dies, however it dies."""

import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from components.core.errors import ServiceError
from components.core.services.process import ProcessId
from components.core.store.disk import translated

_POLL = 0.1


class FileLock:
    """An exclusive lock on a file, which says who holds it. Not for threads of one process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with translated(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = path.open("a+b")

    def acquire(self) -> bool:
        """Take the lock and sign it; False when another process has it."""
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        record = {
            "process": str(ProcessId.current()),
            "pid": os.getpid(),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": " ".join(sys.argv)[:200],
        }
        with translated(self.path):
            self._stream.truncate(0)
            self._stream.write(json.dumps(record).encode())
            self._stream.flush()
        return True

    def holder(self) -> str:
        """Who holds it, for people."""
        self._stream.seek(0)
        try:
            record = json.loads(self._stream.read())
            return f"pid {record['pid']} since {record['since']} ({record['command']})"
        except (ValueError, KeyError, TypeError):
            return "a process that has not signed yet"

    def release(self) -> None:
        """Give the lock back, if it is held."""
        self._stream.close()


@contextmanager
def waiting_lock(path: Path, name: str, limit: float = 300.0) -> Iterator[None]:
    """Hold the lock on starting or ending the service ``name``, waiting at most ``limit`` seconds.

    Raises:
        ServiceError: the limit passed.
    """
    lock, deadline = FileLock(path), time.monotonic() + limit
    try:
        while not lock.acquire():
            if time.monotonic() > deadline:
                raise ServiceError(
                    f"service {name} is being started or ended by {lock.holder()}",
                    where=str(path),
                    remedy="wait for that process, or end it",
                )
            time.sleep(_POLL)
        yield
    finally:
        lock.release()
