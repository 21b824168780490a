"""Whether texts become plans."""

from typing import Final

from components.workflow.baselines import as_response, programs
from components.workflow.checks.finding import Finding
from components.workflow.checks.problems import KNOWN
from components.workflow.contract.outcome import Invalid, InvalidReason, Plan
from components.workflow.contract.validator import Validator
from components.workflow.prompts.layer1 import skeleton

_BROKEN: Final = (
    ("a dropped await", ("await self.custom", "self.custom"), InvalidReason.MISSING_AWAIT),
    ("an unknown operator", ("operator.Custom", "operator.Magic"), InvalidReason.UNKNOWN_OPERATOR),
    ("a lost fence", ("```\n", ""), InvalidReason.UNCLOSED_FENCE),
)


async def check_texts(validator: Validator) -> list[Finding]:
    """Validate the programs of the tree, and broken ones."""
    found: list[Finding] = []
    for known in KNOWN:
        for name, make in programs().items():
            plan = await validator.validate(as_response(make(known.problem)))
            found.append(finding_of(f"generator: {name}, {known.problem.domain}", plan))
    good = as_response(skeleton(entry_point=False)) + "\n"
    for name, (old, new), reason in _BROKEN:
        plan = await validator.validate(good.replace(old, new))
        works = isinstance(plan, Invalid) and plan.reason is reason
        found.append(Finding(f"generator: {name}", works, f"refused, {reason}" if works else f"taken for {plan}"))
    return found


def finding_of(name: str, plan: Plan | Invalid) -> Finding:
    """A finding about a text that is to be a workflow."""
    if isinstance(plan, Invalid):
        line = "" if plan.line is None else f" in line {plan.line}"
        return Finding(name, False, f"not valid, {plan.reason}{line}: {plan.detail}")
    calls = ", ".join(use.operator for use in plan.uses)
    return Finding(name, True, f"a valid plan of {calls}")
