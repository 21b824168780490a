"""Checks of verifiable instructions, for the constraint kinds used so far.

Semantics follow the published IFEval checkers (arXiv 2311.07911, code of google-research, instruction_following_eval),
their oddities included, so that figures compare. One thing differs: the two kinds of letter case do not detect the
language, as the original does and then counts a failing detector as success. An unknown kind and a missing or unknown
argument raise; they never count as followed.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from components.core.errors import ContractError

Check = Callable[..., bool]


def follows(kind: str, kwargs: Mapping[str, Any], response: str, *, loose: bool = False) -> bool:
    """Whether ``response`` follows one constraint.

    Args:
        kind: id of the constraint, such as ``length_constraints:number_words``.
        kwargs: its arguments; None values are dropped, since copies of the data pad with them.
        response: the response. An empty one follows nothing.
        loose: count it when any of eight variants follows: without its first line, its last line or both, each also
            with all stars removed.

    Raises:
        ContractError: the kind is unknown, or an argument is missing, unknown or of the wrong type.
    """
    given = {name: value for name, value in kwargs.items() if value is not None}
    check_arguments(kind, given)
    check = CHECKS[kind][0]
    variants = loose_variants(response) if loose else [response]
    return any(variant.strip() and check(variant, **given) for variant in variants)


def loose_variants(response: str) -> list[str]:
    """The eight texts of the loose criterion, the response itself first."""
    lines = response.split("\n")
    cut = [response, *("\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1]))]
    return [*cut, *(text.replace("*", "") for text in cut)]


def check_arguments(kind: str, kwargs: Mapping[str, Any], *, where: str = "") -> None:
    """Raise :class:`ContractError` unless ``kind`` is known and ``kwargs`` are exactly its arguments, rightly typed."""
    if kind not in CHECKS:
        raise ContractError(f"unknown constraint {kind!r}", where=where, remedy=f"one of: {', '.join(sorted(CHECKS))}")
    wanted = CHECKS[kind][1]
    given = {name for name, value in kwargs.items() if value is not None}
    missing, unknown = sorted(set(wanted) - given), sorted(given - set(wanted))
    if missing or unknown:
        raise ContractError(
            f"constraint {kind!r}: arguments missing {missing}, unknown {unknown}",
            where=where,
            remedy=f"it takes {', '.join(wanted) or 'none'}",
        )
    for name, test in wanted.items():
        if not test(kwargs[name]):
            raise ContractError(f"constraint {kind!r}: {name} cannot be {kwargs[name]!r}", where=where)


def _compare(count: int, relation: str, bound: int) -> bool:
    return count < bound if relation == "less than" else count >= bound


def _number_words(text: str, *, num_words: int, relation: str) -> bool:
    return _compare(len(re.findall(r"\w+", text)), relation, num_words)


def _existence(text: str, *, keywords: list[str]) -> bool:
    return all(re.search(keyword, text, re.IGNORECASE) for keyword in keywords)


def _forbidden(text: str, *, forbidden_words: list[str]) -> bool:
    return not any(re.search(rf"\b{word}\b", text, re.IGNORECASE) for word in forbidden_words)


def _frequency(text: str, *, keyword: str, frequency: int, relation: str) -> bool:
    return _compare(len(re.findall(keyword, text, re.IGNORECASE)), relation, frequency)


def _end(text: str, *, end_phrase: str) -> bool:
    return text.strip().strip('"').lower().endswith(end_phrase.strip().lower())


def _quotation(text: str) -> bool:
    text = text.strip()
    return len(text) > 1 and text[0] == text[-1] == '"'


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_relation(value: object) -> bool:
    return value in ("less than", "at least")


def _is_pattern(value: object) -> bool:
    if not isinstance(value, str) or not value.strip():
        return False
    try:
        re.compile(value)
    except re.error:
        return False
    return True


def _are_patterns(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_pattern(entry) for entry in value)


CHECKS: dict[str, tuple[Check, dict[str, Callable[[object], bool]]]] = {
    "length_constraints:number_words": (_number_words, {"num_words": _is_count, "relation": _is_relation}),
    "keywords:existence": (_existence, {"keywords": _are_patterns}),
    "keywords:forbidden_words": (_forbidden, {"forbidden_words": _are_patterns}),
    "keywords:frequency": (
        _frequency,
        {"keyword": _is_pattern, "frequency": _is_count, "relation": _is_relation},
    ),
    "punctuation:no_comma": (lambda text: "," not in text, {}),
    "change_case:english_lowercase": (str.islower, {}),
    "change_case:english_capital": (str.isupper, {}),
    "startend:end_checker": (_end, {"end_phrase": lambda value: isinstance(value, str) and bool(value.strip())}),
    "startend:quotation": (_quotation, {}),
}
"""Constraint id -> the check, and a test for each argument."""
