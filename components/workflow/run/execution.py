"""What came of running a workflow."""

import dataclasses
import enum

from components.workflow.types import Call, Cost


class Status(enum.StrEnum):
    """How an execution ended. What did not pass validation is not executed, and its status is ``invalid``."""

    ANSWERED = "answered"
    """It returned an answer; whether it is right is found out elsewhere."""
    INVALID = "invalid"
    """It was no workflow."""
    FAILED = "failed"
    """It ended without an answer by its own doing."""
    ABSTAINED = "abstained"
    """Nothing is known about it: the executor model or this machine failed."""


class FailReason(enum.StrEnum):
    """What an execution did that failed."""

    EXCEPTION = "exception"
    """It raised, or let an operator's error pass."""
    IMPORT_ERROR = "import_error"
    """It imported what is not there."""
    TIME_LIMIT = "time_limit"
    """Its own code took too long: processor time, or time with no call of an operator under way."""
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    """It printed, or answered, more than it may."""
    ENDED = "ended"
    """Its process ended before it had answered."""
    BAD_RETURN = "bad_return"
    """What it returned is no pair (answer, cost)."""
    NO_CALL = "no_call"
    """It returned without one output of an operator: what it answers, the policy said itself."""
    BUDGET = "budget"
    """It went over its budget of calls, tokens, seconds or bytes."""
    PROTOCOL = "protocol"
    """It wrote to its socket what no operator's call writes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Execution:
    """One execution.

    Attributes:
        status: how it ended.
        answer: as text; None unless answered.
        reason: one word, a :class:`FailReason` of what failed; of what abstained the word of what went wrong; None
            when answered.
        detail: the same for a reader; empty when answered.
        cost: as metered outside the sandbox, whatever the program says of it.
        claimed: the cost that the program returned, which counts for nothing; None unless answered.
        trace: its calls of operators, in the broker's order; also those that were refused, or had not ended.
        seconds: wall time.
    """

    status: Status
    answer: str | None
    reason: str | None
    detail: str
    cost: Cost
    claimed: float | None
    trace: tuple[Call, ...]
    seconds: float
