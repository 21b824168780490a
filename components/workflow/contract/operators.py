"""Operators: which are built, where they are called, and with what."""

import ast
import dataclasses
import difflib
from collections.abc import Mapping
from typing import Final

from components.workflow.contract.outcome import BrokenRule, InvalidReason
from components.workflow.contract.scopes import Scopes
from components.workflow.contract.signature import Signature

_MODULE: Final = "operator"
_MODEL: Final = "create_llm"

Key = tuple[ast.AST | None, str]
"""An attribute of self, with no scope, or a name with the function that it is of."""


@dataclasses.dataclass(frozen=True, slots=True)
class OperatorCall:
    """Attributes:
    node: the call.
    signatures: of the operators that it may be a call of; most often one.
    """

    node: ast.Call
    signatures: tuple[Signature, ...]


def operator_calls(scopes: Scopes, signatures: Mapping[str, Signature]) -> list[OperatorCall]:
    """All calls of operators, in the order of the text; each is of a known operator and has its inputs.

    Raises:
        BrokenRule: ``unknown_operator``, ``operator_use`` or ``operator_arguments``.
    """
    found: list[OperatorCall] = []
    held: dict[Key, list[Signature]] = {}
    builds: set[ast.AST] = set()
    for node in sorted(scopes.names.get(_MODULE, []), key=lambda each: (each.lineno, each.col_offset)):
        build, signature = _built(scopes, node, signatures)
        builds.add(build)
        parent = scopes.parent(build)
        if isinstance(parent, ast.Call) and parent.func is build:
            found.append(OperatorCall(parent, (signature,)))
        else:
            held.setdefault(_holder(scopes, build, signature), []).append(signature)
    for node in scopes.names.get(_MODEL, []):
        parent = scopes.parent(node)
        if not (isinstance(parent, ast.Call) and parent.func is node and len(parent.args) == 1 and not parent.keywords):
            raise BrokenRule(InvalidReason.OPERATOR_USE, "the model's handle is create_llm(llm_config)", node.lineno)
    for place in ast.walk(scopes.tree):
        key = key_of(scopes, place)
        if key is None or key not in held:
            continue
        call = _used(scopes, place, builds, held[key])
        if call is not None:
            found.append(OperatorCall(call, tuple(held[key])))
    found.sort(key=lambda each: (each.node.lineno, each.node.col_offset))
    for each in found:
        for signature in each.signatures:
            _check_arguments(each.node, signature)
    return found


def key_of(scopes: Scopes, node: ast.AST) -> Key | None:
    """What a name or an attribute of self is called in :data:`Key`'s way; None for any other node."""
    if isinstance(node, ast.Name):
        return scopes.method(node), node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return None, node.attr
    return None


def _built(scopes: Scopes, node: ast.Name, signatures: Mapping[str, Signature]) -> tuple[ast.Call, Signature]:
    """``operator.X(model)`` around the name ``operator``."""
    attribute = scopes.parent(node)
    if not isinstance(attribute, ast.Attribute):
        raise BrokenRule(InvalidReason.OPERATOR_USE, "operator is used as operator.Name(model) alone", node.lineno)
    signature = signatures.get(attribute.attr)
    if signature is None:
        lower = {name.lower().replace("_", ""): name for name in signatures}
        near = difflib.get_close_matches(attribute.attr.lower().replace("_", ""), list(lower), 1)
        told = f"; did you mean {lower[near[0]]}?" if near else f"; there are {', '.join(sorted(signatures))}"
        raise BrokenRule(InvalidReason.UNKNOWN_OPERATOR, f"no operator is named {attribute.attr}{told}", node.lineno)
    build = scopes.parent(attribute)
    plain = isinstance(build, ast.Call) and build.func is attribute and len(build.args) == 1 and not build.keywords
    if not isinstance(build, ast.Call) or not plain or isinstance(build.args[0], ast.Starred | ast.Constant):
        raise BrokenRule(
            InvalidReason.OPERATOR_USE, f"{signature.name} is built as operator.{signature.name}(model)", node.lineno
        )
    return build, signature


def _holder(scopes: Scopes, build: ast.Call, signature: Signature) -> Key:
    """The name or attribute that the operator is assigned to."""
    parent = scopes.parent(build)
    targets: list[ast.expr] = []
    if isinstance(parent, ast.Assign) and parent.value is build:
        targets = parent.targets
    elif isinstance(parent, ast.AnnAssign):
        targets = [parent.target]
    key = key_of(scopes, targets[0]) if len(targets) == 1 else None
    if key is None:
        raise BrokenRule(
            InvalidReason.OPERATOR_USE,
            f"{signature.name} is assigned to a name, or to an attribute",
            build.lineno,
        )
    return key


def _used(scopes: Scopes, node: ast.AST, builds: set[ast.AST], held: list[Signature]) -> ast.Call | None:
    """The call that a held operator is the function of; None where it is assigned."""
    parent = scopes.parent(node)
    context = getattr(node, "ctx", None)
    line = getattr(node, "lineno", None)
    if isinstance(context, ast.Store):
        value = getattr(parent, "value", None)
        if isinstance(parent, ast.Assign | ast.AnnAssign) and value in builds:
            return None
        raise BrokenRule(InvalidReason.OPERATOR_USE, f"{held[0].name} is bound to something else as well", line)
    if isinstance(parent, ast.Call) and parent.func is node:
        return parent
    raise BrokenRule(InvalidReason.OPERATOR_USE, f"{held[0].name} is called, and not handed on", line)


def _check_arguments(call: ast.Call, signature: Signature) -> None:
    def refuse(what: str) -> BrokenRule:
        takes = ", ".join(each.name if each.required else f"[{each.name}]" for each in signature.inputs)
        return BrokenRule(InvalidReason.OPERATOR_ARGUMENTS, f"{signature.name} {what}; it takes ({takes})", call.lineno)

    names = [each.name for each in signature.inputs]
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        raise refuse("is called with * or **")
    if len(call.args) > len(names):
        raise refuse(f"is given {len(call.args)} arguments without names")
    given = names[: len(call.args)]
    for keyword in call.keywords:
        if keyword.arg not in names:
            raise refuse(f"has no input {keyword.arg}")
        if keyword.arg in given:
            raise refuse(f"is given {keyword.arg} twice")
        given.append(str(keyword.arg))
    if missing := [each.name for each in signature.inputs if each.required and each.name not in given]:
        raise refuse(f"is not given {', '.join(missing)}")
