"""The parent's side of one warden: starts it, asks it, ends it."""

import contextlib
import dataclasses
import json
import logging
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from components.core.errors import ServiceError
from components.sandbox.limits import Limits
from components.sandbox.outcome import JSON, Failure, FailureKind, Outcome, Value
from components.sandbox.runner import serve, start
from components.sandbox.runner.sweep import sweep

log = logging.getLogger(__name__)

LEVELS: Final = ("namespaces", "filter")
"""Kinds of isolation, the stronger first."""
_KINDS: Final = ("value", "broken", *(kind.value for kind in FailureKind))
_ENVIRONMENT: Final = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
_START_SECONDS: Final = 180.0
_HELLO_BYTES: Final = 1 << 16
_SWEEP_SECONDS: Final = 60.0
_GRACE_SECONDS: Final = 10.0
"""What a warden may take longer than the call's wall time: under load, to start and to end its processes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Prelude:
    """Trusted source that each call finds already run.

    Attributes:
        source: run once a warden; calls see its names.
        folders: added to where it imports from, such as a ``site-packages``; calls can read them.
    """

    source: str = ""
    folders: tuple[Path, ...] = ()


class GoneError(Exception):
    """The warden did not start, or ended, or does not answer."""


class Warden:
    """One warden process. For one thread at a time.

    Args:
        level: one of :data:`LEVELS`.
        prelude: run before all calls.

    Raises:
        GoneError: it did not start; the message says why.
    """

    def __init__(self, level: str, prelude: Prelude) -> None:
        self.level = level
        self._scratch = _scratch() if level == "filter" else ""
        self._channel, theirs = socket.socketpair()
        folders = [str(path.resolve()) for path in prelude.folders]
        options = {
            "level": level,
            "folders": [*{sys.base_prefix, os.path.realpath(sys.base_prefix), *map(str, prelude.folders), *folders}],
            "search": [str(path) for path in prelude.folders],
            "prelude": prelude.source,
            "scratch": self._scratch,
        }
        argv = [sys.executable, "-I", "-S", "-B", "-X", "utf8", start.__file__, json.dumps(options)]
        with theirs, tempfile.TemporaryFile() as errors:
            self._process = subprocess.Popen(
                argv,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=_ENVIRONMENT,
                cwd="/",
                start_new_session=True,
            )
            theirs.close()
            try:
                hello = self._receive(_START_SECONDS, _HELLO_BYTES)
            except GoneError:
                self.end()
                errors.seek(0)
                lines = errors.read().decode(errors="replace").strip().splitlines()
                raise GoneError(lines[-1] if lines else "it ended without a word") from None
        if "failed" in hello:
            self.end()
            raise GoneError(str(hello["failed"]))

    def call(
        self,
        source: str,
        call: str,
        arguments: list[JSON],
        limits: Limits,
        peer: socket.socket | None = None,
        *,
        leashed: bool = False,
    ) -> Outcome:
        """One call, which ends within its limits.

        Args:
            source, call, arguments: as :meth:`components.sandbox.sandbox.Sandbox.run` has them.
            limits: of the call.
            peer: a socket that the call gets; closed here.
            leashed: whether the call ends when the socket's other end is closed.

        Raises:
            GoneError: the warden ended or does not answer; it has been ended, and nothing is known about the call.
            ServiceError: the call's process could not be confined; the code was not run.
        """
        # Nobody who does not get this request can report on it, whatever they write to the channel.
        number = secrets.token_hex(16)
        request = {
            "id": number,
            "source": source,
            "call": call,
            "arguments": arguments,
            "limits": dataclasses.asdict(limits),
            "leashed": leashed,
        }
        self._channel.settimeout(_GRACE_SECONDS)
        try:
            serve.send(self._channel, request, peer)
        except OSError as error:
            self.end()
            raise GoneError(f"it takes no request: {error}") from error
        finally:
            if peer is not None:
                peer.close()
        # A character takes up to 6 as JSON.
        report = self._receive(limits.wall_seconds + _GRACE_SECONDS, 8 * limits.value_bytes + _HELLO_BYTES)
        if report.get("id") != number or not _is_report(report):
            self.end()
            raise GoneError("what came is no report on this call")
        if report["kind"] == "broken":
            raise ServiceError(f"the sandbox cannot confine a process: {report['text']}", where=f"level {self.level}")
        return outcome(report)

    def quiet(self) -> bool:
        """Whether it runs and has said nothing since its last report: only then it may be asked."""
        self._channel.setblocking(False)
        try:
            self._channel.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def end(self) -> None:
        """Kill it, and with it all that it runs."""
        self._channel.close()
        if self.level == "filter":
            # Without a namespace it has to kill its call's processes itself, and does when the channel hangs up.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE_SECONDS)
        self._process.kill()
        self._process.wait()
        if self._scratch:
            sweep(self._scratch, _SWEEP_SECONDS)
            try:
                os.rmdir(self._scratch)
            except FileNotFoundError:
                pass
            except OSError as error:
                log.warning("what untrusted code wrote is left in %s: %s", self._scratch, error)

    def _receive(self, seconds: float, most: int) -> dict[str, Any]:
        try:
            message = serve.receive(self._channel, most, seconds)
        except ValueError as error:
            self.end()
            raise GoneError(f"what came is no report: {error}"[:300]) from None
        except TimeoutError:
            self.end()
            raise GoneError(f"it gave no answer within {seconds:g} s") from None
        if message is None:
            self.end()
            raise GoneError("it ended")
        return message


def _scratch() -> str:
    """A folder in which others may enter the folders that they know, and see nothing."""
    try:
        folder = tempfile.mkdtemp(prefix="sandbox-")
        os.chmod(folder, 0o711)
    except OSError as error:
        raise GoneError(f"it gets no temporary folder: {error}") from error
    return folder


def _is_report(report: Mapping[str, Any]) -> bool:
    kind, text, seconds, output = (report.get(name) for name in ("kind", "text", "seconds", "output"))
    return kind in _KINDS and isinstance(text, str) and isinstance(seconds, float) and isinstance(output, str)


def outcome(report: Mapping[str, Any]) -> Outcome:
    """The outcome that a warden reports; the value comes from untrusted code, and is taken only as plain JSON."""
    kind, text, seconds, output = (report[name] for name in ("kind", "text", "seconds", "output"))
    if kind != "value":
        return Failure(FailureKind(kind), text, seconds, output)

    def refuse(name: str) -> float:
        raise ValueError(f"{name} is no JSON value")

    try:
        value: JSON = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        return Failure(FailureKind.BAD_RESULT, f"the answer is no JSON: {error}"[:300], seconds, output)
    return Value(value, seconds, output)
