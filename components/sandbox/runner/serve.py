"""The warden: a warm process without threads that forks one child a call. It never runs untrusted code itself."""

import contextlib
import gc
import importlib
import json
import os
import resource
import secrets
import select
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

from components.sandbox.runner import child, kernel, world
from components.sandbox.runner.sweep import sweep
from components.sandbox.runner.watch import AbandonedError, BrokenError, Watch

_COMMON: Final = (
    *(
        "bisect",
        "calendar",
        "collections",
        "copy",
        "datetime",
        "decimal",
        "difflib",
        "fractions",
        "functools",
        "hashlib",
    ),
    *("heapq", "html", "itertools", "math", "operator", "random", "re", "statistics", "string", "textwrap", "time"),
    *("typing", "unicodedata", "urllib.parse", "collections.abc", "dataclasses", "enum", "traceback"),
    *(
        "threading",
        "struct",
        "csv",
        "base64",
        "zlib",
        "cmath",
        "numbers",
        "array",
        "ast",
        "inspect",
        "pprint",
        "locale",
        "fcntl",
        "signal",
    ),
)
"""What untrusted code is likely to import: once here is sooner than in every call, and an unprivileged user that calls
run as may not be able to read the interpreter's folder."""
_FIRST_ID: Final = 0x70000000
"""User ids from here on are for calls, one a warden, where root can give them away."""


CHANNEL: Final = child.ANSWER
"""Descriptor of the warden's channel: the number that a call's answer then takes, so that no call can inherit it."""
_OPEN_FILES: Final = 1024
_SWEEP_SECONDS: Final = 0.25
"""Of removing files at once, with nothing else done meanwhile."""
_LONG_SWEEP_SECONDS: Final = 2.0
_LAST_SWEEP_SECONDS: Final = 60.0


def main() -> None:
    """Serve on the socket that is the standard input; the argument has the options as JSON."""
    options = json.loads(sys.argv[1])
    if options["level"] == "namespaces":
        # The kernel then ends the namespace's processes. Without one this process has to, when its channel hangs up.
        kernel.die_with_parent()
    channel = _channel()
    try:
        server = Server(options, channel)
    except OSError as error:
        send(channel, {"failed": str(error)})
        return
    send(channel, {"ready": True})
    server.serve()


def _channel() -> socket.socket:
    """The standard input moved to :data:`CHANNEL`, and nothing else open but the standard streams."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(_OPEN_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    os.dup2(0, CHANNEL, inheritable=False)
    kernel.close_from(CHANNEL + 1)
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return socket.socket(fileno=CHANNEL)


class Server:
    """Args:
        options: ``level``, ``folders`` (that may be read), ``search`` (of them, those that imports search),
            ``prelude`` (trusted source), ``scratch`` (a folder of its own for temporary folders that are no
            file systems).
        channel: where requests come from and reports go to.

    Raises:
        OSError: the level cannot be had here.
    """

    def __init__(self, options: Mapping[str, Any], channel: socket.socket) -> None:
        self._channel = channel
        self._namespaces = options["level"] == "namespaces"
        self._folders: list[str] = options["folders"]
        self._scratch: str = options["scratch"]
        self._left = False
        self._user = _FIRST_ID + os.getpid() if os.geteuid() == 0 else None
        if self._namespaces:
            if world.leave_host():
                self._user = None
            self._first_process()
            self._own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
            world.change_root(self._folders)
        else:
            kernel.adopt_orphans()
            kernel.hide_memory()
        for name in _COMMON:
            importlib.import_module(name)
        sys.path.extend(options["search"])
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        sys.stderr.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        self._base: dict[str, Any] = {"__name__": "prelude"}
        exec(compile(options["prelude"], "<prelude>", "exec", dont_inherit=True), self._base)
        self._base.pop("__builtins__", None)
        gc.collect()
        gc.freeze()

    def serve(self) -> None:
        """Answer requests until whoever asks is gone; then nothing is left of their files."""
        try:
            self._answer()
        finally:
            if not self._namespaces:
                sweep(self._scratch, _LAST_SWEEP_SECONDS)
                with contextlib.suppress(OSError):
                    os.rmdir(self._scratch)

    def _answer(self) -> None:
        while (received := receive_request(self._channel)) is not None:
            request, peer = received
            # Calls do not get it, so that it tells the parent which of its requests a report is for.
            own = {"id": request.pop("id")}
            try:
                reply = self._call(request, peer)
            except AbandonedError:
                return
            except BrokenError as error:
                reply = {"kind": "broken", "text": str(error), "seconds": 0.0, "output": ""}
            send(self._channel, reply | own)
            while self._left and not select.select([self._channel], [], [], 0)[0]:
                self._left = not sweep(self._scratch, _SWEEP_SECONDS)

    def _first_process(self) -> None:
        """Go on as the first process of the pid namespace; the present one waits for it."""
        pid = os.fork()
        if pid == 0:
            kernel.die_with_parent()
            return
        self._channel.close()
        _, status = os.waitpid(pid, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0x7F)

    def _call(self, request: Mapping[str, Any], peer: int | None) -> dict[str, Any]:
        answer_read, answer_write = os.pipe()
        output_read, output_write = os.pipe()
        nonce = secrets.token_bytes(16)
        with contextlib.ExitStack() as stack:
            stack.callback(os.close, answer_read)
            stack.callback(os.close, output_read)
            if peer is not None:
                # Not before the call's end: whoever holds the other end learns of it by this.
                stack.callback(os.close, peer)
            folder = world.FOLDER if self._namespaces else self._make_folder(stack)
            try:
                pid = self._fork(lambda: self._child(request, nonce, answer_write, output_write, peer, folder))
            finally:
                os.close(answer_write)
                os.close(output_write)
            group, channel = not self._namespaces, self._channel.fileno()
            watch = Watch(pid, group, answer_read, output_read, channel, nonce, request["limits"])
            watch.leash = peer if request["leashed"] else None
            watch.folder = None if self._namespaces else folder
            return watch.report()

    def _fork(self, work: Callable[[], NoReturn]) -> int:
        if self._namespaces:
            # A process can ask once for a pid namespace for its children, unless it has gone back to its own.
            kernel.setns(self._own, kernel.CLONE_NEWPID)
            kernel.unshare(kernel.CLONE_NEWPID)
        pid = os.fork()
        if pid:
            return pid
        try:
            work()
        finally:
            os._exit(70)

    def _child(
        self, request: Mapping[str, Any], nonce: bytes, answer: int, output: int, peer: int | None, folder: str
    ) -> NoReturn:
        try:
            os.dup2(output, 1)
            os.dup2(output, 2)
            # In the channel's place.
            os.dup2(answer, child.ANSWER, inheritable=False)
            if peer is not None and peer != child.PEER:
                os.dup2(peer, child.PEER, inheritable=False)
            kernel.close_from(child.ANSWER + 1 if peer is None else child.PEER + 1)
            os.environ.update({"HOME": folder, "TMPDIR": folder})
            tempfile.tempdir = folder
            child.confine(
                request["limits"],
                namespaces=self._namespaces,
                user=self._user,
                folder=folder,
                readable=[*self._folders, "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/urandom", "/dev/zero"],
            )
        except OSError as error:
            os.write(child.ANSWER, str(error).encode())
            os._exit(70)
        os.write(child.ANSWER, child.READY)
        child.answer(self._base, request["source"], request["call"], request["arguments"], nonce)

    def _make_folder(self, stack: contextlib.ExitStack) -> str:
        if self._left:
            # So that removing keeps up with making, when one call follows the other.
            self._left = not sweep(self._scratch, _LONG_SWEEP_SECONDS)
        folder = tempfile.mkdtemp(dir=self._scratch)
        stack.callback(self._discard, folder)
        if self._user is not None:
            try:
                os.chown(folder, self._user, self._user)
            except OSError:
                # The id does not exist in this container; another one will be taken.
                os.chmod(folder, 0o777)
        return folder

    def _discard(self, folder: str) -> None:
        """Remove a call's folder, or put it where no later call finds it; all the call's processes are gone."""
        os.rename(folder, os.path.join(self._scratch, secrets.token_hex(16)))
        self._left = not sweep(self._scratch, _SWEEP_SECONDS)


def send(channel: socket.socket, message: Mapping[str, Any], peer: socket.socket | None = None) -> None:
    """One message: its length in 4 bytes, and JSON; with its first byte goes the descriptor ``peer``."""
    data = json.dumps(message).encode()
    data = len(data).to_bytes(4, "big") + data
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        if peer is not None:
            socket.send_fds(channel, [data[:1]], [peer.fileno()])
            data = data[1:]
        channel.sendall(data)


def receive_request(channel: socket.socket) -> tuple[dict[str, Any], int | None] | None:
    """The next message and the descriptor that came with it; None at the end."""
    try:
        first, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
    except ConnectionResetError:
        return None
    peer = descriptors[0] if descriptors else None
    message = _message(channel, first, 0xFFFFFFFF, None) if first else None
    return None if message is None else (message, peer)


def receive(channel: socket.socket, most: int = 0xFFFFFFFF, seconds: float | None = None) -> dict[str, Any] | None:
    """The next message; None at the end.

    Args:
        channel: to read from.
        most: bytes of a message.
        seconds: until the whole message is there; None waits for ever.

    Raises:
        TimeoutError: they are over.
        ValueError: what came is no message.
    """
    return _message(channel, b"", most, None if seconds is None else time.monotonic() + seconds)


def _message(channel: socket.socket, begin: bytes, most: int, deadline: float | None) -> dict[str, Any] | None:
    head = _exactly(channel, 4 - len(begin), deadline)
    if head is None:
        return None
    size = int.from_bytes(begin + head, "big")
    if size > most:
        raise ValueError(f"a message of {size} bytes; at most {most}")
    body = _exactly(channel, size, deadline)
    if body is None:
        return None
    try:
        message = json.loads(body)
    except RecursionError as error:
        raise ValueError(str(error)) from error
    if not isinstance(message, dict):
        raise ValueError("a message that is no object")
    return message


def _exactly(channel: socket.socket, size: int, deadline: float | None) -> bytes | None:
    parts: list[bytes] = []
    while size:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            channel.settimeout(left)
        try:
            part = channel.recv(min(size, 1 << 20))
        except ConnectionResetError:
            return None
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
