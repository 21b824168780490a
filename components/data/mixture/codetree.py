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
        named = _Alike(_defined(tree)).visit(tree)
        return number_of(ast.dump(named)) or 1
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


class _Alike(ast.NodeTransformer):
    """Numbers names in the order of their first use and removes docstrings."""

    def __init__(self, defined: frozenset[str]) -> None:
        self._defined = defined
        self._names: dict[str, str] = {}

    def _name(self, name: str) -> str:
        return self._names.setdefault(name, f"v{len(self._names)}") if name in self._defined else name

    def generic_visit(self, node: ast.AST) -> ast.AST:
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined]
        for key in ("name", "id", "arg", "asname"):
            value = getattr(node, key, None)
            if isinstance(value, str):
                setattr(node, key, self._name(value))
        return super().generic_visit(node)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
