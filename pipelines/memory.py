"""How much memory a run needs, all its processes together."""

import threading
from types import TracebackType

import psutil

_SECONDS = 10.0


class PeakMemory:
    """Samples the memory of this process and all that descend from it; shared pages count once (PSS)."""

    def __init__(self) -> None:
        self.peak = 0
        """Largest sample so far, in bytes; 0 where the system does not tell."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "PeakMemory":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        me = psutil.Process()
        while not self._stop.wait(_SECONDS):
            self.peak = max(self.peak, sum(proportional_bytes(p.pid) for p in [me, *me.children(recursive=True)]))


def proportional_bytes(pid: int) -> int:
    """Proportional set size of a process; 0 when it is gone or the system does not tell."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as lines:
            return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
    except (OSError, ValueError):
        return 0
