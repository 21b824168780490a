"""How a call of an operator fails: by the workflow's doing, by its budget, or by what no workflow can help."""

import enum

from components.core.errors import GavelError


class OperatorReason(enum.StrEnum):
    """Why an operator gave its workflow nothing. Each crosses to the workflow, which may catch it."""

    UNKNOWN_OPERATOR = "unknown_operator"
    """No operator has that name."""
    ARGUMENTS = "arguments"
    """An argument is missing, unknown, of another type or out of its range."""
    NO_TESTS = "no_tests"
    """The problem has no public tests."""
    TOO_LONG = "too_long"
    """The prompt does not fit the executor model."""
    EMPTY_REPLY = "empty_reply"
    """The executor model ended its reply before the first word, twice."""
    TRUNCATED = "truncated"
    """The executor model reached the limit of its reply before it had answered."""
    MISSING_FIELD = "missing_field"
    """The reply lacks a field, or its field is blank."""
    REPEATED_FIELD = "repeated_field"
    """The reply has a field twice, with different contents."""
    BAD_VALUE = "bad_value"
    """A field of the reply is not of its type, such as a verdict that is neither true nor false."""
    WRONG_LETTER = "wrong_letter"
    """The reply chooses no candidate that there is."""
    NO_CODE = "no_code"
    """The reply has no program that defines what was asked for."""
    PROGRAM_FAILED = "program_failed"
    """No program of the executor model came to a result."""


class OperatorError(GavelError):
    """A call of an operator failed by the doing of its workflow, or by what the executor model wrote.

    Args:
        reason: which way.
        what: one line for people and for the workflow; nothing of this machine is in it.
    """

    def __init__(self, reason: OperatorReason, what: str) -> None:
        super().__init__(what, where=f"operator error {reason.value}")
        self.reason = reason


class BudgetError(GavelError):
    """An execution went over its budget, which ends it as failed.

    Args:
        limit: calls, tokens, seconds or bytes.
        what: one line for people.
    """

    def __init__(self, limit: str, what: str) -> None:
        super().__init__(what, where=f"budget.{limit}")
        self.limit = limit


class AbstainError(GavelError):
    """Nothing is known about the workflow, because something failed that it cannot help: the execution abstains.

    Args:
        reason: one word, such as judge_down, timeout, refused or sandbox.
        what: one line for people.
    """

    def __init__(self, reason: str, what: str) -> None:
        super().__init__(what, where=f"abstained: {reason}")
        self.reason = reason
