"""Validation as a call of the sandbox, and its outcome as plain JSON."""

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from components.workflow.contract.outcome import Form, Invalid, InvalidReason, Plan, Use
from components.workflow.contract.signature import Input, Signature
from components.workflow.contract.validate import validate


def as_json(signatures: Mapping[str, Signature]) -> list[Any]:
    """Signatures as :func:`tell` takes them."""
    return [
        [each.name, [[given.name, given.required] for given in each.inputs], list(each.outputs)]
        for each in signatures.values()
    ]


def tell(response: str, signatures: Sequence[Any]) -> dict[str, Any]:
    """What :func:`read` makes a plan of. Runs in the sandbox."""
    known = {
        name: Signature(name, tuple(Input(*given) for given in inputs), tuple(outputs))
        for name, inputs, outputs in signatures
    }
    # A thousand comparisons such as ``1 is 1`` would print more than a call may.
    warnings.simplefilter("ignore")
    return dataclasses.asdict(validate(response, known))


def read(told: Any) -> Plan | Invalid:
    """The outcome that was told.

    Raises:
        ValueError: what was told is none.
    """
    try:
        if "reason" in told:
            return Invalid(InvalidReason(told["reason"]), str(told["detail"]), told["line"])
        uses = tuple(Use(str(each["operator"]), int(each["line"])) for each in told["uses"])
        entry = told["takes_entry_point"] is True
        return Plan(str(told["source"]), Form(told["form"]), entry, uses, str(told["digest"]))
    except (TypeError, KeyError) as error:
        raise ValueError(f"no outcome of validation: {error}") from error
