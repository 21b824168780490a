"""Programs by what they do rather than how they are spelled: syntax trees with their names made alike."""

import ast
import warnings
from typing import Final

from components.data.mixture.words import number_of

LONGEST: Final = 100_000
"""Characters of a program that is compared; parsing a longer one could take very much memory."""


def tree_number(source: str) -> int:
    """A number that programs share which differ only in layout, comments, docstrings and the names they define.

    Returns:
        64 bits of a hash; 0 for text that is no program.
    """
    if not source.strip() or len(source) > LONGEST:
        return 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
        return number_of(*_spelled(tree, _defined(tree))) or 1
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0


def _defined(tree: ast.AST) -> frozenset[str]:
    """Names that the program gives itself; those of built-in and imported things mean something."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.alias) and node.asname:
            found.add(node.asname)
    return frozenset(found)


def _spelled(tree: ast.AST, defined: frozenset[str]) -> list[str]:
    """The tree as texts, with its own names numbered in the order of their first use, and without docstrings."""
    names: dict[str, str] = {}
    found: list[str] = []

    def spell(node: object, field: str) -> None:
        if isinstance(node, ast.AST):
            found.append(type(node).__name__)
            for key in node._fields:
                spell(getattr(node, key, None), key)
            found.append(")")
        elif isinstance(node, list):
            found.append(f"[{field}")
            for each in node[1:] if field == "body" and node and _is_text(node[0]) else node:
                spell(each, field)
        elif isinstance(node, str) and field in _NAMED and node in defined:
            found.append(names.setdefault(node, f"v{len(names)}"))
        else:
            found.append(repr(node))

    spell(tree, "")
    return found


_NAMED: Final = frozenset({"name", "id", "arg", "asname"})


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
