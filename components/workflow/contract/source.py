"""From the program's text to its tree, within bounds."""

import ast
import hashlib
import re
from typing import Final

from components.workflow.contract.outcome import BrokenRule, InvalidReason

LONGEST: Final = 20_000
"""Characters of a program."""
_DEEPEST: Final = 50
"""Brackets open at once, brackets in strings included: what the parser tries again and again is nested."""
_MOST_NODES: Final = 6000
_LARGEST: Final = 1 << 4096
"""Whole numbers are below: Python writes none of more than 4,300 digits, although it reads them as hexadecimal."""
_DEEPEST_TREE: Final = 80
_SPECIAL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BRACKETS: Final = re.compile(r"[()\[\]{}]")


def parse(text: str) -> ast.Module:
    """The tree of a program.

    Raises:
        BrokenRule: ``too_long``, ``too_complex`` or ``syntax``; lines are the program's.
    """
    if len(text) > LONGEST:
        raise BrokenRule(InvalidReason.TOO_LONG, f"a program of {len(text)} characters; at most {LONGEST}")
    if strange := _SPECIAL.search(text):
        line = text.count("\n", 0, strange.start()) + 1
        raise BrokenRule(InvalidReason.SYNTAX, f"the control character {ord(strange.group()):#04x}", line)
    depth = 0
    for bracket in _BRACKETS.finditer(text):
        depth = depth + 1 if bracket.group() in "([{" else max(0, depth - 1)
        if depth > _DEEPEST:
            line = text.count("\n", 0, bracket.start()) + 1
            raise BrokenRule(InvalidReason.TOO_COMPLEX, f"more than {_DEEPEST} brackets are open", line)
    try:
        tree = ast.parse(text, "<workflow>")
    except SyntaxError as error:
        raise BrokenRule(InvalidReason.SYNTAX, str(error.msg), error.lineno) from None
    except (RecursionError, MemoryError):
        raise BrokenRule(InvalidReason.TOO_COMPLEX, "nested too deep for the parser") from None
    except ValueError as error:
        # Text that is no Unicode, or a number of too many digits.
        raise BrokenRule(InvalidReason.SYNTAX, str(error)) from None
    _bounded(tree)
    return tree


def _bounded(tree: ast.Module) -> None:
    """Level by level, so that nothing here is recursive."""
    level: list[ast.AST] = [tree]
    nodes = depth = 0
    while level:
        nodes, depth = nodes + len(level), depth + 1
        if nodes > _MOST_NODES or depth > _DEEPEST_TREE:
            at = getattr(level[0], "lineno", None)
            what = f"more than {_MOST_NODES} parts" if nodes > _MOST_NODES else f"nested deeper than {_DEEPEST_TREE}"
            raise BrokenRule(InvalidReason.TOO_COMPLEX, what, at)
        if huge := next((node for node in level if _is_huge(node)), None):
            raise BrokenRule(InvalidReason.SYNTAX, "a number of too many digits", getattr(huge, "lineno", None))
        level = [child for node in level for child in ast.iter_child_nodes(node)]


def _is_huge(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value >= _LARGEST


def compiles(text: str) -> None:
    """What only the compiler refuses, such as ``break`` outside a loop. Nothing is run.

    Raises:
        BrokenRule: ``syntax`` or ``too_complex``.
    """
    try:
        compile(text, "<workflow>", "exec", dont_inherit=True)
    except SyntaxError as error:
        raise BrokenRule(InvalidReason.SYNTAX, str(error.msg), error.lineno) from None
    except (RecursionError, MemoryError, OverflowError):
        raise BrokenRule(InvalidReason.TOO_COMPLEX, "too complex for the compiler") from None


def digest(tree: ast.Module) -> str:
    """SHA-256 of the program without comments, docstrings and layout, hexadecimal. Changes the tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and is_docstring(
            node.body[:1]
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return hashlib.sha256(repr(_told(tree)).encode("utf-8", "backslashreplace")).hexdigest()


def _told(value: object) -> object:
    """A node without its empty fields, so that those which newer versions of Python add make no difference."""
    if isinstance(value, list):
        return [_told(each) for each in value]
    if not isinstance(value, ast.AST):
        return value
    fields = ((name, each) for name, each in ast.iter_fields(value) if each is not None and each != [])
    return type(value).__name__, [(name, _told(each)) for name, each in fields]


def is_docstring(statements: list[ast.stmt]) -> bool:
    """Whether a body's first statement is text alone."""
    return (
        len(statements) > 0
        and isinstance(first := statements[0], ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
