"""Which isolation this machine gives, found out by trying to break it."""

import asyncio
import contextlib
import dataclasses
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from components.core.errors import ServiceError
from components.sandbox.limits import Limits
from components.sandbox.outcome import JSON, Value
from components.sandbox.sandbox import Sandbox

_ATTEMPTS: Final = (Path(__file__).parent / "attempts.py").read_text(encoding="utf-8")
_HELD_OPEN: Final = 300
"""Files open while the warden starts, so that what it inherits has a high number."""
_SAID: Final = {
    "network": "connects to a server on this machine",
    "signals": "signals a process outside",
    "notices": "has the kernel signal the process that runs it when a descriptor is ready",
    "datagrams": "sends datagrams to a local socket by its name",
    "cores": "says which cores that process may use",
    "priority": "sets that process's priority",
    "modes": "changes the mode of a file outside",
    "times": "changes the times of a file outside",
    "environment": "reads that process's environment in /proc",
    "memory": "opens that process's memory in /proc",
    "listing": "lists processes outside",
    "read": "reads a file outside that is readable by its owner alone",
    "write": "writes a file outside that anybody may write",
    "links": "writes it through a symbolic link",
    "devices": "makes a device file",
    "fork": "starts processes when it may have none",
    "privileges": "has capabilities, or the user id of the system's own files (root)",
    "namespaces": "enters new namespaces",
    "descriptors": "finds open what it was not given, in a process that has hundreds of files open",
    "leftovers": "finds what an earlier call wrote",
}
"""What the attempts in ``attempts.py`` try, as a reader is told."""


@dataclasses.dataclass(frozen=True, slots=True)
class Isolation:
    """What untrusted code cannot do on this machine, and what it can.

    Attributes:
        level: ``namespaces`` or ``filter``.
        prevented: names of the attempts that failed.
        possible: names of those that succeeded.
    """

    level: str
    prevented: tuple[str, ...]
    possible: tuple[str, ...]

    def __str__(self) -> str:
        """A few lines for reports."""
        means = {
            "namespaces": "own network, process, mount and IPC namespaces, a root of the interpreter's files alone, no "
            "capabilities, a filter over system calls, resource limits",
            "filter": "a filter over system calls, Landlock where the kernel has it, resource limits; no namespaces",
        }
        lines = [f"Untrusted functions ran at level {self.level}: {means[self.level]}."]
        if self.prevented:
            lines.append(f"Tried here and prevented: code {'; '.join(_SAID[name] for name in self.prevented)}.")
        lines.append(
            f"Tried here and possible: code {'; '.join(_SAID[name] for name in self.possible)}."
            if self.possible
            else "Nothing that was tried was possible."
        )
        return "\n".join(lines)


async def isolation(level: str | None = None) -> Isolation:
    """Try what untrusted code must not do.

    Args:
        level: kind of isolation to try; None for the strongest that this machine permits.

    Raises:
        ServiceError: this machine gives no isolation, and untrusted code is not run at all; or it was not found out.
    """
    sandbox = Sandbox(Limits(wall_seconds=20.0), concurrency=1, level=level)
    try:
        with contextlib.ExitStack() as stack:
            for _ in range(_HELD_OPEN):
                stack.callback(os.close, os.open(os.devnull, os.O_RDONLY))
            reached = await asyncio.to_thread(sandbox.start)
        found = await _try_all(sandbox)
    finally:
        await sandbox.close()
    return Isolation(
        reached,
        tuple(name for name in _SAID if not found[name]),
        tuple(name for name in _SAID if found[name]),
    )


async def _try_all(sandbox: Sandbox) -> dict[str, bool]:
    """Whether each attempt succeeded; one that ended its process did not."""
    mailbox = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    with tempfile.TemporaryDirectory() as folder, socket.socket() as server, mailbox, _victim() as victim:
        os.chmod(folder, 0o755)
        secret, target = (_file(folder, name, mode) for name, mode in (("secret", 0o600), ("target", 0o666)))
        server.bind(("127.0.0.1", 0))
        server.listen()
        mailbox.bind(b"\0sandbox-" + secrets.token_hex(8).encode())
        about: dict[str, JSON] = {
            "pid": os.getpid(),
            "victim": victim.pid,
            "mailbox": mailbox.getsockname().decode(),
            "port": server.getsockname()[1],
            "secret": secret,
            "target": target,
        }
        control = await sandbox.run(_ATTEMPTS, "control", [about])
        if not isinstance(control, Value):
            raise ServiceError("the attempts to break the isolation do not run in it", where=control.detail)
        found = {}
        # The first call leaves something behind for the last one to find.
        for name in ("leftovers", *_SAID):
            outcome = await sandbox.run(_ATTEMPTS, name, [about])
            found[name] = isinstance(outcome, Value) and outcome.value is True
        # In a container this process may have number 1, which in the sandbox's own namespace is another one.
        found["signals"] = found["signals"] and await asyncio.to_thread(_ends, victim)
        return found


@contextlib.contextmanager
def _victim() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that only waits, for a signal to be sent to."""
    with subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"]) as process:
        try:
            yield process
        finally:
            process.kill()


def _ends(process: "subprocess.Popen[bytes]") -> bool:
    try:
        process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        return False
    return True


def _file(folder: str, name: str, mode: int) -> str:
    path = Path(folder, name)
    path.write_text("of the process outside")
    path.chmod(mode)
    return str(path)
