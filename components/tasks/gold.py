"""Golds: what is known about the right answer of a task, and their one form as text."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from components.core.errors import ContractError
from components.core.identity import canonical_json
from components.core.unique_json import RepeatedKeyError, loads
from components.tasks.sets import DATASETS, Domain

Fact: TypeAlias = tuple[str, int]
"""A supporting fact of HotpotQA: the title of a paragraph, and the number of the sentence in it, from 0."""


@dataclasses.dataclass(frozen=True, slots=True)
class MathGold:
    r"""The answer of a mathematical problem.

    Attributes:
        dataset: gsm8k, math or custom_math.
        answer: as the source has it, such as ``\frac{1}{2}`` or ``1,024``; never blank.

    Raises:
        ContractError: the answer is blank, or the data set is of another domain.
    """

    dataset: str
    answer: str

    def __post_init__(self) -> None:
        _fits(self.dataset, "math")
        if not self.answer.strip():
            raise ContractError("the gold answer is blank", remedy="two missing answers are not equal: leave it out")


@dataclasses.dataclass(frozen=True, slots=True)
class QaGold:
    """The answers that people gave to a question.

    Attributes:
        dataset: squad2, hotpotqa or custom_qa.
        answers: any of them is right; none when the question cannot be answered from its context.
        supporting: HotpotQA's supporting facts; empty when they are not asked.

    Raises:
        ContractError: HotpotQA without exactly one answer, supporting facts of another set, or another domain.
    """

    dataset: str
    answers: tuple[str, ...]
    supporting: tuple[Fact, ...] = ()

    def __post_init__(self) -> None:
        _fits(self.dataset, "qa")
        if self.dataset == "hotpotqa" and len(self.answers) != 1:
            raise ContractError(f"{len(self.answers)} gold answers", remedy="a question of HotpotQA has exactly one")
        if self.supporting and self.dataset != "hotpotqa":
            raise ContractError(f"supporting facts for {self.dataset}", remedy="only hotpotqa has them")


@dataclasses.dataclass(frozen=True, slots=True)
class CodeGold:
    """The tests of a program.

    Attributes:
        dataset: humaneval, mbpp or custom_code.
        prompt: what the model was given; for HumanEval the source that its completion continues.
        entry_point: the function that HumanEval's ``check`` is called with; None for plain asserts.
        tests: source; HumanEval's defines ``check(candidate)``, MBPP's is its asserts.
        setup: source that runs after the answer and before the tests, as MBPP's two rows with setup need it.
        helpers: source that runs before the answer.

    Raises:
        ContractError: there are no tests, or the data set is of another domain.
    """

    dataset: str
    prompt: str
    entry_point: str | None
    tests: str
    setup: str = ""
    helpers: str = ""

    def __post_init__(self) -> None:
        _fits(self.dataset, "code")
        if not self.tests.strip():
            raise ContractError("there are no tests", remedy="a program that nothing tests cannot be right")


TaskGold: TypeAlias = MathGold | QaGold | CodeGold

_KINDS: Final[Mapping[Domain, type[MathGold] | type[QaGold] | type[CodeGold]]] = {
    "math": MathGold,
    "qa": QaGold,
    "code": CodeGold,
}


def to_json(gold: TaskGold) -> str:
    """The canonical text of a gold: equal golds have equal texts; fields at their defaults are left out."""
    found: dict[str, object] = {}
    for field in dataclasses.fields(gold):
        value = getattr(gold, field.name)
        if field.default is dataclasses.MISSING or value != field.default:
            found[field.name] = value
    return canonical_json(found)


def parse_gold(text: str, where: str = "") -> TaskGold:
    """Read what :func:`to_json` wrote.

    Args:
        text: the JSON object.
        where: the row, for errors.

    Raises:
        ContractError: it is no JSON, a key is unknown, missing or of another type, or the gold cannot be.
    """
    try:
        value = loads(text)
    except RepeatedKeyError as error:
        raise error.located(where) from error
    except (ValueError, RecursionError) as error:
        raise ContractError(f"the gold is no JSON: {error}", where=where, remedy="write it with to_json") from error
    return gold_of(value, where)


def gold_of(value: object, where: str = "") -> TaskGold:
    """A gold from decoded JSON, an object with the fields of :class:`MathGold`, :class:`QaGold` or :class:`CodeGold`.

    Raises:
        ContractError: a key is unknown, missing or of another type, or the gold cannot be.
    """
    if not isinstance(value, dict):
        raise ContractError(f"the gold must be an object, got {type(value).__name__}", where=where)
    name = value.get("dataset")
    if not isinstance(name, str) or name not in DATASETS:
        raise ContractError(f"gold: no data set is named {name!r}", where=where, remedy=f"one of {', '.join(DATASETS)}")
    kind = _KINDS[DATASETS[name].domain]
    fields = {field.name: field for field in dataclasses.fields(kind)}
    if unknown := sorted(set(value) - set(fields)):
        raise ContractError(f"gold of {name}: no key is named {unknown[0]!r}", where=where, remedy=", ".join(fields))
    for field in fields.values():
        if field.name not in value and field.default is dataclasses.MISSING:
            raise ContractError(f"gold of {name}: lacks {field.name!r}", where=where, remedy=", ".join(fields))
    given: dict[str, Any] = {key: _typed(name, key, each, where) for key, each in value.items()}
    try:
        return kind(**given)
    except ContractError as error:
        raise ContractError(f"gold of {name}: {error.what}", where=where, remedy=error.remedy) from error


def facts(value: object, where: str = "") -> tuple[Fact, ...]:
    """Supporting facts from decoded JSON: a list of [title, number of the sentence].

    Raises:
        ContractError: it is anything else.
    """
    if not isinstance(value, list | tuple):
        raise ContractError(f"supporting facts must be a list, got {type(value).__name__}", where=where)
    found: list[Fact] = []
    for each in value:
        match each:
            case [str(title), int(number)] if not isinstance(number, bool) and number >= 0:
                found.append((title, number))
            case _:
                what = f"a supporting fact must be [title, number of the sentence from 0], got {each!r}"[:300]
                raise ContractError(what, where=where)
    return tuple(found)


def _typed(name: str, key: str, value: object, where: str) -> object:
    def wrong(wanted: str) -> ContractError:
        return ContractError(f"gold of {name}: {key!r} must be {wanted}, got {value!r}"[:300], where=where)

    if key == "supporting":
        return facts(value, where)
    if key == "answers":
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise wrong("a list of texts")
        return tuple(value)
    if key == "entry_point" and value is None:
        return None
    if not isinstance(value, str):
        raise wrong("a text")
    return value


def _fits(name: str, wanted: Domain) -> None:
    if name not in DATASETS or DATASETS[name].domain != wanted:
        raise ContractError(f"{name!r} is no data set of domain {wanted}", remedy=f"one of {', '.join(DATASETS)}")
