"""One HTTP call at a time, never repeated: for looking at an endpoint, where a repetition would hide what it does."""

import time
from typing import Self

from components.judge.carrier import Reader
from components.judge.failures import Failure
from components.judge.transport.reply import Reply, Trouble
from components.judge.transport.wire import HttpWire


class Once:
    """A :class:`components.judge.carrier.Carrier` that tries once and says what came.

    Args:
        endpoint: base URL without ``/v1``.
        key: bearer token, or None.
        timeout: seconds of one call.
    """

    def __init__(self, endpoint: str, *, key: str | None, timeout: float) -> None:
        self._timeout = timeout
        self._wire = HttpWire([endpoint.rstrip("/")], [key], None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._wire.close()

    async def post(
        self,
        path: str,
        body: bytes,
        *,
        tokens: int = 0,
        read: Reader | None = None,
        deadline: float | None = None,
    ) -> Reply | Failure:
        """See :class:`components.judge.carrier.Carrier`."""
        begun = time.monotonic()
        limit = self._timeout if deadline is None else max(0.01, min(self._timeout, deadline - begun))
        got = await self._wire.send("POST", 0, 0, path, body, limit, read)
        if isinstance(got, Trouble):
            return Failure(got.reason, got.detail, got.body, 1, 0, 0)
        seconds = time.monotonic() - begun
        return Reply(got.data, got.body, 1, seconds, served=seconds)
