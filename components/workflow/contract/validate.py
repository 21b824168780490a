"""Validation: from the policy's response to a plan, or to the first rule that it breaks. Nothing of it is run."""

import ast
import dataclasses
from collections.abc import Mapping

from components.workflow.contract.awaits import check_awaits, other_coroutines
from components.workflow.contract.extract import extract
from components.workflow.contract.names import check_defined, check_names
from components.workflow.contract.operators import operator_calls
from components.workflow.contract.outcome import BrokenRule, Form, Invalid, InvalidReason, Plan, Use
from components.workflow.contract.outputs import check_outputs
from components.workflow.contract.returns import check_returns
from components.workflow.contract.scopes import Scopes
from components.workflow.contract.shape import shape
from components.workflow.contract.signature import Signature
from components.workflow.contract.source import compiles, digest, parse


def validate(response: str, signatures: Mapping[str, Signature]) -> Plan | Invalid:
    """What a policy's response is.

    For trusted text, such as templates and tests. What a model wrote goes through
    :class:`components.workflow.contract.validator.Validator`, where the parser runs in a sandbox.

    Args:
        response: the policy's whole text.
        signatures: of the operators that there are, by name.
    """
    first = 1
    try:
        found = extract(response)
        first = found.first
        plan = _plan(found.source, found.form, signatures)
    except BrokenRule as broken:
        wrong = broken.invalid
        outside = wrong.reason in (InvalidReason.EMPTY, InvalidReason.NO_CODE, InvalidReason.UNCLOSED_FENCE)
        if wrong.line is None or outside:
            return wrong
        return dataclasses.replace(wrong, line=wrong.line + first - 1)
    moved = tuple(dataclasses.replace(use, line=use.line + first - 1) for use in plan.uses)
    return dataclasses.replace(plan, uses=moved)


def _plan(source: str, form: Form, signatures: Mapping[str, Signature]) -> Plan:
    tree = parse(source)
    found = shape(tree)
    check_names(tree)
    check_defined(source, tree, found.workflow)
    scopes = Scopes(tree)
    calls = operator_calls(scopes, signatures)
    names = _from_asyncio(tree)
    coroutines = [*(each.node for each in calls), *other_coroutines(scopes, found.workflow, names)]
    check_awaits(scopes, coroutines, names)
    results = check_outputs(scopes, calls)
    if not calls:
        raise BrokenRule(InvalidReason.NO_OPERATOR, "no operator is called", found.call.lineno)
    check_returns(found.call, scopes, results)
    compiles(source)
    uses = tuple(Use(each.signatures[0].name, each.node.lineno) for each in calls)
    return Plan(source, form, found.takes_entry_point, uses, digest(tree))


def _from_asyncio(tree: ast.Module) -> frozenset[str]:
    return frozenset(
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "asyncio"
        for alias in node.names
    )
