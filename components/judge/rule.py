"""A check by code that a rubric's line may name instead of a judge; what runs it is in ``components.rules``."""

import dataclasses
from collections.abc import Mapping
from typing import Final

from components.core.errors import ContractError

Argument = str | int | float | bool

ARGUMENTS: Final[Mapping[str, Mapping[str, type]]] = {
    "math_verify": {"answer": str},
    "word_count_range": {"min_count": int, "max_count": int},
    "python": {"function": str},
    "task": {"gold": str, "metric": str},
}
"""Each rule's arguments, all of them required. ``math_verify``: the response's last answer equals ``answer``;
``word_count_range``: its words are from ``min_count`` to ``max_count``, both included; ``python``: ``function`` is
source that defines ``check_following(instruction, response) -> bool``; ``task``: the response's answer is right by
``gold``, the JSON of a :data:`components.tasks.gold.TaskGold`, and counts by ``metric``."""

METRICS: Final = ("exact", "f1")
"""What an answer of rule ``task`` counts: 1 or 0, or for questions the F1 over its words."""

LONGEST_FUNCTION: Final = 256 << 10
"""Characters of a function's source; longer ones decide nothing. Parsing takes hundreds of times its size in memory."""

EXAMPLE: Final = '{"name": "word_count_range", "min_count": 20, "max_count": 40}'


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """One rule with its arguments.

    Attributes:
        name: a key of :data:`ARGUMENTS`.
        arguments: name and value, in the order of the names.
    """

    name: str
    arguments: tuple[tuple[str, Argument], ...]

    @classmethod
    def parse(cls, value: object, *, where: str = "") -> "Rule":
        """Read a rule from decoded JSON: an object of ``name`` and the rule's arguments.

        Raises:
            ContractError: not an object, an unknown rule, or arguments that are missing, unknown or of another type.
        """

        def wrong(what: str, remedy: str = f"such as {EXAMPLE}") -> ContractError:
            return ContractError(f"key 'rule': {what}", where=where, remedy=remedy)

        if not isinstance(value, Mapping):
            raise wrong(f"must be an object, got {type(value).__name__}")
        name = value.get("name")
        if not isinstance(name, str) or name not in ARGUMENTS:
            raise wrong(f"no rule is named {name!r}", f"known rules: {', '.join(ARGUMENTS)}")
        kinds = ARGUMENTS[name]
        given = {key: argument for key, argument in value.items() if key != "name"}
        needs = f"{name} takes exactly {', '.join(kinds)}"
        if missing := sorted(set(kinds) - set(given)):
            raise wrong(f"{name} lacks {missing[0]!r}", needs)
        if unknown := sorted(set(given) - set(kinds)):
            raise wrong(f"{name} does not know {unknown[0]!r}", needs)
        for key, kind in kinds.items():
            if type(given[key]) is not kind:
                raise wrong(f"{name}: {key!r} must be of type {kind.__name__}, got {given[key]!r}", needs)
        if name == "task" and given["metric"] not in METRICS:
            raise wrong(f"{name}: no metric is named {given['metric']!r}", f"known metrics: {', '.join(METRICS)}")
        if name == "word_count_range" and not 0 <= given["min_count"] <= given["max_count"]:
            raise wrong(f"{name}: no count lies from {given['min_count']} to {given['max_count']}", "0 <= min <= max")
        return cls(name, tuple(sorted(given.items())))

    def __getitem__(self, key: str) -> Argument:
        return dict(self.arguments)[key]

    def to_json_value(self) -> dict[str, Argument]:
        """The object that :meth:`parse` reads back."""
        return {"name": self.name, **dict(self.arguments)}
