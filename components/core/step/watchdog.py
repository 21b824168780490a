"""Ends a step, and all that it started, when the command that supervises it is gone."""

import ctypes
import os
import sys
import threading
import time

from components.core.services.process import ProcessId, kill_descendants

SUPERVISOR_VARIABLE = "GAVEL_SUPERVISOR"
EXIT_ORPHANED = 70
_PR_SET_CHILD_SUBREAPER = 36


def supervisor() -> ProcessId | None:
    """The command that this process works for, from GAVEL_SUPERVISOR; None when nobody supervises (a cluster does)."""
    text = os.environ.get(SUPERVISOR_VARIABLE)
    return ProcessId.parse(text) if text else None


def start_watchdog(interval: float = 0.5) -> None:
    """Watch the supervisor from a thread; without one do nothing.

    When it is gone, descendants are killed and this process exits at once with status 70.
    """
    watched = supervisor()
    if watched is None:
        return
    _adopt_orphans()
    threading.Thread(target=_watch, args=(watched, interval), name="watchdog", daemon=True).start()


def _watch(watched: ProcessId, interval: float) -> None:
    while watched.alive():
        time.sleep(interval)
    sys.stderr.write(f"the supervising command (pid {watched.pid}) is gone: ending this step\n")
    sys.stderr.flush()
    kill_descendants()
    os._exit(EXIT_ORPHANED)


def _adopt_orphans() -> None:
    """On Linux, let grandchildren whose parent died become children of this process, so that they are found."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
