"""``python -m components.workflow check``: quick tests of the generator, the judge and the path of HumanEval."""

import argparse
import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.core.errors import JudgeError
from components.core.services.state import state_folder
from components.tasks.score import TaskScorer
from components.workflow.broker.executor import build_executor
from components.workflow.checks.finding import Finding, table
from components.workflow.checks.generator import check_texts
from components.workflow.checks.humaneval import check_humaneval
from components.workflow.checks.judging import check_gold, check_judge
from components.workflow.checks.policy import check_policy
from components.workflow.checks.scripted import scripted_model
from components.workflow.checks.waiting import waiting
from components.workflow.contract.validator import Validator
from components.workflow.service import SIGNATURES
from components.workflow.types import Budget

if TYPE_CHECKING:
    from components.core.spec import Experiment
    from components.core.spec.judge import JudgeSpec

_PATIENCE: Final = 60.0
"""Seconds for one call of the executor model, which is made once."""
_EXECUTION: Final = 120.0
"""Seconds of its work on the template, over which it has failed."""
_BUDGET: Final = Budget(calls=20, tokens=60_000, seconds=300.0, bytes=1_000_000)


def main(argv: Sequence[str]) -> int:
    """Print what works; returns 1 where something that is needed does not.

    Raises:
        GavelError: the experiment cannot be read, or nothing can be run on this machine.
    """
    parser = argparse.ArgumentParser(
        prog="python -m components.workflow check",
        description="Quick tests: texts become valid plans, right answers and wrong ones are told apart, and a problem "
        "of HumanEval goes through template, executor model and tests. Without an experiment, a script is the model.",
    )
    parser.add_argument("--experiment", help="a name in configs/experiments, or a YAML file, with a part workflow: its "
                        "executor model and its judge are asked too")  # fmt: skip
    parser.add_argument("--policy", action="store_true", help="also have the experiment's policy write a workflow a "
                        "domain, on this machine")  # fmt: skip
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="the experiment's keys")
    options = parser.parse_args(argv)
    if options.experiment is None and (options.policy or options.overrides):
        parser.error("--policy and key=value belong to an --experiment")
    experiment = None if options.experiment is None else _loaded(options.experiment, options.overrides)
    findings = asyncio.run(_all(experiment, policy=options.policy, state=state_folder()))
    failed = sum(each.fails for each in findings)
    print(f"\n{failed} of {len(findings)} do not work" if failed else "\nall that is needed works")
    return int(failed > 0)


async def _all(experiment: "Experiment | None", *, policy: bool, state: Path) -> list[Finding]:
    """Everything, printed as soon as it is known: a real model may take its minutes."""
    found: list[Finding] = []
    validator, scorer = Validator(SIGNATURES), TaskScorer()
    try:
        async for findings in _parts(experiment, validator, scorer, policy=policy, state=state):
            print(table(findings), flush=True)
            found += findings
    finally:
        await validator.close()
        await scorer.close()
    return found


async def _parts(
    experiment: "Experiment | None", validator: Validator, scorer: TaskScorer, *, policy: bool, state: Path
) -> AsyncIterator[list[Finding]]:
    yield await check_texts(validator)
    yield await check_gold(scorer)
    async with scripted_model() as scripted:
        yield await _executed(scripted, str(scripted.endpoint), validator, scorer, None)
    if experiment is None or experiment.workflow is None:
        return
    if policy:
        async for finding in check_policy(experiment, validator, state):
            yield [finding]
    try:
        yield await check_judge(experiment, state)
    except JudgeError as error:
        yield [Finding(f"judge {experiment.verdict_name}", False, f"{error.what}; {error.remedy}")]
    spec = experiment.workflow.executor
    try:
        with _at(spec, experiment, state) as url:
            yield await _executed(spec, url, validator, scorer, experiment)
    except JudgeError as error:
        yield [Finding(f"executor model {spec.name}", False, f"{error.what}; {error.remedy}")]


async def _executed(
    spec: "JudgeSpec", url: str, validator: Validator, scorer: TaskScorer, experiment: "Experiment | None"
) -> list[Finding]:
    from components.workflow.build import budget_of
    from components.workflow.prompts.layer2 import enhancer

    workflow = None if experiment is None else experiment.workflow
    enhance = None
    if workflow is not None and workflow.enhancements is not None:
        enhance = enhancer(workflow.enhancements, spec.name)
    # Whoever waits for the check need not wait as long as a training would.
    quick = spec.model_copy(update={"timeout_seconds": min(spec.timeout_seconds, _PATIENCE), "attempts": 1})
    model = build_executor(quick, url, None)
    try:
        budget = _BUDGET if workflow is None else budget_of(workflow)
        budget = dataclasses.replace(budget, seconds=min(budget.seconds, _EXECUTION))
        async with waiting(f"a problem of HumanEval with {spec.name}", _EXECUTION + _PATIENCE):
            return await check_humaneval(model, validator, scorer, budget, enhance=enhance, scripted=workflow is None)
    finally:
        await model.close()


@contextlib.contextmanager
def _at(spec: "JudgeSpec", experiment: "Experiment", state: Path) -> Iterator[str]:
    """Where the executor model answers; the embedded server is started for as long as it is needed where none runs."""
    from components.judge.endpoint import resolve_endpoint
    from components.judge.serve import serving

    try:
        url = resolve_endpoint(spec, state, experiment.cluster)
    except JudgeError:
        if spec.serving != "embedded":
            raise
    else:
        yield url
        return
    print(
        f"executor model {spec.name} does not run here: its server is started for this check (at most 3:00)", flush=True
    )
    with serving(spec) as started:
        yield started


def _loaded(name: str, overrides: Sequence[str]) -> "Experiment":
    from components.core.spec import load_experiment
    from components.workflow.build import workflow_of

    experiment = load_experiment(name, tuple(overrides))
    workflow_of(experiment)
    return experiment
