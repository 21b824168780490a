"""What counts as a change of code."""

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.step.behaviour import behaviour
from components.core.step.source import ROOT

BASE = '"""Doc."""\n\nX = 1\n"""About X."""\n\n\ndef f(a):\n    """Doc."""\n    # why\n    return a + "#x"  # sum\n'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""Doc."""\n\nX', '"""Other.\n\nLonger.\n"""\n\nX'),
        ('"""About X."""\n', ""),
        ("    # why\n", ""),
        ("  # sum", "  # the sum of all"),
        ("\n\n\n", "\n"),
        ('    """Doc."""\n', "    '''Ü \"quoted\" # no comment'''\n"),
    ],
)
def test_words_about_the_code_do_not_count(old: str, new: str) -> None:
    assert old in BASE
    changed = BASE.replace(old, new, 1)
    assert behaviour(changed.encode()) == behaviour(BASE.encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [("X = 1", "X = 2"), ('"#x"', '"#y"'), ("a + ", "a  + "), ("    return", "    pass\n    return"), ("(a)", "(b)")],
)
def test_code_counts(old: str, new: str) -> None:
    assert old in BASE
    assert behaviour(BASE.replace(old, new).encode()) != behaviour(BASE.encode())


def test_strings_that_are_values_are_kept() -> None:
    source = 'X = (\n    "a # b"\n    "c"\n)\nf(\n    """d"""\n)\ny = f"{X} # e"\nZ = [\n    # gone\n    "kept",\n]\n'
    kept = behaviour(source.encode()).decode()
    for text in ('"a # b"', '"c"', '"""d"""', 'f"{X} # e"', '"kept"'):
        assert text in kept
    assert "gone" not in kept


class _Bare(ast.NodeTransformer):
    """Drops statements that are strings; a body left empty gets a ``pass``."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str) else node


def _tree(source: str) -> str:
    return ast.dump(_Bare().visit(ast.parse(source)))


@pytest.mark.parametrize("path", sorted((ROOT / "components").rglob("*.py")), ids=lambda path: path.name)
def test_our_own_sources_keep_all_their_code(path: Path) -> None:
    source = path.read_text()
    bare = behaviour(source.encode()).decode()
    try:
        left = _tree(bare)
    except IndentationError:
        # A body that was nothing but its docstring is empty now.
        return
    assert left == _tree(source)


@given(st.lists(st.sampled_from(["# c", "", "x = 1", "x = 'a'", '"""d"""', "if x:\n    # c\n    y = 2"]), max_size=8))
def test_taking_away_twice_is_taking_away_once(parts: list[str]) -> None:
    once = behaviour("\n".join(parts).encode() + b"\n")
    assert behaviour(once + b"\n" if once else b"") == once
