"""What is written down about each local service, so that a later process finds exactly that one again."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from components.core.services.process import ProcessId
from components.core.store.disk import atomic


@dataclass(frozen=True)
class Service:
    """A local server that was seen healthy. ``ports`` holds its further ports by name."""

    name: str
    process: ProcessId
    """Its guard, which leads a session of its own."""
    supervisor: ProcessId
    """The command that it ends with."""
    fingerprint: str
    """Hash of how it was started."""
    port: int
    url: str
    log: str
    since: str
    ports: dict[str, int] = field(default_factory=dict)
    unlink: tuple[str, ...] = ()
    """Files that it leaves behind when it is killed."""
    grace: float = 5.0


def record_path(state: Path, name: str) -> Path:
    """Where a service is written down."""
    return state / "services" / f"{name}.json"


def write_record(state: Path, service: Service) -> None:
    """Write a service down."""
    values = {**asdict(service), "process": str(service.process), "supervisor": str(service.supervisor)}
    with atomic(record_path(state, service.name), 0) as stream:
        stream.write(json.dumps(values, indent=1, sort_keys=True).encode())


def read_record(state: Path, name: str) -> Service | None:
    """What is written down under a name; None when nothing is, or nothing that can be read."""
    try:
        values = json.loads(record_path(state, name).read_text())
        values["process"] = ProcessId.parse(values["process"])
        values["supervisor"] = ProcessId.parse(values["supervisor"])
        return Service(**{**values, "unlink": tuple(values["unlink"])})
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return None


def recorded_names(state: Path) -> list[str]:
    """Every name under which something is written down."""
    return sorted(path.stem for path in (state / "services").glob("*.json"))
