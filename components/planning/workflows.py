"""How often workflows ask the executor model, and how much it reads and writes, by the limits of one execution."""

import dataclasses
from typing import TYPE_CHECKING

from components.planning.assumptions import Assumptions
from components.planning.calls import Samples
from components.planning.task_sets import answered, models_of
from components.planning.tokens import Amount, JudgeWork
from components.workflow.baselines import programs

if TYPE_CHECKING:
    from components.core.spec import Experiment
    from components.core.spec.workflow import WorkflowSpec


def executor_work(experiment: "Experiment", assumed: Assumptions) -> JudgeWork | None:
    """What the executor model is asked; None where there are no workflows.

    Every rollout is executed, and every answer to the tests, of the models and of the baselines. What a policy will
    write is not known: a workflow is taken to use the share ``fill`` of its budget's calls and tokens, and at the most
    all of it, each call as often as it may be repeated. Invalid workflows, which ask nothing, make it less.
    """
    spec = experiment.workflow
    if spec is None:
        return None
    training = experiment.training
    rollouts = training.steps * training.prompts_per_step * training.rollouts_per_prompt
    tests = answered(experiment).responses * (models_of(experiment) + len(programs()))
    full = dataclasses.replace(assumed, fill=1.0)
    once = _amount(rollouts + tests, spec, full)
    times = spec.executor.attempts
    most = Amount(*(None if each is None else each * times for each in (once.calls, once.prompt, once.reply)))
    return JudgeWork(
        spec.executor,
        Samples(rollouts, tests),
        _amount(rollouts, spec, assumed),
        _amount(tests, spec, assumed),
        most,
        role="executor",
    )


def _amount(workflows: int, spec: "WorkflowSpec", assumed: Assumptions) -> Amount:
    """Tokens are those of the budget; of them, replies are as long as ``fill`` says."""
    calls = workflows * spec.budget.calls * assumed.fill
    tokens = workflows * spec.budget.tokens * assumed.fill
    reply = min(tokens, calls * spec.executor.max_answer_tokens * assumed.fill)
    return Amount(calls, tokens - reply, reply)
