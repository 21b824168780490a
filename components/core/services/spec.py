"""How a service is started."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from components.core.identity import digest
from components.core.services.health import Health


@dataclass(frozen=True)
class ServiceSpec:
    """How to start a service. ``{port}`` and, for each of ``ports``, ``{NAME}`` are filled in in argv and unlink."""

    name: str
    argv: Sequence[str]
    health: Health = "/health"
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to this process's environment."""
    port: int | None = None
    """None for any free one."""
    ports: Sequence[str] = ()
    """Names of further free ports."""
    timeout: float = 120.0
    """Seconds until it must be healthy."""
    grace: float = 5.0
    """Seconds from being asked to end to being killed."""
    unlink: Sequence[str] = ()

    @property
    def fingerprint(self) -> str:
        """Hash of everything that makes a running service the one that is wanted."""
        return digest([list(self.argv), dict(self.env), self.port, list(self.ports)])

    def filled(self, texts: Sequence[str], ports: Mapping[str, int]) -> list[str]:
        """The texts with the names of ports replaced by their numbers."""
        return [
            reduce(lambda done, name: done.replace("{" + name + "}", str(ports[name])), ports, text) for text in texts
        ]
