"""The command that the user started: it owns the local services, and nothing local outlives it."""

import contextlib
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from components.core.errors import ServiceError
from components.core.services.filelock import FileLock
from components.core.services.manager import ServiceManager
from components.core.services.process import (
    SUPERVISOR_VARIABLE,
    ProcessId,
    adopt_orphans,
    descendants,
    kill_descendants,
)
from components.core.services.state import STATE_VARIABLE

LOCK_NAME = "lock"


@contextmanager
def claim(state: Path) -> Iterator[FileLock]:
    """Be the one command at work in a state folder for as long as the block lasts, however often it supervises inside.

    Raises:
        ServiceError: another command is at work there; it is named with its pid and since when.
    """
    state = state.absolute()
    lock = FileLock(state / LOCK_NAME)
    try:
        if not lock.acquire():
            raise ServiceError(
                f"another run is at work in this state folder: {lock.holder()}",
                where=str(state),
                remedy=f"wait for it, end it, or set {STATE_VARIABLE} to another folder",
            )
        yield lock
    finally:
        lock.release()


@contextmanager
def supervise(state: Path, claimed: FileLock | None = None) -> Iterator[ServiceManager]:
    """Be the one supervising command of a state folder.

    Left-overs of a supervisor that died are ended first. Inside, GAVEL_SUPERVISOR and GAVEL_STATE are set for child
    processes, and SIGTERM and SIGHUP end the block with SystemExit. At the end, however it comes, services and child
    processes end.

    Args:
        state: the folder.
        claimed: what :func:`claim` gave for it, where this command does more there than supervise once; it stays
            claimed at the end.

    Raises:
        ServiceError: another command is at work in this state folder.
    """
    with contextlib.nullcontext() if claimed else claim(state):
        yield from _supervised(state.absolute())


def _supervised(state: Path) -> Iterator[ServiceManager]:
    me = ProcessId.current()
    not_ours = descendants(me)
    manager = ServiceManager(state, me)
    before = {name: os.environ.get(name) for name in (SUPERVISOR_VARIABLE, STATE_VARIABLE)}
    asked: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        # As ctrl-C does: after anything else ``with Popen(...)``, in which KFP's runner waits, awaits the child's end.
        asked.append(number)
        raise KeyboardInterrupt

    handlers = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        manager.end_all()
        os.environ[SUPERVISOR_VARIABLE], os.environ[STATE_VARIABLE] = str(me), str(state)
        adopt_orphans()
        yield manager
    except KeyboardInterrupt:
        if asked:
            raise SystemExit(128 + asked[0]) from None
        raise
    finally:
        manager.end_all()
        kill_descendants(spare=not_ours)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        for number, handler in handlers.items():
            signal.signal(number, handler)
