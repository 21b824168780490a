"""Names: what may be imported and used, what the contract gives, and that everything used is defined."""

import ast
import builtins
import difflib
import symtable
from collections.abc import Iterator
from typing import Final

from components.workflow.contract.outcome import BrokenRule, InvalidReason

GIVEN: Final = ("operator", "create_llm", "OperatorError")
"""What a program finds defined: the operators, what makes the model's handle, and the error of an operator's call."""
IMPORTS: Final = frozenset(
    {"asyncio", "collections", "collections.abc", "decimal", "fractions", "functools", "heapq", "itertools", "json"}
    | {"math", "random", "re", "statistics", "string", "textwrap", "typing"}
)
ASYNCIO: Final = frozenset(
    {"gather", "wait", "wait_for", "sleep", "create_task", "ensure_future", "as_completed", "shield", "timeout"}
    | {"TaskGroup", "Task", "Future", "Semaphore", "BoundedSemaphore", "Lock", "Event", "Queue"}
    | {"TimeoutError", "CancelledError", "FIRST_COMPLETED", "FIRST_EXCEPTION", "ALL_COMPLETED"}
)
FORBIDDEN: Final = frozenset(
    {"eval", "exec", "compile", "open", "input", "breakpoint", "globals", "locals", "vars", "dir", "getattr"}
    | {"setattr", "delattr", "exit", "quit", "help", "copyright", "credits", "license", "memoryview", "super"}
)
"""Built-in names that no workflow needs. The sandbox is what keeps code in; this keeps programs readable by rules."""
_METHODS: Final = frozenset({"__init__", "__call__"})
_BUILTINS: Final = frozenset(name for name in dir(builtins) if not name.startswith("_")) - FORBIDDEN


def check_names(tree: ast.Module) -> None:
    """Raises:
    BrokenRule: ``import`` or ``forbidden_name``.
    """
    for node in ast.walk(tree):
        line = getattr(node, "lineno", None)
        if isinstance(node, ast.Import):
            for alias in node.names:
                _importable(alias.name, line)
                if alias.name == "asyncio" and alias.asname not in (None, "asyncio"):
                    raise BrokenRule(InvalidReason.IMPORT, "asyncio is imported under its own name", line)
        elif isinstance(node, ast.ImportFrom):
            _importable("." * node.level + (node.module or ""), line)
            for alias in node.names:
                _importable_part(str(node.module), alias, line)
        for name in _said(node):
            if name.startswith("__") and name not in _METHODS:
                raise BrokenRule(InvalidReason.FORBIDDEN_NAME, f"{name} is not for workflows", line)
        if isinstance(node, ast.Attribute):
            if node.attr.startswith("__") or node.attr in ("format_map", "mro"):
                raise BrokenRule(InvalidReason.FORBIDDEN_NAME, f"the attribute {node.attr} is not for workflows", line)
            if isinstance(node.value, ast.Name) and node.value.id == "asyncio" and node.attr not in ASYNCIO:
                raise BrokenRule(InvalidReason.FORBIDDEN_NAME, f"asyncio.{node.attr} is not for workflows", line)


def _importable(module: str, line: int | None) -> None:
    if module == "operator":
        raise BrokenRule(InvalidReason.IMPORT, "operator is given, and not imported", line)
    if module not in IMPORTS:
        raise BrokenRule(
            InvalidReason.IMPORT, f"{module} is not among what may be imported: {', '.join(sorted(IMPORTS))}", line
        )


def _importable_part(module: str, alias: ast.alias, line: int | None) -> None:
    if alias.name == "*" or alias.name.startswith("_"):
        raise BrokenRule(InvalidReason.IMPORT, f"{alias.name} is imported from {module}; name what is used", line)
    if module == "asyncio" and (alias.name not in ASYNCIO or alias.asname not in (None, alias.name)):
        raise BrokenRule(InvalidReason.IMPORT, f"asyncio.{alias.name} is not for workflows, or is renamed", line)


def _said(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.alias):
        yield node.asname or ""
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        yield node.name or ""
    elif isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names
    elif isinstance(node, ast.keyword):
        yield node.arg or ""


def check_defined(text: str, tree: ast.Module, workflow: ast.ClassDef) -> None:
    """Raises:
    BrokenRule: ``reserved_name``, ``forbidden_name``, ``undefined_name``, ``undefined_attribute`` or ``syntax``.
    """
    try:
        top = symtable.symtable(text, "<workflow>", "exec")
    except (SyntaxError, RecursionError) as error:
        raise BrokenRule(InvalidReason.SYNTAX, str(error)) from None
    at_top = {symbol.get_name() for symbol in top.get_symbols() if _binds(symbol)}
    known = at_top | _BUILTINS | set(GIVEN)
    for table in _tables(top):
        for symbol in table.get_symbols():
            name = symbol.get_name()
            if name in GIVEN and _binds(symbol):
                raise BrokenRule(
                    InvalidReason.RESERVED_NAME, f"{name} is given, and bound to something else", _line(tree, name)
                )
            free = symbol.is_global() or table is top
            if not free or not symbol.is_referenced() or name in known:
                continue
            if name in FORBIDDEN:
                raise BrokenRule(InvalidReason.FORBIDDEN_NAME, f"{name} is not for workflows", _line(tree, name))
            raise BrokenRule(
                InvalidReason.UNDEFINED_NAME, f"nothing defines {name}{_near(name, known)}", _line(tree, name)
            )
    _check_attributes(workflow)


def _tables(top: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    waiting = [top]
    while waiting:
        table = waiting.pop()
        yield table
        waiting.extend(table.get_children())


def _binds(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_parameter() or symbol.is_imported() or symbol.is_namespace()


def _line(tree: ast.Module, name: str) -> int | None:
    return next((node.lineno for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name), None)


def _near(name: str, known: set[str]) -> str:
    found = difflib.get_close_matches(name, sorted(known), 1)
    return f"; did you mean {found[0]}?" if found else ""


def _check_attributes(workflow: ast.ClassDef) -> None:
    own = [
        node
        for node in ast.walk(workflow)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    ]
    known = {node.attr for node in own if isinstance(node.ctx, ast.Store)}
    for statement in workflow.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            known.add(statement.name)
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        known |= {target.id for target in targets if isinstance(target, ast.Name)}
    for node in own:
        if node.attr not in known:
            raise BrokenRule(
                InvalidReason.UNDEFINED_ATTRIBUTE,
                f"nothing sets self.{node.attr}{_near(node.attr, known)}",
                node.lineno,
            )
