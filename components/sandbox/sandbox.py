"""The sandbox: calls untrusted functions, each in a process of its own, as many at once as there are wardens."""

import asyncio
import functools
import json
import logging
import os
import socket
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from components.core.errors import ServiceError
from components.sandbox.limits import Limits
from components.sandbox.outcome import JSON, Failure, FailureKind, Outcome
from components.sandbox.warden import LEVELS, GoneError, Prelude, Warden

log = logging.getLogger(__name__)

REQUEST_BYTES: Final = 64 << 20
"""Longest source with its arguments, as JSON; what is longer is a failure ``too_large``."""


class Sandbox:
    """Runs Python source that nobody vouches for. What holds on this machine: :func:`components.sandbox.isolation`.

    A call gets a fork of a warm interpreter that has run nothing but the prelude: it sees nothing of earlier calls,
    and nothing of it is left for later ones.

    Args:
        limits: of each call.
        concurrency: calls at once; None for as many as this process has cores.
        prelude: trusted source that calls find already run.
        level: kind of isolation; None for the strongest that this machine permits.

    Raises:
        ValueError: there is no such level.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        concurrency: int | None = None,
        prelude: Prelude | None = None,
        level: str | None = None,
    ) -> None:
        if level is not None and level not in LEVELS:
            raise ValueError(f"no such level: {level}; there are {', '.join(LEVELS)}")
        self.limits = limits or Limits()
        self.concurrency = concurrency or len(os.sched_getaffinity(0))
        self._prelude = prelude or Prelude()
        self._levels = LEVELS if level is None else (level,)
        self._idle: list[Warden] = []
        self._lock = threading.Lock()
        self._closed = False
        self._pid = os.getpid()
        self._executor = ThreadPoolExecutor(self.concurrency, thread_name_prefix="sandbox")

    async def run(
        self,
        source: str,
        call: str,
        arguments: Sequence[JSON] = (),
        *,
        peer: socket.socket | None = None,
        leashed: bool = False,
    ) -> Outcome:
        """Run ``source`` and call its function ``call``.

        Args:
            source: a module; may be empty when the prelude has the function.
            call: name of the function.
            arguments: of the call, JSON values.
            peer: a socket that the call finds as descriptor 4, such as one end of a pair whose other end another call
                has; closed here, whatever happens. When the call ends, its last copy is closed.
            leashed: whether the call is ended when the other end of ``peer`` is closed.

        Raises:
            ServiceError: the sandbox cannot be had on this machine, or is closed.
            ValueError: an argument is no JSON value.
        """
        try:
            return await self._checked(source, call, list(arguments), peer, leashed)
        finally:
            if peer is not None:
                peer.close()

    async def _checked(
        self, source: str, call: str, given: list[JSON], peer: socket.socket | None, leashed: bool
    ) -> Outcome:
        size = len(source) + len(json.dumps(given, allow_nan=False))
        if size > REQUEST_BYTES:
            detail = f"source and arguments of {size} bytes; at most {REQUEST_BYTES}"
            return Failure(FailureKind.TOO_LARGE, detail, 0.0)
        if self._closed:
            raise ServiceError("the sandbox is closed")
        if os.getpid() != self._pid:
            raise ServiceError(
                "the sandbox belongs to the process that this one was forked from", remedy="make another"
            )
        work = functools.partial(self._run, source, call, given, peer, leashed)
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    async def close(self) -> None:
        """End all its processes; calls under way end by their limits first. Calling it twice is harmless."""
        self._closed = True
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self._executor.shutdown()
        with self._lock:
            while self._idle:
                self._idle.pop().end()

    def start(self) -> str:
        """Start a warden ahead of the first call; returns the level that it got.

        Raises:
            ServiceError: no level can be had on this machine.
        """
        warden = self._executor.submit(self._take).result()
        self._give_back(warden)
        return warden.level

    def _run(self, source: str, call: str, arguments: list[JSON], peer: socket.socket | None, leashed: bool) -> Outcome:
        warden = self._take()
        try:
            outcome = warden.call(source, call, arguments, self.limits, peer, leashed=leashed)
        except GoneError as error:
            return Failure(FailureKind.KILLED, f"the call's warden: {error}", self.limits.wall_seconds)
        except BaseException:
            warden.end()
            raise
        self._give_back(warden)
        return outcome

    def _give_back(self, warden: Warden) -> None:
        with self._lock:
            self._idle.append(warden)

    def _take(self) -> Warden:
        while True:
            with self._lock:
                warden = self._idle.pop() if self._idle else None
            if warden is None:
                break
            if warden.quiet():
                return warden
            log.warning("a warden ended, or spoke without being asked, between two calls; another takes its place")
            warden.end()
        reasons = []
        for level in self._levels:
            try:
                warden = Warden(level, self._prelude)
            except GoneError as error:
                reasons.append(f"{level}: {error}")
            else:
                if reasons and len(self._levels) > 1:
                    log.warning("untrusted code is isolated at level %s only, not %s", level, "; ".join(reasons))
                self._levels = (level,)
                return warden
        raise ServiceError(
            "untrusted code cannot be isolated on this machine, so it is not run",
            where="; ".join(reasons),
            remedy="use Linux on x86_64 or aarch64 with seccomp (a container's default), better with user namespaces",
        )
