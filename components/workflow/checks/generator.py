"""Whether texts become plans: those of the tree, and what the experiment's policy writes."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.workflow.baselines import as_response, programs
from components.workflow.checks.finding import Finding
from components.workflow.checks.problems import KNOWN
from components.workflow.contract.outcome import Invalid, InvalidReason, Plan
from components.workflow.contract.validator import Validator
from components.workflow.prompts.layer1 import policy_prompt, skeleton

if TYPE_CHECKING:
    from components.core.spec import Experiment

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
            found.append(_told(f"generator: {name}, {known.problem.domain}", plan))
    good = as_response(skeleton(entry_point=False)) + "\n"
    for name, (old, new), reason in _BROKEN:
        plan = await validator.validate(good.replace(old, new))
        works = isinstance(plan, Invalid) and plan.reason is reason
        found.append(Finding(f"generator: {name}", works, f"refused, {reason}" if works else f"taken for {plan}"))
    return found


async def check_policy(experiment: "Experiment", validator: Validator, state: Path) -> list[Finding]:
    """Have the policy as it is before training write one workflow a domain. That it writes no valid one is told, and is
    no failure: it is there to learn that.

    Raises:
        GavelError: its weights are not to be had.
    """
    found: list[Finding] = []
    for domain, response in _responses(experiment, state):
        plan = await validator.validate(response)
        told = _told(f"policy {experiment.policy.name}: {domain}", plan)
        found.append(Finding(told.name, told.works, f"{told.text}; {len(response)} characters", needed=False))
    return found


def _responses(experiment: "Experiment", state: Path) -> Iterator[tuple[str, str]]:
    """Domain and response of one problem each."""
    from components.generate.backend import open_generator
    from components.generate.sampling import Sampling
    from components.models.materialize import cache_folder, materialize

    generator = open_generator(experiment, materialize(experiment.policy.source, cache_folder(state)))
    try:
        sampling = Sampling(experiment.training.max_response_tokens)
        prompts = [[{"role": "user", "content": policy_prompt(each.problem)}] for each in KNOWN]
        for generation in sorted(generator.generate(prompts, sampling), key=lambda each: each.index):
            yield KNOWN[generation.index].problem.domain, generation.responses[0]
    finally:
        generator.close()


def _told(name: str, plan: Plan | Invalid) -> Finding:
    if isinstance(plan, Invalid):
        line = "" if plan.line is None else f" in line {plan.line}"
        return Finding(name, False, f"not valid, {plan.reason}{line}: {plan.detail}")
    calls = ", ".join(use.operator for use in plan.uses)
    return Finding(name, True, f"a valid plan of {calls}")
