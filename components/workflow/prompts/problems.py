"""From a row of the PROMPTS contract to the problem that a workflow is called with. The gold answer stays behind."""

import ast
import builtins
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from components.tasks.gold import CodeGold, TaskGold, parse_gold
from components.tasks.sets import DATASETS
from components.workflow.prompts.examples_in import public_tests
from components.workflow.types import Problem

FOLDER: Final = Path(__file__).parent / "problems"
"""Templates of the texts that workflows are called with: the task alone, without words on how to write an answer."""


def problem_of(row: Mapping[str, Any]) -> Problem:
    """The problem of a row.

    Args:
        row: with ``extra_info.question``, which a workflow is called with, and ``reward_model.ground_truth``.

    Raises:
        ContractError: the row has no gold of a task.
    """
    info, reward = row["extra_info"], row["reward_model"]
    return problem(str(info["question"]), parse_gold(str(reward["ground_truth"]), where=f"row {info.get('id')}"))


def problem(text: str, gold: TaskGold) -> Problem:
    """The problem that a text poses.

    Public tests are what the text itself shows: all tests of MBPP and of rows of one's own with asserts, and of a
    function's head the examples in its docstring. The function's name is the gold's, or what the shown tests call.

    Args:
        text: what a workflow is called with.
        gold: of the row; its tests go along where the text has them, and not otherwise.
    """
    domain = DATASETS[gold.dataset].domain
    if not isinstance(gold, CodeGold):
        return Problem(domain, gold.dataset, text, None, None)
    if gold.entry_point is not None:
        return Problem(domain, gold.dataset, text, gold.entry_point, public_tests(text, gold.entry_point))
    if gold.tests.strip() not in text:
        return Problem(domain, gold.dataset, text, None, None)
    shown = "\n".join(part for part in (gold.setup, gold.tests) if part.strip())
    return Problem(domain, gold.dataset, text, called_by(gold.tests), shown)


def called_by(tests: str) -> str | None:
    """Name of the function that asserts are about: of those that each of them calls, the outermost that is no built-in
    one, else the outermost. None where there is none, or where the tests are no Python.
    """
    try:
        tree = ast.parse(tests)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    own = {name for node in ast.walk(tree) for name in _bound(node)}
    asserts = [list(_called(node)) for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    if not asserts:
        return None
    common = set.intersection(*map(set, asserts)) - own
    names = [name for name in asserts[0] if name in common]
    return next((name for name in names if not hasattr(builtins, name)), names[0] if names else None)


def _called(node: ast.AST) -> Iterator[str]:
    """Functions that are called by their names, the outermost first."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name):
            yield each.func.id


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name) for alias in node.names)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
