"""VerIF's checkers, and the rubric that is derived from them.

A checker is ``[llm] Category: constraint`` or ``[rule] Category: constraint``; beside it stands a function's source,
which is read here, and never run.
"""

import ast
import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Final

from components.core.errors import ContractError
from components.judge.rule import LONGEST_FUNCTION

MOST: Final = 32
"""Criteria derived for one row at most."""
SHORTEST: Final = 20
"""Characters below which an item is a fragment and no criterion."""

_CHECKER: Final = re.compile(r"\s*\[(llm|rule)\]\s*(\S.*)", re.DOTALL)
_CATEGORY: Final = re.compile(r"([\w /&-]{1,60}):\s*\S", re.DOTALL)
_NUMBER: Final = re.compile(r"(?:(?<=\s)|^)(\d{1,2})[.)][ \t]+(?=\S)")


@dataclasses.dataclass(frozen=True, slots=True)
class Checker:
    """One constraint.

    Attributes:
        soft: whether a model decides it; else its function does.
        text: category and constraint, without the prefix.
        category: such as ``Keyword``; empty where the text names none.
        function: source of ``check_following(instruction, response)``.
    """

    soft: bool
    text: str
    category: str
    function: str


def parse_checker(text: str, function: str, *, where: str) -> Checker:
    """Take a checker apart.

    Raises:
        ContractError: it does not begin with [llm] or [rule], or nothing follows; or the function is longer than
            :data:`components.judge.rule.LONGEST_FUNCTION`.
    """
    if len(function) > LONGEST_FUNCTION:
        raise ContractError(
            f"the function of {text[:60]!r} has {len(function)} characters, more than {LONGEST_FUNCTION}",
            where=where,
            remedy="shorten it, or leave the row out of the file",
        )
    match = _CHECKER.fullmatch(text)
    if match is None:
        shown = text if len(text) <= 60 else f"{text[:60]}…"
        raise ContractError(
            f"the checker {shown!r} is not [llm] or [rule] with a text",
            where=where,
            remedy='such as "[llm] Tone: The response is polite."',
        )
    said = match[2].strip()
    category = _CATEGORY.match(said)
    return Checker(match[1] == "llm", said, category[1].strip() if category else "", function)


def derive_criteria(checkers: Sequence[Checker]) -> tuple[str, ...]:
    """The texts of a rubric.

    Numbered lists are split into their items; an item counts when it has at least :data:`SHORTEST` characters and a
    space, a colon or a semicolon; repetitions are left out; at most :data:`MOST` are kept. Where nothing is left, the
    constraints that the functions hand to their model are taken instead.

    Args:
        checkers: those that the judge is to decide.

    Returns:
        Perhaps nothing.
    """
    return _kept(checker.text for checker in checkers) or _kept(
        text for checker in checkers for text in asked_of_model(checker.function)
    )


def _kept(texts: Iterator[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for text in texts:
        for item in split_list(text):
            if len(item) >= SHORTEST and re.search(r"[ :;]", item):
                found.setdefault(" ".join(item.split()), item)
    return tuple(found.values())[:MOST]


def split_list(text: str) -> list[str]:
    """The items of a numbered list, else the text alone.

    A list counts up from 1 to at least 2, and its 1 begins a line, the text, or what follows a colon; numbers in
    running text make no list. What stands before the list is an item of its own, unless it ends with a colon and so
    only announces the list.
    """
    text = text.strip()
    starts: list[re.Match[str]] = []
    for match in _NUMBER.finditer(text):
        if not starts and not _opens(text, match.start()):
            continue
        if int(match[1]) == len(starts) + 1:
            starts.append(match)
    if len(starts) < 2:
        return [text] if text else []
    ends = [*(match.start() for match in starts[1:]), len(text)]
    items = [text[match.end() : end] for match, end in zip(starts, ends, strict=True)]
    head = text[: starts[0].start()].strip()
    return [item.strip() for item in ([] if head.endswith(":") else [head]) + items if item.strip()]


def _opens(text: str, place: int) -> bool:
    """Whether a place begins a line, but for white space, or follows a colon."""
    while place > 0 and text[place - 1] != "\n" and text[place - 1].isspace():
        place -= 1
    return place == 0 or text[place - 1] in "\n:"


def asked_of_model(source: str) -> list[str]:
    """The constraints in a function's calls of ``llm_score(instruction, response, constraint)``, by its syntax tree.

    Returns:
        Nothing for source that is no Python, has no such call, or builds its constraint while it runs.
    """
    tree = syntax_tree(source)
    if tree is None:
        return []
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or _called(node.func) != "llm_score":
            continue
        given = [*node.args[2:3], *(word.value for word in node.keywords if word.arg == "constraint")]
        found += [
            value.value.strip() for value in given if isinstance(value, ast.Constant) and type(value.value) is str
        ]
    return [text for text in found if text]


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def defines_check(source: str) -> bool:
    """Whether the source is Python that defines ``check_following`` at its top."""
    tree = syntax_tree(source)
    return tree is not None and any(
        isinstance(node, ast.FunctionDef) and node.name == "check_following" for node in tree.body
    )


def syntax_tree(source: str) -> ast.Module | None:
    """The tree of foreign source, which is not run; None for what cannot be parsed."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
