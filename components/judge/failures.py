"""Why a call gave no verdict."""

import dataclasses

from components.judge.verdict import UnknownReason


@dataclasses.dataclass(frozen=True, slots=True)
class Failure:
    """A call, with all its repetitions, that failed for good.

    Attributes:
        reason: what the verdict will carry.
        detail: one line for people.
        body: the last reply body, if one came.
        attempts: calls made.
        key: index of the API key of the last call, never the key; None when none was made.
        endpoint: index of the endpoint of the last call; None when none was made.
        served: seconds of the calls that brought replies which came to nothing; 0 where none came.
    """

    reason: UnknownReason
    detail: str
    body: bytes | None = None
    attempts: int = 0
    key: int | None = None
    endpoint: int | None = None
    served: float = 0.0


class ReplyError(Exception):
    """A reply of status 200 that is not what was asked for.

    Args:
        detail: what is wrong with it.
    """


class ReplyTrouble(Exception):  # noqa: N818
    """Raised by the reader of a reply that began with status 200, where no whole reply came.

    Args:
        reason: what the verdict will carry.
        detail: one line for people.
        again: whether the same call may fare better.
        body: the part that said so, if one did.
    """

    def __init__(self, reason: UnknownReason, detail: str, again: bool, body: bytes | None = None) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.again = again
        self.body = body
