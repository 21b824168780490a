"""What validation finds: a plan, or one named reason why there is none.

Standard library alone, as everything in this folder but ``validator.py``: the parser meets untrusted text in a sandbox.
"""

import dataclasses
import enum


class InvalidReason(enum.StrEnum):
    """Why a policy's text is no workflow. One is told: rules are looked at in this order, each over the whole text."""

    EMPTY = "empty"
    """Nothing but white space, behind the reasoning."""
    TOO_LONG = "too_long"
    """More characters than a response, or a program, may have."""
    NO_CODE = "no_code"
    """Neither a fenced block of Python nor a class Workflow."""
    UNCLOSED_FENCE = "unclosed_fence"
    """The block with the program never ends; most often the response was cut."""
    TOO_COMPLEX = "too_complex"
    """Nested deeper, or of more parts, than a program may be."""
    SYNTAX = "syntax"
    """No Python."""
    MODULE_STATEMENT = "module_statement"
    """Beside the class stands more than imports, constants and functions."""
    NO_WORKFLOW = "no_workflow"
    """There is no class Workflow."""
    SECOND_CLASS = "second_class"
    """There are more classes than the one."""
    CLASS_SHAPE = "class_shape"
    """The class has bases, decorators, or statements other than constants and methods."""
    CONSTRUCTOR = "constructor"
    """``__init__`` is missing or does not take (self, name, llm_config, dataset)."""
    NO_CALL = "no_call"
    """``__call__`` is missing."""
    NOT_ASYNC = "not_async"
    """``__call__`` is not declared with async."""
    CALL_ARGUMENTS = "call_arguments"
    """``__call__`` does not take (self, problem) or (self, problem, entry_point)."""
    IMPORT = "import"
    """A module that workflows do not get."""
    FORBIDDEN_NAME = "forbidden_name"
    """A name by which code looks into the interpreter, or a part of asyncio that starts processes or loops."""
    RESERVED_NAME = "reserved_name"
    """A name that the contract gives is bound to something else."""
    UNDEFINED_NAME = "undefined_name"
    """A name that nothing defines."""
    UNDEFINED_ATTRIBUTE = "undefined_attribute"
    """An attribute of self that nothing sets."""
    UNKNOWN_OPERATOR = "unknown_operator"
    """No operator has that name."""
    OPERATOR_USE = "operator_use"
    """An operator is neither built as the contract says, nor called."""
    OPERATOR_ARGUMENTS = "operator_arguments"
    """A call lacks an input, gives one twice, or gives one that the operator does not have."""
    MISSING_AWAIT = "missing_await"
    """The outcome of a coroutine is used, or dropped, without await."""
    OPERATOR_OUTPUT = "operator_output"
    """A key that the operator does not return."""
    NO_OPERATOR = "no_operator"
    """It calls no operator."""
    NO_RETURN = "no_return"
    """``__call__`` can end without a return."""
    RETURN_SHAPE = "return_shape"
    """A return of ``__call__`` is no pair (answer, cost)."""


class Form(enum.StrEnum):
    """How the program stands in the response."""

    EXACT = "exact"
    """One fenced block and nothing else, reasoning that ends apart."""
    MIXED = "mixed"
    """A fenced block beside other text or other blocks."""
    BARE = "bare"
    """No fence: the response is the program."""


@dataclasses.dataclass(frozen=True, slots=True)
class Invalid:
    """The text is no workflow.

    Attributes:
        reason: which rule it breaks.
        detail: the same for a reader, and for a policy that may try again.
        line: of the response, from 1; None where no one line is to blame.
    """

    reason: InvalidReason
    detail: str
    line: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Use:
    """A place where the program calls an operator.

    Attributes:
        operator: its name.
        line: of the response, from 1.
    """

    operator: str
    line: int


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """A program that keeps the contract. Whether it does anything sensible is found out by running it.

    Attributes:
        source: the program.
        form: how it stood in the response.
        takes_entry_point: whether ``__call__`` has a parameter of that name.
        uses: where operators are called, in the order of the text.
        digest: SHA-256 of the program without comments, docstrings and layout, hexadecimal.
    """

    source: str
    form: Form
    takes_entry_point: bool
    uses: tuple[Use, ...]
    digest: str


class BrokenRule(Exception):  # noqa: N818 (it is an answer, and no error of ours)
    """Ends validation with its outcome."""

    def __init__(self, reason: InvalidReason, detail: str, line: int | None = None) -> None:
        super().__init__(detail)
        self.invalid = Invalid(reason, detail.encode("utf-8", "backslashreplace").decode()[:300], line)
