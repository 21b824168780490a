"""The return of ``__call__``: always one, and always a pair."""

import ast
from collections.abc import Iterator
from typing import Final

from components.workflow.contract.outcome import BrokenRule, InvalidReason
from components.workflow.contract.outputs import Results
from components.workflow.contract.scopes import Scopes

_INNER: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def check_returns(call: ast.AsyncFunctionDef, scopes: Scopes, results: Results) -> None:
    """Raises:
    BrokenRule: ``no_return`` or ``return_shape``.
    """
    found = 0
    for node in _own(call):
        if isinstance(node, ast.Yield | ast.YieldFrom):
            raise BrokenRule(InvalidReason.RETURN_SHAPE, "__call__ yields", node.lineno)
        if isinstance(node, ast.Return):
            found += 1
            _check_pair(node, scopes, results)
    if not found:
        raise BrokenRule(InvalidReason.NO_RETURN, "__call__ returns nothing", call.lineno)
    if not _leaves(call.body):
        raise BrokenRule(InvalidReason.NO_RETURN, "__call__ can come to its end without a return", call.body[-1].lineno)


def _check_pair(node: ast.Return, scopes: Scopes, results: Results) -> None:
    pair = node.value
    if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2 or any(isinstance(e, ast.Starred) for e in pair.elts):
        raise BrokenRule(InvalidReason.RETURN_SHAPE, "a return is no pair (answer, cost)", node.lineno)
    answer = pair.elts[0]
    if isinstance(answer, ast.Name) and (scopes.method(answer), answer.id) in results:
        raise BrokenRule(
            InvalidReason.RETURN_SHAPE, f"the answer is all of {answer.id}; take one of its keys", node.lineno
        )
    whole = (ast.Dict, ast.List, ast.Set, ast.Tuple, ast.ListComp, ast.DictComp, ast.SetComp, ast.Lambda)
    if isinstance(answer, whole) or (isinstance(answer, ast.Constant) and answer.value is None):
        raise BrokenRule(InvalidReason.RETURN_SHAPE, "the answer is no text", node.lineno)
    cost = pair.elts[1]
    if isinstance(cost, ast.Constant) and (isinstance(cost.value, bool) or not isinstance(cost.value, int | float)):
        raise BrokenRule(InvalidReason.RETURN_SHAPE, "the cost is no number", node.lineno)


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a function, but not those of functions in it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _INNER):
            waiting.extend(ast.iter_child_nodes(node))


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether a body's end is never reached. At most as deep as the tree may be."""
    return any(_ends(statement) for statement in body)


def _ends(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Return | ast.Raise):
        return True
    if isinstance(statement, ast.If):
        return _leaves(statement.body) and _leaves(statement.orelse)
    if isinstance(statement, ast.With | ast.AsyncWith):
        return _leaves(statement.body)
    if isinstance(statement, ast.Try | ast.TryStar):
        if _leaves(statement.finalbody):
            return True
        handled = all(_leaves(handler.body) for handler in statement.handlers)
        return handled and (_leaves(statement.body) or _leaves(statement.orelse))
    if isinstance(statement, ast.While):
        endless = isinstance(statement.test, ast.Constant) and bool(statement.test.value)
        return endless and not any(isinstance(node, ast.Break) for node in _loops_own(statement))
    if isinstance(statement, ast.Match):
        last = statement.cases[-1]
        complete = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
        return complete and all(_leaves(case.body) for case in statement.cases)
    return False


def _loops_own(loop: ast.While) -> Iterator[ast.AST]:
    """Nodes of a loop whose ``break`` would end this loop."""
    waiting: list[ast.AST] = list(loop.body)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            waiting.extend(node.orelse)
        elif not isinstance(node, _INNER):
            waiting.extend(ast.iter_child_nodes(node))
