"""What a row's hidden checks are: the JSON object in ``reward_model.ground_truth``."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from components.core.errors import ContractError
from components.gold.ifeval import check_arguments

REMEDY = (
    'gold is an object such as {"word_list": "animals", "min_words": 5, "max_words": 40, "echo": true, '
    '"constraints": [{"id": "punctuation:no_comma", "kwargs": {}}]}'
)


@dataclasses.dataclass(frozen=True)
class GoldChecks:
    """The checks of one row.

    Attributes:
        word_list: name of a list in ``words/``; one of its words must occur. None: no such check.
        min_words: fewest words a response may have.
        max_words: most words a response may have.
        echo: whether a response that parrots the criterion is no success.
        constraints: (id, arguments) pairs of ``components.gold.ifeval``; all must be followed strictly.
    """

    word_list: str | None = None
    min_words: int = 1
    max_words: int = 10_000
    echo: bool = True
    constraints: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    @classmethod
    def parse(cls, value: object, *, where: str = "") -> "GoldChecks":
        """Read the checks from decoded JSON.

        Raises:
            ContractError: not an object, an unknown key, or a value of the wrong type or range.
        """

        def wrong(what: str) -> ContractError:
            return ContractError(f"gold: {what}", where=where, remedy=REMEDY)

        if not isinstance(value, Mapping):
            raise wrong(f"expected an object, got {type(value).__name__}")
        unknown = sorted(set(value) - {field.name for field in dataclasses.fields(cls)})
        if unknown:
            raise wrong(f"unknown key {unknown[0]!r}")
        word_list = value.get("word_list")
        if word_list is not None and not (isinstance(word_list, str) and word_list):
            raise wrong(f"word_list must be a name or null, got {word_list!r}")
        low, high = value.get("min_words", cls.min_words), value.get("max_words", cls.max_words)
        if type(low) is not int or type(high) is not int or not 0 <= low <= high:
            raise wrong(f"min_words and max_words must be whole numbers with 0 <= min <= max, got {low!r} and {high!r}")
        echo = value.get("echo", cls.echo)
        if not isinstance(echo, bool):
            raise wrong(f"echo must be true or false, got {echo!r}")
        constraints = value.get("constraints", [])
        if not isinstance(constraints, list):
            raise wrong(f"constraints must be a list, got {type(constraints).__name__}")
        pairs = []
        for constraint in constraints:
            if not isinstance(constraint, Mapping) or not {"id"} <= set(constraint) <= {"id", "kwargs"}:
                raise wrong(f"a constraint is an object with id and kwargs, got {constraint!r}")
            kwargs = constraint.get("kwargs", {})
            if not isinstance(constraint["id"], str) or not isinstance(kwargs, Mapping):
                raise wrong(f"a constraint's id is a string and its kwargs an object, got {constraint!r}")
            check_arguments(constraint["id"], kwargs, where=where)
            pairs.append((constraint["id"], dict(kwargs)))
        return cls(word_list, low, high, echo, tuple(pairs))

    def to_json_value(self) -> dict[str, Any]:
        """The object that :meth:`parse` reads back."""
        return {
            "word_list": self.word_list,
            "min_words": self.min_words,
            "max_words": self.max_words,
            "echo": self.echo,
            "constraints": [{"id": name, "kwargs": dict(kwargs)} for name, kwargs in self.constraints],
        }
