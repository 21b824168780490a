"""What stands where: the module's statements, the one class, its constructor and its call."""

import ast
import dataclasses
from typing import Final

from components.workflow.contract.outcome import BrokenRule, InvalidReason
from components.workflow.contract.source import is_docstring

CLASS: Final = "Workflow"
_INIT: Final = ("self", "name", "llm_config", "dataset")
_CALLS: Final = (("self", "problem"), ("self", "problem", "entry_point"))
_ACTIVE: Final = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """Attributes:
    workflow: the class.
    call: its ``__call__``.
    takes_entry_point: whether that has a parameter of this name.
    """

    workflow: ast.ClassDef
    call: ast.AsyncFunctionDef
    takes_entry_point: bool


def shape(tree: ast.Module) -> Shape:
    """The parts of a program whose statements all stand where they may.

    Raises:
        BrokenRule: ``module_statement``, ``no_workflow``, ``second_class``, ``class_shape``, ``constructor``,
            ``no_call``, ``not_async`` or ``call_arguments``.
    """
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    named = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == CLASS]
    if not named:
        others = ", ".join(sorted({node.name for node in classes})[:3])
        raise BrokenRule(InvalidReason.NO_WORKFLOW, f"there is no class {CLASS}{others and f', but {others}'}")
    if len(classes) > 1:
        other = next(node for node in classes if node is not named[0])
        raise BrokenRule(InvalidReason.SECOND_CLASS, f"class {other.name} stands beside class {CLASS}", other.lineno)
    _only_plain(tree.body, InvalidReason.MODULE_STATEMENT, "beside the class")
    workflow = named[0]
    if workflow.bases or workflow.keywords or workflow.decorator_list:
        raise BrokenRule(InvalidReason.CLASS_SHAPE, f"class {CLASS} has bases or decorators", workflow.lineno)
    _only_plain(workflow.body, InvalidReason.CLASS_SHAPE, "in the class, outside its methods,")
    _check_constructor(workflow)
    call = _call(workflow)
    return Shape(workflow, call, len(call.args.args) == 3)


def _only_plain(body: list[ast.stmt], reason: InvalidReason, where: str) -> None:
    """Docstring, imports, functions and values that are written down."""
    for statement in body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and (at := _active(statement.value)) is None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if all(isinstance(target, ast.Name) for target in targets):
                continue
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            raise BrokenRule(reason, f"{where} a value is computed; values there are written down", at)
        if isinstance(statement, Function) and not statement.decorator_list:
            continue
        if isinstance(statement, ast.Pass) or is_docstring([statement]):
            continue
        imports = isinstance(statement, ast.Import | ast.ImportFrom | ast.ClassDef)
        if reason is InvalidReason.MODULE_STATEMENT and imports:
            continue
        if reason is InvalidReason.CLASS_SHAPE and _static(statement):
            continue
        raise BrokenRule(reason, f"{where} stands a {type(statement).__name__} statement", statement.lineno)


def _active(value: ast.expr | None) -> int | None:
    """Line of what would run code in an expression; None where nothing does."""
    if value is None:
        return None
    active = (*_ACTIVE, *_COMPREHENSIONS)
    return next((getattr(node, "lineno", None) for node in ast.walk(value) if isinstance(node, active)), None)


def _static(statement: ast.stmt) -> bool:
    return isinstance(statement, Function) and all(
        isinstance(each, ast.Name) and each.id == "staticmethod" for each in statement.decorator_list
    )


def _methods(workflow: ast.ClassDef, name: str) -> list[Function]:
    return [each for each in workflow.body if isinstance(each, Function) and each.name == name]


def _check_constructor(workflow: ast.ClassDef) -> None:
    found = _methods(workflow, "__init__")
    wanted = f"def __init__({', '.join(_INIT)})"
    if not found:
        raise BrokenRule(InvalidReason.CONSTRUCTOR, f"there is no {wanted}", workflow.lineno)
    one = found[-1]
    if len(found) > 1 or isinstance(one, ast.AsyncFunctionDef) or one.decorator_list or _names(one) != _INIT:
        raise BrokenRule(InvalidReason.CONSTRUCTOR, f"the constructor is not {wanted}", one.lineno)
    for node in ast.walk(one):
        if isinstance(node, ast.Return) and node.value is not None:
            raise BrokenRule(InvalidReason.CONSTRUCTOR, "the constructor returns a value", node.lineno)
        if isinstance(node, ast.Await | ast.Yield | ast.YieldFrom):
            raise BrokenRule(InvalidReason.CONSTRUCTOR, "the constructor awaits or yields", node.lineno)


def _call(workflow: ast.ClassDef) -> ast.AsyncFunctionDef:
    found = _methods(workflow, "__call__")
    if not found:
        raise BrokenRule(InvalidReason.NO_CALL, "there is no async def __call__", workflow.lineno)
    one = found[-1]
    if not isinstance(one, ast.AsyncFunctionDef):
        raise BrokenRule(InvalidReason.NOT_ASYNC, "__call__ is not declared with async", one.lineno)
    if len(found) > 1 or one.decorator_list or _names(one) not in _CALLS:
        wanted = "async def __call__(self, problem) or (self, problem, entry_point)"
        raise BrokenRule(InvalidReason.CALL_ARGUMENTS, f"the call is not {wanted}", one.lineno)
    return one


def _names(function: Function) -> tuple[str, ...] | None:
    """Names of the parameters; None where there are others than plain ones."""
    given = function.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs:
        return None
    return tuple(each.arg for each in given.args)
