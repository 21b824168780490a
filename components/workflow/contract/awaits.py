"""Coroutines: that what an operator or an asynchronous helper gives is awaited before it is used."""

import ast
from collections.abc import Iterable
from typing import Final

from components.workflow.contract.outcome import BrokenRule, InvalidReason
from components.workflow.contract.scopes import Scopes

_AWAITABLE: Final = frozenset({"gather", "wait", "wait_for", "sleep", "shield"})
"""Functions of asyncio whose own outcome is to be awaited."""
_COLLECTING: Final = frozenset({"list", "tuple", "set", "reversed", "enumerate", "zip", "as_completed"})
_ADDING: Final = frozenset({"append", "add", "extend", "insert", "put_nowait"})
_TAKING: Final = {"values": False, "items": False, "copy": False, "pop": True, "get": True}
"""Methods of collections, and whether they give one part."""
_COLLECTIONS: Final = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_KEEPING: Final = (ast.Starred, ast.keyword, ast.BinOp, ast.NamedExpr)
_MAKING: Final = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def check_awaits(scopes: Scopes, coroutines: Iterable[ast.Call], asyncio_names: frozenset[str]) -> None:
    """Every one of these calls reaches an ``await``: itself, in a collection, through asyncio, or by a name.

    Args:
        scopes: of the program.
        coroutines: calls that give a coroutine.
        asyncio_names: functions imported from asyncio by name.

    Raises:
        BrokenRule: ``missing_await``.
    """
    for call in coroutines:
        if not _Path(scopes, asyncio_names).awaited(call):
            told = _told(call.func)[:60]
            raise BrokenRule(InvalidReason.MISSING_AWAIT, f"the outcome of {told} is not awaited", call.lineno)


def _told(called: ast.expr) -> str:
    """What is called, for people. Not as Python would write it: some texts within formatted ones it can only read."""
    if isinstance(called, ast.Name):
        return called.id
    if isinstance(called, ast.Attribute):
        return f"{_told(called.value)}.{called.attr}"
    return f"{_told(called.func)}(...)" if isinstance(called, ast.Call) else "(...)"


def other_coroutines(scopes: Scopes, workflow: ast.ClassDef, asyncio_names: frozenset[str]) -> list[ast.Call]:
    """Calls of the program's own asynchronous functions and methods, and of those of asyncio."""
    methods = {each.name for each in workflow.body if isinstance(each, ast.AsyncFunctionDef)} - {"__call__"}
    own = set(workflow.body)
    functions = {
        each.name for each in ast.walk(scopes.tree) if isinstance(each, ast.AsyncFunctionDef) and each not in own
    }
    calls = [node for node in ast.walk(scopes.tree) if isinstance(node, ast.Call)]
    return [each for each in calls if _is_own(each.func, functions, methods) or _is_asyncio(each.func, asyncio_names)]


def _is_own(called: ast.expr, functions: set[str], methods: set[str]) -> bool:
    if isinstance(called, ast.Name):
        return called.id in functions
    if not isinstance(called, ast.Attribute) or called.attr not in methods:
        return False
    return isinstance(called.value, ast.Name) and called.value.id == "self"


def _is_asyncio(called: ast.expr, asyncio_names: frozenset[str]) -> bool:
    if isinstance(called, ast.Name):
        return called.id in _AWAITABLE & asyncio_names
    if not isinstance(called, ast.Attribute) or called.attr not in _AWAITABLE:
        return False
    return isinstance(called.value, ast.Name) and called.value.id == "asyncio"


class _Path:
    """Follows a coroutine outwards, and from name to name. On the way it is single, to be awaited, or is kept in a
    collection, to be taken out or handed to asyncio as a whole.
    """

    def __init__(self, scopes: Scopes, asyncio_names: frozenset[str]) -> None:
        self._scopes = scopes
        self._asyncio = asyncio_names
        self._seen: set[tuple[ast.AST, str]] = set()

    def awaited(self, node: ast.AST, single: bool = True) -> bool:
        """Whether what this expression gives is awaited."""
        while True:
            parent = self._scopes.parent(node)
            if isinstance(parent, ast.Await | ast.Lambda | ast.YieldFrom | ast.Yield):
                return single
            if isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension):
                return parent.iter is node and not single and self._named(parent.target, single=True)
            if isinstance(parent, ast.Return):
                return isinstance(self._scopes.function(parent), ast.FunctionDef)
            if isinstance(parent, ast.Assign | ast.AnnAssign | ast.AugAssign):
                targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
                return any(self._named(target, single=single) for target in targets)
            if isinstance(parent, ast.NamedExpr) and self._named(parent.target, single=single):
                return True
            if isinstance(parent, ast.Call) and parent.func is not node:
                if (adding := self._adding(parent.func)) is not None:
                    return adding
                name = self._handed_to(parent.func)
                if name is None:
                    return False
                single = name not in _COLLECTING
            elif isinstance(parent, ast.Attribute) and not single and parent.attr in _TAKING:
                single = _TAKING[parent.attr]
                parent = self._scopes.parent(parent)
            elif isinstance(parent, _COLLECTIONS) or (isinstance(parent, _MAKING) and node not in parent.generators):
                single = False
            elif not isinstance(parent, _KEEPING) and not (isinstance(parent, ast.IfExp) and parent.test is not node):
                return False
            node = parent

    def _handed_to(self, function: ast.expr) -> str | None:
        """Name of a function that gives back, or awaits later, what it is called with; None for any other."""
        if isinstance(function, ast.Name):
            return function.id if function.id in _COLLECTING or function.id in self._asyncio else None
        if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
            return None
        return function.attr if function.value.id == "asyncio" else None

    def _adding(self, function: ast.expr) -> bool | None:
        """Whether what is added to a collection, or started in a group of tasks, is awaited; None for other calls."""
        if not isinstance(function, ast.Attribute):
            return None
        if function.attr == "create_task" and self._handed_to(function) is None:
            return True
        return self._named(function.value, single=False) if function.attr in _ADDING else None

    def _named(self, target: ast.expr, *, single: bool) -> bool:
        """Whether what a name holds is awaited anywhere in the method; what an attribute holds is taken for so."""
        while isinstance(target, ast.Subscript | ast.Starred):
            target, single = target.value, False
        if isinstance(target, ast.Tuple | ast.List):
            return any(self._named(each, single=True) for each in target.elts)
        if not isinstance(target, ast.Name):
            return True
        scope = self._scopes.method(target)
        if (scope, target.id) in self._seen:
            return False
        self._seen.add((scope, target.id))
        return any(
            self._reached(each, single=single)
            for each in self._scopes.names[target.id]
            if isinstance(each.ctx, ast.Load) and self._scopes.method(each) is scope
        )

    def _reached(self, name: ast.Name, *, single: bool) -> bool:
        """As ``awaited``, from a name on, or from the part that is taken out of the collection that it names."""
        parent = self._scopes.parent(name)
        if not single and isinstance(parent, ast.Subscript) and parent.value is name:
            return self.awaited(parent, not isinstance(parent.slice, ast.Slice))
        return self.awaited(name, single)
