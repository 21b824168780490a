"""Typed inputs and outputs of operators, and how what a workflow gives is checked against them."""

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Final

from components.sandbox.outcome import JSON
from components.workflow.errors import OperatorError, OperatorReason

_SHOWN: Final = 60
"""Characters of a wrong value that are told."""


class Kind(enum.StrEnum):
    """Types of fields, as Python writes them."""

    TEXT = "str"
    TEXTS = "list[str]"
    INTEGER = "int"
    BOOLEAN = "bool"


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """One input or output.

    Attributes:
        name: as workflows write it.
        kind: its type; an input is never a boolean.
        about: one line for the policy.
        default: of an input that may be left out; None where it must be given.
        least: of an integer; or of texts, how many there must be.
        most: likewise.
    """

    name: str
    kind: Kind
    about: str
    default: str | int | None = None
    least: int = 1
    most: int = 26

    @property
    def required(self) -> bool:
        """Whether an input must be given."""
        return self.default is None

    def signature(self) -> str:
        """As a parameter of Python."""
        return f"{self.name}: {self.kind}" + ("" if self.required else f" = {self.default!r}")

    def wrong(self, value: JSON) -> str | None:
        """Why a value is none of this field; None where it is one."""
        if self.kind is Kind.TEXT:
            return _wrong_text(value)
        if self.kind is Kind.BOOLEAN:
            return None if isinstance(value, bool) else f"must be True or False, got {_shown(value)}"
        if self.kind is Kind.INTEGER:
            if not isinstance(value, int) or isinstance(value, bool):
                return f"must be a whole number, got {_shown(value)}"
            if self.least <= value <= self.most:
                return None
            return f"must be from {self.least} to {self.most}, got {_shown(value)}"
        if not isinstance(value, list):
            return f"must be a list of texts, got {_shown(value)}"
        if not self.least <= len(value) <= self.most:
            return f"must have {self.least} to {self.most} texts, got {len(value)}"
        return next((f"text {place}: {bad}" for place, each in enumerate(value, 1) if (bad := _wrong_text(each))), None)


class Arguments:
    """The inputs of one call, checked and complete.

    Args:
        values: by name; each is of its field's type.
    """

    def __init__(self, values: Mapping[str, JSON]) -> None:
        self._values = values

    def text(self, name: str) -> str:
        """A text."""
        value = self._values[name]
        assert isinstance(value, str)
        return value

    def texts(self, name: str) -> list[str]:
        """A list of texts."""
        value = self._values[name]
        assert isinstance(value, list)
        return [each for each in value if isinstance(each, str)]

    def number(self, name: str) -> int:
        """A whole number."""
        value = self._values[name]
        assert isinstance(value, int)
        return value


def accept(operator: str, fields: Sequence[Field], given: Mapping[str, JSON]) -> Arguments:
    """The arguments of a call, with the defaults of those that it leaves out.

    Raises:
        OperatorError: one is unknown, missing, or not of its type.
    """
    known = {field.name: field for field in fields}

    def refused(what: str) -> OperatorError:
        signature = ", ".join(field.signature() for field in fields)
        return OperatorError(OperatorReason.ARGUMENTS, f"{operator}({signature}): {what}")

    for name in given:
        if name not in known:
            raise refused(f"there is no argument {_shown(name)}")
    values: dict[str, JSON] = {}
    for name, field in known.items():
        if name in given:
            if wrong := field.wrong(given[name]):
                raise refused(f"{name} {wrong}")
            values[name] = given[name]
        elif field.default is None:
            raise refused(f"{name} is missing")
        else:
            values[name] = field.default
    return Arguments(values)


def _wrong_text(value: JSON) -> str | None:
    if not isinstance(value, str):
        return f"must be a text, got {_shown(value)}"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "must be a text that UTF-8 can write, without surrogates"
    return None


def _shown(value: JSON) -> str:
    """A value for people; of what may be nested without end, the type alone."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a dictionary"
    shown = ascii(value) if not isinstance(value, int) or abs(value) < 1 << 64 else "a huge number"
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
