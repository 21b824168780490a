"""What a pretended API server does wrong, and for which requests."""

import re
import threading
from dataclasses import dataclass, field


@dataclass
class Fault:
    """Applies to the next ``times`` requests whose "VERB PATH?QUERY" contains a match of ``pattern`` (verbs are RBAC's:
    get, list, watch, create, update, patch, delete), after letting ``skip`` of them through."""

    pattern: str
    times: int = 1
    skip: int = 0
    status: int | None = None
    """Refuse with this status before anything is done."""
    reason: str = ""
    """Of that refusal; by default the usual one."""
    retry_after: int | None = None
    """Seconds, as a header of the refusal."""
    delay: float = 0.0
    """Seconds before anything else."""
    lost: bool = False
    """Do what is asked, then cut the connection without an answer."""
    reset: bool = False
    """Cut the connection at once."""
    drop_after: int | None = None
    """Of a watch: cut the connection after this many events."""
    drop_seconds: float | None = None
    """Of a watch: cut the connection after this time."""
    hang: bool = False
    """Of a watch: send nothing, though there are changes, until it times out."""


@dataclass
class Faults:
    """The faults that are switched on."""

    active: list[Fault] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, pattern: str, **settings: object) -> Fault:
        """Switch a fault on; see ``Fault``."""
        fault = Fault(pattern, **settings)  # type: ignore[arg-type]
        with self._lock:
            self.active.append(fault)
        return fault

    def clear(self) -> None:
        """Switch all off."""
        with self._lock:
            self.active.clear()

    def take(self, request: str) -> Fault | None:
        """The fault for a request, used up by it."""
        with self._lock:
            for fault in self.active:
                if fault.times > 0 and re.search(fault.pattern, request):
                    if fault.skip > 0:
                        fault.skip -= 1
                        continue
                    fault.times -= 1
                    return fault
        return None
