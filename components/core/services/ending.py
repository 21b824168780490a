"""Ending exactly the processes that are a service."""

import os
import signal
import time
from contextlib import suppress

from components.core.services.process import descendants, kill_all
from components.core.services.record import Service

_POLL = 0.05


def terminate(service: Service) -> None:
    """Ask the guard to end its program; whatever is left after the grace is killed."""
    family = [service.process, *descendants(service.process)]
    with suppress(ProcessLookupError):
        os.kill(service.process.pid, signal.SIGTERM)
    deadline = time.monotonic() + service.grace + 3
    while service.process.alive() and time.monotonic() < deadline:
        time.sleep(_POLL)
    kill_all([*family, *descendants(service.process)])
    while any(process.alive() for process in family) and time.monotonic() < deadline + 5:
        time.sleep(_POLL)
