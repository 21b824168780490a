"""Starting, adopting and ending local services."""

import os
import subprocess
import time
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

from components.core.errors import ServiceError
from components.core.progress import Progress
from components.core.services.ending import terminate
from components.core.services.filelock import waiting_lock
from components.core.services.health import is_healthy, log_tail
from components.core.services.ports import HOST, free_ports, require_free
from components.core.services.process import SUPERVISOR_VARIABLE, ProcessId, guarded, supervisor
from components.core.services.record import Service, read_record, record_path, recorded_names, write_record
from components.core.services.spec import ServiceSpec
from components.core.services.state import source_root

_PORT_ATTEMPTS = 3
_POLL = 0.1


class ServiceManager:
    """The local services of one state folder. They end with the supervising command, even if that is killed.

    Args:
        state: the state folder.
        owner: the supervising command; by default the one in GAVEL_SUPERVISOR, else this process.
    """

    def __init__(self, state: Path, owner: ProcessId | None = None) -> None:
        self.state = state
        self.owner = owner or supervisor() or ProcessId.current()
        self._children: list[subprocess.Popen[bytes]] = []

    def start(self, spec: ServiceSpec, progress: Progress | None = None) -> Service:
        """The service, healthy: the running one if it is what ``spec`` asks for, else a new one in its place.

        Raises:
            ServiceError: the port is taken, it died early, or it was not healthy in time; its log is quoted.
        """
        with self._lock(spec.name):
            running = self.find(spec.name)
            if running and self._adoptable(running, spec):
                return running
            self._end(spec.name)
            for attempt in range(1, _PORT_ATTEMPTS + 1):
                try:
                    return self._launch(spec, progress)
                except _PortLostError:
                    if spec.port is not None or attempt == _PORT_ATTEMPTS:
                        raise
        raise AssertionError("unreachable")

    def find(self, name: str) -> Service | None:
        """The running service of that name, if this state folder has one."""
        service = read_record(self.state, name)
        return service if service and service.process.alive() else None

    def running(self) -> list[Service]:
        """Every running service of this state folder."""
        return [service for name in recorded_names(self.state) if (service := self.find(name))]

    def end(self, name: str) -> bool:
        """End the recorded service, if it runs; whether it did."""
        with self._lock(name):
            return self._end(name)

    def end_all(self) -> list[str]:
        """End every recorded service; the names of those that ran."""
        return [name for name in recorded_names(self.state) if self.end(name)]

    def _adoptable(self, service: Service, spec: ServiceSpec) -> bool:
        same = service.fingerprint == spec.fingerprint and service.supervisor.same(self.owner)
        return same and is_healthy(service.url, spec.health)

    def _launch(self, spec: ServiceSpec, progress: Progress | None) -> Service:
        port, *others = free_ports(1 + len(spec.ports))
        if spec.port is not None:
            require_free(spec.port)
            port = spec.port
        names = {"port": port, **dict(zip(spec.ports, others, strict=True))}
        log = self.state / "logs" / f"{spec.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        unlink = spec.filled(spec.unlink, names)
        command = guarded(spec.filled(spec.argv, names), self.owner, grace=spec.grace, unlink=unlink)
        since = datetime.now(UTC).isoformat(timespec="seconds")
        with log.open("ab") as stream:
            stream.write(f"--- {since} {spec.name}\n".encode())
            stream.flush()
            offset = stream.tell()
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=self._environment(spec),
            )
        self._children.append(child)
        service = Service(
            name=spec.name,
            process=ProcessId.of(child.pid),
            supervisor=self.owner,
            fingerprint=spec.fingerprint,
            port=port,
            url=f"http://{HOST}:{port}",
            log=str(log),
            since=since,
            ports={name: names[name] for name in spec.ports},
            unlink=tuple(unlink),
            grace=spec.grace,
        )
        write_record(self.state, service)
        try:
            self._wait(service, spec, child, offset, progress)
        except BaseException:
            self._end(spec.name)
            raise
        return service

    def _environment(self, spec: ServiceSpec) -> dict[str, str]:
        paths = [str(source_root()), os.environ.get("PYTHONPATH", "")]
        return {
            **os.environ,
            **spec.env,
            SUPERVISOR_VARIABLE: str(self.owner),
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
            "PYTHONUNBUFFERED": "1",
        }

    def _wait(
        self,
        service: Service,
        spec: ServiceSpec,
        child: subprocess.Popen[bytes],
        offset: int,
        progress: Progress | None,
    ) -> None:
        log, began, told = Path(service.log), time.monotonic(), 0.0
        while True:
            status = child.poll()
            if status is not None:
                tail = log_tail(log, offset)
                kind = _PortLostError if "address already in use" in tail.lower() else ServiceError
                raise kind(
                    f"service {spec.name} ended with status {status} before it was ready; its last lines:\n{tail}",
                    where=service.log,
                )
            if is_healthy(service.url, spec.health):
                return
            waited = time.monotonic() - began
            if waited > spec.timeout:
                raise ServiceError(
                    f"service {spec.name} was not ready after {spec.timeout:.0f} s; its last lines:\n"
                    f"{log_tail(log, offset)}",
                    where=service.log,
                )
            if progress and waited - told > 5:
                told = waited
                progress.phase(f"waiting for {spec.name} ({waited:.0f} s; log: {service.log})")
            time.sleep(_POLL)

    def _end(self, name: str) -> bool:
        service = read_record(self.state, name)
        ran = bool(service and service.process.alive())
        if service and ran:
            terminate(service)
        for child in self._children:
            child.poll()
        for path in service.unlink if service else ():
            Path(path).unlink(missing_ok=True)
        record_path(self.state, name).unlink(missing_ok=True)
        return ran

    def _lock(self, name: str) -> AbstractContextManager[None]:
        return waiting_lock(self.state / "services" / f"{name}.lock", name)


class _PortLostError(ServiceError):
    """Another process took the port between our look and the service's."""


__all__ = ["Service", "ServiceManager", "ServiceSpec"]
