"""Examples in a function's docstring, as tests that everybody may see."""

import ast
import builtins
import doctest
import re
from collections.abc import Iterator
from typing import Final

_ARROW: Final = re.compile(r"\s*(?:==>|=>|->|➞|==|returns|should return)\s*(.+)")
_DEEPEST: Final = 40
"""Brackets open at once, beyond which an example is left alone: the parser here meets texts of data sets."""
_WRONG: Final = frozenset({("median", "15.0"), ("bf", '("Venus")')})
"""Function and outcome of examples that HumanEval's own solutions contradict: in 47 the middle two of six numbers are 6
and 10, in 148 a tuple lacks its comma."""


def public_tests(source: str, entry_point: str) -> str | None:
    """Asserts that a docstring shows: examples as the standard library's doctest reads them, and lines such as
    ``f(1, 2) -> 3``. An example is left out where its outcome is no literal, or where it is about other names, too.

    Args:
        source: head of a function, with the functions before it.
        entry_point: the function's name.

    Returns:
        Source; None where nothing is shown.
    """
    told = _docstring(source, entry_point)
    if told is None:
        return None
    found = dict.fromkeys([*_doctests(told, entry_point), *_lines(told, entry_point)])
    return "\n".join(found) or None


def _docstring(source: str, entry_point: str) -> str | None:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == entry_point:
            return ast.get_docstring(node)
    return None


def _doctests(told: str, entry_point: str) -> Iterator[str]:
    try:
        examples = doctest.DocTestParser().get_examples(told)
    except ValueError:
        return
    for each in examples:
        if (test := _assert(each.source.strip(), each.want.strip(), entry_point)) is not None:
            yield test


def _lines(told: str, entry_point: str) -> Iterator[str]:
    for line in told.splitlines():
        begin = line.find(f"{entry_point}(")
        if begin < 0 or ">>>" in line[:begin]:
            continue
        end = _call_ends(line, begin + len(entry_point))
        match = _ARROW.match(line, end) if end is not None else None
        if match is None:
            continue
        for want in (match[1], match[1].rstrip(" .,;"), match[1].partition("#")[0].strip()):
            if (test := _assert(line[begin:end], want, entry_point)) is not None:
                yield test
                break


def _call_ends(line: str, at: int) -> int | None:
    """Behind the bracket that closes the one at ``at``; brackets in texts count, too, and spoil the example at most."""
    depth = 0
    for place in range(at, len(line)):
        depth += (line[place] in "([{") - (line[place] in ")]}")
        if not depth:
            return place + 1
    return None


def _assert(call: str, want: str, entry_point: str) -> str | None:
    if max(call.count("("), want.count("("), want.count("[")) > _DEEPEST or (entry_point, want) in _WRONG:
        return None
    try:
        tree = ast.parse(call, mode="eval")
        expected = ast.literal_eval(want)
        shown = ast.unparse(tree.body)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if entry_point not in names or not all(name == entry_point or hasattr(builtins, name) for name in names):
        return None
    return f"assert {shown} == {expected!r}"
