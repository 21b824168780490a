"""What operators return: that only keys are taken which there are, where the text alone tells."""

import ast
from collections.abc import Sequence
from typing import Final

from components.workflow.contract.operators import OperatorCall
from components.workflow.contract.outcome import BrokenRule, InvalidReason
from components.workflow.contract.scopes import Scopes

_DICT: Final = frozenset({"get", "items", "keys", "values", "copy", "pop", "update", "setdefault"})

Results = dict[tuple[ast.AST, str], set[str]]
"""Names that hold what operators returned and nothing else, by method: the keys that there may be."""


def check_outputs(scopes: Scopes, calls: Sequence[OperatorCall]) -> Results:
    """Names that hold a whole output.

    Raises:
        BrokenRule: ``operator_output``.
    """
    results: Results = {}
    holding: dict[tuple[ast.AST, str], int] = {}
    for each in calls:
        outputs = {name for signature in each.signatures for name in signature.outputs}
        awaited = scopes.parent(each.node)
        if not isinstance(awaited, ast.Await):
            continue
        _check_taken(scopes, awaited, outputs)
        parent = scopes.parent(awaited)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            key = scopes.method(parent), parent.targets[0].id
            results.setdefault(key, set()).update(outputs)
            holding[key] = holding.get(key, 0) + 1
    for key in list(results):
        places = [each for each in scopes.names[key[1]] if scopes.method(each) is key[0]]
        stored = sum(not isinstance(each.ctx, ast.Load) for each in places)
        if stored != holding[key]:
            del results[key]
            continue
        for place in places:
            if isinstance(place.ctx, ast.Load):
                _check_taken(scopes, place, results[key])
    return results


def _check_taken(scopes: Scopes, node: ast.expr, outputs: set[str]) -> None:
    """What is taken out of one output."""
    parent = scopes.parent(node)
    key: object = None
    if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Load):
        if not isinstance(parent.slice, ast.Constant):
            return
        key = parent.slice.value
    elif isinstance(parent, ast.Attribute) and parent.value is node:
        call = scopes.parent(parent)
        if parent.attr in _DICT:
            given = call.args[:1] if isinstance(call, ast.Call) and parent.attr in ("get", "pop") else []
            if not given or not isinstance(given[0], ast.Constant):
                return
            key = given[0].value
        else:
            key = f".{parent.attr}"
    else:
        return
    if key not in outputs:
        raise BrokenRule(
            InvalidReason.OPERATOR_OUTPUT,
            f"there is no {key!r} in what is returned; there is {', '.join(sorted(outputs))}",
            node.lineno,
        )
