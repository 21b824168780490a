"""What an asker needs of the HTTP below it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol

from components.judge.failures import Failure

Reader = Callable[[AsyncIterator[bytes]], Awaitable[dict[str, Any]]]
"""Reads a streamed body; raises :class:`components.judge.failures.ReplyTrouble`."""


class Reply(Protocol):
    """A whole reply of status 200."""

    @property
    def data(self) -> dict[str, Any]:
        """The decoded body."""
        ...

    @property
    def body(self) -> bytes:
        """The body; of a stream, the JSON of what was put together."""
        ...

    @property
    def attempts(self) -> int:
        """Calls made."""
        ...

    @property
    def key(self) -> int:
        """Index of the API key, never the key."""
        ...

    @property
    def endpoint(self) -> int:
        """Index of the endpoint."""
        ...

    @property
    def served(self) -> float:
        """Seconds of the call that brought it, once it had its permit."""
        ...

    def used(self, tokens: int) -> None:
        """Correct the token bucket by what the server counted."""
        ...


class Carrier(Protocol):
    """Carries one call to the judge, with whatever patience it has."""

    async def post(
        self,
        path: str,
        body: bytes,
        *,
        tokens: int = 0,
        read: Reader | None = None,
        deadline: float | None = None,
    ) -> Reply | Failure:
        """POST ``body``.

        Args:
            path: route.
            body: JSON.
            tokens: the guess for the token bucket.
            read: for a streamed reply.
            deadline: time on the monotonic clock at which to give up; None follows the judge's limits.
        """
        ...
