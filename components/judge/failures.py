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
    """

    reason: UnknownReason
    detail: str
    body: bytes | None = None
    attempts: int = 0


class ReplyError(Exception):
    """A reply of status 200 that is not what was asked for.

    Args:
        detail: what is wrong with it.
    """
