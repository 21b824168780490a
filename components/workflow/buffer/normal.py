"""One hash for workflows that differ in nothing but wording of the code.

A policy that has found one good program writes it again and again with other names and comments; in a buffer of a
hundred these would push out everything else. So comments, docstrings, layout and names that the program chose itself do
not count. Texts do: an instruction is what makes a workflow another one.
"""

import ast
import builtins
import collections
import hashlib
from collections.abc import Iterator

from components.core.errors import ContractError

_GIVEN = frozenset({"self", "name", "llm_config", "dataset", "problem", "entry_point", "Workflow"})
"""Names that the contract prescribes."""
_KEPT = _GIVEN | frozenset(dir(builtins))
_SKIPPED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


def workflow_hash(source: str) -> str:
    """SHA-256, as hex, of a program without comments, docstrings, layout and the names that it chose.

    A name counts as chosen if the program binds it, and it occurs nowhere but as a name or as an attribute of self. All
    places of one name get the same number, in order of first occurrence: programs of equal hash do the same.

    Args:
        source: of a plan, so that it keeps the contract.

    Raises:
        ContractError: it is no Python.
    """
    try:
        tree = ast.parse(source)
        names = _chosen(tree)
        return hashlib.sha256("\n".join(_tokens(tree, names)).encode("utf-8", "backslashreplace")).hexdigest()
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ContractError(
            f"the workflow is no Python: {type(error).__name__}", remedy="hash the source of a valid plan"
        ) from error


def _chosen(tree: ast.Module) -> dict[str, str]:
    """What stands for each chosen name."""
    bound: set[str] = set()
    elsewhere: set[str] = set(_attributes_of_others(tree))
    order: collections.OrderedDict[str, None] = collections.OrderedDict()
    for node in _walk(tree):
        for name in _own_names(node):
            order[name] = None
        bound.update(_bound_by(node))
        elsewhere.update(_elsewhere_in(node))
    chosen = [name for name in order if name in bound and name not in elsewhere and name not in _KEPT]
    return {name: f"\0{number}" for number, name in enumerate(chosen) if not name.startswith("__")}


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """In the order of the text."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _walk(child)


def _own_names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.alias(asname=str(name)):
            yield name


def _bound_by(node: ast.AST) -> Iterator[str]:
    stores = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store)
    if stores or not isinstance(node, ast.Name | ast.Attribute):
        yield from _own_names(node)


def _elsewhere_in(node: ast.AST) -> Iterator[str]:
    """Names in places where another one would mean something else, or where we do not put one."""
    match node:
        case ast.Attribute(value=ast.Name(id="self")):
            return
        case ast.Attribute(attr=name) | ast.keyword(arg=str(name)) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name):
            yield from name.split(".")
        case ast.ImportFrom(module=str(module)):
            yield from module.split(".")
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name
        case ast.MatchClass(kwd_attrs=names):
            yield from names


def _attributes_of_others(tree: ast.Module) -> Iterator[str]:
    """Attributes of self, where that name may stand for something else, as in ``lambda self: self.upper()``."""
    own = {
        id(method.args.args[0])
        for each in tree.body
        if isinstance(each, ast.ClassDef)
        for method in each.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and not method.decorator_list and method.args.args
    }
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg="self") if id(node) not in own:
                break
            case ast.Name(id="self", ctx=ast.Store()) | ast.alias(asname="self") | ast.ExceptHandler(name="self"):
                break
            case ast.MatchAs(name="self") | ast.MatchStar(name="self") | ast.MatchMapping(rest="self"):
                break
    else:
        return
    yield from (
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    )


def _tokens(value: object, names: dict[str, str]) -> Iterator[str]:
    """The tree in a form that does not depend on the version of Python."""
    if isinstance(value, list):
        kept = [each for each in value if not _is_comment(each)]
        yield f"[{len(kept)}"
        for each in kept:
            yield from _tokens(each, names)
    elif isinstance(value, ast.AST):
        yield f"({type(value).__name__}"
        own = set(_own_names(value))
        for field, each in ast.iter_fields(value):
            # Newer versions of Python have more fields, which are empty in what older ones can read.
            if field in _SKIPPED or each is None or each == []:
                continue
            yield f".{field}"
            if isinstance(each, str) and each in own:
                yield repr(names.get(each, each))
            else:
                yield from _tokens(each, names)
        yield ")"
    else:
        yield f"{type(value).__name__} {value!r}"


def _is_comment(node: object) -> bool:
    """Docstrings, and other constants that stand alone and do nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
