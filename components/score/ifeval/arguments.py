"""An instruction's arguments, taken by name and type. What is missing, left over or wrong raises."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from components.core.errors import ContractError
from components.score.ifeval.patterns import Pattern
from components.score.ifeval.variants import Tendency

Relation = Literal["less than", "at least"]


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound on a count: strictly less than it, or at least it."""

    relation: Relation
    count: int

    def holds(self, count: int) -> bool:
        """Whether a count keeps to it."""
        return count < self.count if self.relation == "less than" else count >= self.count

    @property
    def tendency(self) -> Tendency:
        """For counts that do not grow when a line is left out."""
        return Tendency.WANTS_LESS if self.relation == "less than" else Tendency.WANTS_MORE


class Arguments:
    """The arguments of one instruction.

    Args:
        given: the object as it stands in the file; nulls count as left out, since copies of the data pad with them.
        where: file, key and instruction, for errors.
    """

    def __init__(self, given: Mapping[str, Any], where: str) -> None:
        self._left = {name: value for name, value in given.items() if value is not None}
        self._where = where

    def count(self, name: str, least: int = 0, most: int | None = None) -> int:
        """A whole number."""
        value = self._take(name)
        if type(value) is not int or value < least or (most is not None and value > most):
            raise self._wrong(name, value, f"a whole number from {least} {'on' if most is None else f'to {most}'}")
        return value

    def character(self, name: str) -> str:
        """A single character."""
        value = self.text(name)
        if len(value) != 1:
            raise self._wrong(name, value, "a single character")
        return value

    def text(self, name: str) -> str:
        """A text that is not blank, without white space at its ends."""
        value = self._take(name)
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(name, value, "a text that is not blank")
        return value.strip()

    def pattern(self, name: str) -> str:
        """A text that is a regular expression, as keywords are."""
        return self._pattern(name, self.text(name))

    def patterns(self, name: str) -> tuple[str, ...]:
        """A list of regular expressions; not stripped, as published."""
        value = self._take(name)
        if not isinstance(value, list) or not value or not all(isinstance(one, str) and one.strip() for one in value):
            raise self._wrong(name, value, "a list of texts, none blank")
        return tuple(self._pattern(name, one) for one in value)

    def bound(self, relation: str, count: str) -> Bound:
        """A bound from two arguments."""
        value = self._take(relation)
        if value not in get_args(Relation):
            raise self._wrong(relation, value, "'less than' or 'at least'")
        return Bound(value, self.count(count))

    def done(self) -> None:
        """Every argument was taken.

        Raises:
            ContractError: one is left over.
        """
        if self._left:
            name = min(self._left)
            raise ContractError(
                f"argument {name!r} is not one that this instruction has",
                where=self._where,
                remedy="take it out, or check that kwargs and instruction_id_list stand in the same order",
            )

    def _take(self, name: str) -> Any:
        if name not in self._left:
            raise ContractError(
                f"argument {name!r} is missing",
                where=self._where,
                remedy="add it to this instruction's object in kwargs; without it nothing can be checked",
            )
        return self._left.pop(name)

    def _pattern(self, name: str, value: str) -> str:
        try:
            Pattern(value)
        except re.error as error:
            raise self._wrong(name, value, f"a regular expression ({error})") from error
        return value

    def _wrong(self, name: str, value: object, wanted: str) -> ContractError:
        return ContractError(f"argument {name!r} cannot be {value!r}", where=self._where, remedy=f"it must be {wanted}")
