"""Rules that no response could ever be decided by, told by file and line before anything is trained on them."""

import ast
import textwrap
import warnings
from collections.abc import Iterable, Sequence
from typing import Final

from components.core.errors import ContractError
from components.core.faults import tell
from components.data.item import Item
from components.judge.rule import Rule
from components.tasks.gold import parse_gold

FUNCTION: Final = "check_following"
_LONGEST: Final = 20_000
"""Characters of source up to which it is parsed; longer ones are left to the sandbox, which alone runs any."""
_FENCES: Final = ("```", "~~~")


def check_decidable(items: Sequence[Item], *, source: str) -> None:
    """Look at every rule of ``items``.

    Args:
        items: as read from a file.
        source: its path or URL.

    Raises:
        ContractError: a function is no Python or does not define ``check_following`` at its top, an answer to compare
            with is empty, or a task's gold is none; names the first ten rows and the number of all.
    """
    faults = []
    for item in items:
        for criterion in item.criteria:
            trouble = None if criterion.rule is None else _trouble(criterion.rule)
            if trouble is not None:
                text = criterion.text if len(criterion.text) <= 60 else f"{criterion.text[:60]}…"
                faults.append(
                    ContractError(
                        f"the rule of {text!r} can decide nothing: {trouble}",
                        where=item.where or source,
                        remedy="correct it, give the line to the judge, or leave the row out of the file",
                    )
                )
                break
    tell(faults, of=len(items), source=source)


def _trouble(rule: Rule) -> str | None:
    if rule.name == "math_verify":
        return None if str(rule["answer"]).strip() else "its answer is empty"
    if rule.name == "task":
        try:
            parse_gold(str(rule["gold"]))
        except ContractError as error:
            return f"its gold cannot be read ({error.what})"
    if rule.name != "python":
        return None
    text = str(rule["function"])
    if FUNCTION not in text:
        return f"its function does not define {FUNCTION}"
    # The sandbox finds the source within Markdown.
    if len(text) > _LONGEST or any(fence in text for fence in _FENCES):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(textwrap.dedent(text.replace("\r\n", "\n")))
    except SyntaxError as error:
        return f"its function is no Python ({error.msg}, line {error.lineno})"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"its function is no Python ({type(error).__name__})"
    return None if _binds(tree.body) else f"its function does not define {FUNCTION} at its top"


def _binds(body: Iterable[ast.stmt]) -> bool:
    """Whether running the statements may give the name a value; what functions and classes hold does not count."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name == FUNCTION:
                return True
        elif any(
            (isinstance(inner, ast.Name) and inner.id == FUNCTION and isinstance(inner.ctx, ast.Store))
            or (isinstance(inner, ast.alias) and (inner.asname or inner.name) == FUNCTION)
            or (isinstance(inner, ast.FunctionDef | ast.ClassDef) and inner.name == FUNCTION)
            or (isinstance(inner, ast.Name) and inner.id in ("exec", "globals"))
            for inner in ast.walk(node)
        ):
            return True
    return False
