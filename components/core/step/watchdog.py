"""Ends a step, and all that it started, when the command that supervises it is gone."""

import os
import threading
import time
from contextlib import suppress

from components.core.services.process import ProcessId, adopt_orphans, kill_descendants, supervisor

EXIT_ORPHANED = 70


def start_watchdog(interval: float = 0.5) -> None:
    """Watch the supervisor from a thread; without one do nothing.

    When it is gone, descendants are killed and this process exits at once with status 70.
    """
    watched = supervisor()
    if watched is None or watched.same(ProcessId.current()):
        return
    adopt_orphans()
    threading.Thread(target=_watch, args=(watched, interval), name="watchdog", daemon=True).start()


def _watch(watched: ProcessId, interval: float) -> None:
    while watched.alive():
        time.sleep(interval)
    # The supervisor may have been the only reader of this pipe.
    with suppress(OSError):
        os.write(2, f"the supervising command (pid {watched.pid}) is gone: ending this step\n".encode())
    kill_descendants()
    os._exit(EXIT_ORPHANED)
