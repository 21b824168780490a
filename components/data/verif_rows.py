"""Rows with checkers and functions, as VerIF has them: plain columns, or JSON in ``reward_model.ground_truth``."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from components.core.errors import ContractError
from components.data.checkers import Checker, defines_check, derive_criteria, parse_checker
from components.data.faults import read_each
from components.data.reading import Found, make_item, merge_lines, text_of
from components.data.rowfile import Row, object_of, read_rows, unpacked
from components.data.turns import read_turns, unicode_text
from components.judge.rule import Rule
from components.judge.verdict import Criterion

Constraints = Literal["own", "all_to_judge", "soft_only"]

EXAMPLE: Final = (
    '{"id": 1, "prompt": "Write about rain.", "checkers": ["[rule] Digit: At least 20 words."], "functions": '
    '["def check_following(instruction, response):\\n    return len(response.split()) >= 20"]}'
)


def read_verif_rows(
    content: bytes, *, source: str, constraints: Constraints = "own", derive: bool = False
) -> list[Found]:
    """Every row of a file.

    Args:
        content: the file's bytes.
        source: its path or URL.
        constraints: who decides which lines; see :class:`components.core.spec.data.DataSpec`.
        derive: whether the judge's lines are derived as rubrics are, instead of one line a checker.

    Raises:
        ContractError: the file cannot be read, or rows cannot be used; names the first ten and the number of all.
    """
    return read_each(read_rows(content, source=source), row_reader(constraints, derive), source=source)


def row_reader(constraints: Constraints, derive: bool) -> Callable[[Row], Found]:
    """What reads one row; see :func:`read_verif_rows`."""

    def read(row: Row) -> Found:
        value, where = row.value, row.where
        counts: Counter[str] = Counter()
        turns = read_turns(value.get("prompt"), where=where)
        checkers = row_checkers(value, where)
        lines = constraint_lines(checkers, constraints, derive, counts, where=where)
        if not lines:
            raise ContractError(
                "the row has no constraint that the judge could decide"
                if constraints == "soft_only" or derive
                else "the row has no constraint",
                where=where,
                remedy="leave the row out of the file"
                + (", or set data.constraints: own or all_to_judge" if constraints == "soft_only" else ""),
            )
        item = make_item(turns, merge_lines(lines, counts, where=where))
        return Found(item, counts, text_of(value.get("data_source")), None, where)

    return read


def constraint_lines(
    checkers: list[Checker], constraints: Constraints, derive: bool, counts: Counter[str], *, where: str
) -> list[Criterion]:
    """The rubric's lines, one point each: those of the judge in the checkers' order, with rules in their places unless
    the judge's are derived, which then go first."""
    counts["soft_checkers"] += sum(checker.soft for checker in checkers)
    counts["rule_checkers"] += sum(not checker.soft for checker in checkers)
    by_judge = [checker for checker in checkers if checker.soft or constraints == "all_to_judge"]
    by_rule = [checker for checker in checkers if not checker.soft and constraints == "own"]
    counts["rule_checkers_left_out"] += len(checkers) - len(by_judge) - len(by_rule)
    counts["functions_without_check_following"] += sum(not defines_check(checker.function) for checker in by_rule)
    rules = [_rule_line(checker, where) for checker in by_rule]
    if derive:
        texts = derive_criteria(by_judge)
        counts["derived_criteria"] += len(texts)
        return [*(Criterion(text, 1.0, "llm", ("source:checkers", "verifier:llm")) for text in texts), *rules]
    if not rules:
        return [_judge_line(checker) for checker in by_judge]
    waiting = iter(rules)
    return [_judge_line(checker) if checker.soft else next(waiting) for checker in checkers]


def _judge_line(checker: Checker) -> Criterion:
    return Criterion(checker.text, 1.0, "llm", _tags(checker))


def _rule_line(checker: Checker, where: str) -> Criterion:
    if not checker.function.strip():
        raise ContractError(
            f"the function of {checker.text[:60]!r} is empty", where=where, remedy="give its source, or a [llm] checker"
        )
    rule = Rule.parse({"name": "python", "function": checker.function}, where=where)
    return Criterion(checker.text, 1.0, "rule", _tags(checker), rule)


def _tags(checker: Checker) -> tuple[str, ...]:
    kind = f"checker:{'llm' if checker.soft else 'rule'}"
    return (kind, f"category:{checker.category}") if checker.category else (kind,)


def row_checkers(row: Mapping[str, Any], where: str) -> list[Checker]:
    """The constraints of a row, at least one.

    Raises:
        ContractError: checkers or functions are no lists of texts, or not equally many, or a checker has no prefix.
    """
    holder = (
        row if row.get("checkers") is not None else object_of(object_of(row.get("reward_model")).get("ground_truth"))
    )
    lists = []
    for key in ("checkers", "functions"):
        found = unpacked(holder.get(key))
        if not isinstance(found, list) or not all(isinstance(entry, str) for entry in found):
            raise ContractError(f"key {key!r}: must be a list of texts", where=where, remedy=f"such as {EXAMPLE}")
        lists.append([unicode_text(entry, where=where) for entry in found])
    texts, functions = lists
    if len(texts) != len(functions):
        raise ContractError(
            f"{len(texts)} checkers and {len(functions)} functions", where=where, remedy="one function for each checker"
        )
    if not texts:
        raise ContractError("the row has no constraint", where=where, remedy=f"such as {EXAMPLE}")
    return [parse_checker(text, function, where=where) for text, function in zip(texts, functions, strict=True)]
