"""How a call in the sandbox ended: with a value, or with a failure of a known kind."""

import dataclasses
import enum
from typing import TypeAlias

JSON: TypeAlias = bool | int | float | str | list["JSON"] | dict[str, "JSON"] | None


class FailureKind(enum.StrEnum):
    """Why there is no value."""

    TIMEOUT = "timeout"
    """Its processor time or its wall time was used up."""
    MEMORY = "memory"
    """It asked for more memory than it may have, and was told so."""
    CRASH = "crash"
    """Its process ended, or closed its answer's descriptor or wrote to it, before there was an answer."""
    KILLED = "killed"
    """Something outside killed it, such as a machine out of memory."""
    IMPORT_ERROR = "import_error"
    """A module that is not there."""
    EXCEPTION = "exception"
    """It raised, ``SystemExit`` and errors of syntax included."""
    BAD_RESULT = "bad_result"
    """It returned what JSON has no place for."""
    TOO_LARGE = "too_large"
    """Its answer or its output is longer than it may be, or what it was called with is."""


@dataclasses.dataclass(frozen=True, slots=True)
class Value:
    """The call returned.

    Attributes:
        value: what it returned, as JSON has it: a tuple is a list.
        seconds: wall time of the call, the start of its process included.
        output: the beginning of what it printed.
    """

    value: JSON
    seconds: float
    output: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Failure:
    """The call gave no value; nothing follows about what it would have returned.

    Attributes:
        kind: which limit or error ended it.
        detail: the same for a reader.
        seconds: wall time of the call.
        output: the beginning of what it printed.
    """

    kind: FailureKind
    detail: str
    seconds: float
    output: str = ""


Outcome: TypeAlias = Value | Failure
