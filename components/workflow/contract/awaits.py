"""Coroutines: that what an operator or an asynchronous helper gives is awaited before it is used."""

import ast
from collections.abc import Iterable
from typing import Final

from components.workflow.contract.outcome import BrokenRule, InvalidReason
from components.workflow.contract.scopes import Scopes

_GATHERING: Final = frozenset({"list", "tuple", "set", "reversed", "enumerate", "zip"})
_ADDING: Final = frozenset({"append", "add", "extend", "insert", "put_nowait"})
_KEEPING: Final = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred, ast.keyword, ast.BinOp, ast.NamedExpr)
_MAKING: Final = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def check_awaits(scopes: Scopes, coroutines: Iterable[ast.Call], asyncio_names: frozenset[str]) -> None:
    """Every one of these calls reaches an ``await``: itself, in a collection, through asyncio's functions, or by a name.

    Args:
        scopes: of the program.
        coroutines: calls that give a coroutine.
        asyncio_names: functions imported from asyncio by name.

    Raises:
        BrokenRule: ``missing_await``.
    """
    for call in coroutines:
        if not _Path(scopes, asyncio_names).awaited(call):
            told = ast.unparse(call.func)[:60]
            raise BrokenRule(InvalidReason.MISSING_AWAIT, f"the outcome of {told} is not awaited", call.lineno)


def helper_calls(scopes: Scopes, workflow: ast.ClassDef) -> list[ast.Call]:
    """Calls of the program's own asynchronous functions and methods."""
    methods = {each.name for each in workflow.body if isinstance(each, ast.AsyncFunctionDef)} - {"__call__"}
    own = set(workflow.body)
    functions = {
        each.name for each in ast.walk(scopes.tree) if isinstance(each, ast.AsyncFunctionDef) and each not in own
    }
    found = []
    for node in ast.walk(scopes.tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in functions:
            found.append(node)
        elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "self":
            if called.attr in methods:
                found.append(node)
    return found


class _Path:
    """Follows one coroutine outwards, and from name to name."""

    def __init__(self, scopes: Scopes, asyncio_names: frozenset[str]) -> None:
        self._scopes = scopes
        self._asyncio = asyncio_names
        self._seen: set[tuple[ast.AST, str]] = set()

    def awaited(self, node: ast.AST) -> bool:
        """Whether what this expression gives is awaited."""
        while True:
            parent = self._scopes.parent(node)
            if isinstance(parent, ast.Await | ast.Lambda | ast.YieldFrom | ast.Yield):
                return True
            if isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension):
                return parent.iter is node
            if isinstance(parent, ast.Return):
                return isinstance(self._scopes.function(parent), ast.FunctionDef)
            if isinstance(parent, ast.Assign | ast.AnnAssign | ast.AugAssign):
                targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
                return any(self._named(target) for target in targets)
            if isinstance(parent, ast.NamedExpr) and self._named(parent.target):
                return True
            if isinstance(parent, ast.Call) and parent.func is not node:
                if (adding := self._adding(parent.func)) is not None:
                    return adding
                if not self._hands_on(parent.func):
                    return False
            elif not isinstance(parent, _KEEPING):
                made = isinstance(parent, _MAKING) and node not in parent.generators
                chosen = isinstance(parent, ast.IfExp) and parent.test is not node
                if not (made or chosen):
                    return False
            node = parent

    def _hands_on(self, function: ast.expr) -> bool:
        """Whether a function gives back, or awaits later, what it is called with."""
        if isinstance(function, ast.Name):
            return function.id in _GATHERING or function.id in self._asyncio
        return isinstance(function, ast.Attribute) and (
            isinstance(function.value, ast.Name) and function.value.id == "asyncio"
        )

    def _adding(self, function: ast.expr) -> bool | None:
        """Whether what is added to a collection, or started in a group of tasks, is awaited; None for other calls."""
        if not isinstance(function, ast.Attribute):
            return None
        if function.attr == "create_task" and not self._hands_on(function):
            return True
        return self._named(function.value) if function.attr in _ADDING else None

    def _named(self, target: ast.expr) -> bool:
        """Whether what a name holds is awaited anywhere in the method; what an attribute holds is taken for so."""
        while isinstance(target, ast.Subscript | ast.Starred):
            target = target.value
        if isinstance(target, ast.Tuple | ast.List):
            return any(self._named(each) for each in target.elts)
        if not isinstance(target, ast.Name):
            return True
        scope = self._scopes.method(target)
        if (scope, target.id) in self._seen:
            return False
        self._seen.add((scope, target.id))
        return any(
            self._reached(each)
            for each in self._scopes.names[target.id]
            if isinstance(each.ctx, ast.Load) and self._scopes.method(each) is scope
        )

    def _reached(self, name: ast.Name) -> bool:
        """As ``awaited``, from a name on, and also from one part of the collection that it names."""
        parent = self._scopes.parent(name)
        taken = isinstance(parent, ast.Subscript) and parent.value is name and not _is_text(parent.slice)
        return self.awaited(parent if taken else name)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
