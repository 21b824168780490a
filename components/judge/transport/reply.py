"""What one call can end with."""

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

from components.judge.verdict import UnknownReason


class Signal(enum.Enum):
    """What a call says about the endpoint and the key that it used."""

    GOOD = enum.auto()
    """A whole reply."""
    ALIVE = enum.auto()
    """An answer that is of no use to the caller and says nothing against endpoint or key."""
    THROTTLED = enum.auto()
    """Too much for this key: 429."""
    UNAVAILABLE = enum.auto()
    """503: the endpoint is flooded or not up."""
    SLOW = enum.auto()
    """No whole reply within the time limit."""
    BROKEN = enum.auto()
    """The endpoint took the call up and failed: 5xx, or the connection broke."""
    UNREACHED = enum.auto()
    """The call never reached the endpoint."""
    KEY_REFUSED = enum.auto()
    """401, 403, or an account without means."""
    NOTHING = enum.auto()
    """The caller was cancelled."""


def _keep(_: int) -> None:
    """A reply without a token bucket has nothing to correct."""


@dataclasses.dataclass(frozen=True, slots=True)
class Reply:
    """A reply of status 200 whose body is a JSON object, or a stream that was read to its end.

    Attributes:
        data: the decoded body, or what the stream's reader made of it.
        body: the body as it came.
        attempts: calls made.
        seconds: from the request to the whole reply, waiting and repetitions included.
        key: index of the key that was used.
        endpoint: index of the endpoint that was used.
        served: seconds of the call that brought it, once it had its permit.
        settle: corrects the token bucket; see :meth:`used`.
    """

    data: dict[str, Any]
    body: bytes
    attempts: int
    seconds: float = 0.0
    key: int = 0
    endpoint: int = 0
    served: float = 0.0
    settle: Callable[[int], None] = dataclasses.field(default=_keep, repr=False, compare=False)

    def used(self, tokens: int) -> None:
        """Tell how many tokens it really took, in place of the estimate that was charged. Call it once."""
        self.settle(tokens)


@dataclasses.dataclass(frozen=True, slots=True)
class Good:
    """A call that brought what was asked for."""

    data: dict[str, Any]
    body: bytes


@dataclasses.dataclass(frozen=True, slots=True)
class Trouble:
    """One call that failed.

    Attributes:
        reason: what the verdict will carry if no repetition helps.
        detail: one line for people.
        signal: what it says about endpoint and key.
        again: whether a repetition may help.
        counts: whether it uses up an attempt; others are bounded by the deadline alone.
        wait: seconds that the server asked for.
        body: the body that came, if one did.
    """

    reason: UnknownReason
    detail: str
    signal: Signal
    again: bool
    counts: bool = True
    wait: float | None = None
    body: bytes | None = None
