"""The step probe-judge."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from components.core.manifest import Scalar
from components.core.step import Step, StepContext
from components.judge.endpoint import resolve_endpoint
from components.judge.probe import probe

if TYPE_CHECKING:
    from components.core.spec import Experiment


def depends(experiment: "Experiment") -> object:
    """Which judge is probed and how it is asked; the step looks at the world, so that nothing is reused by it."""
    return {"judge": experiment.judge_identity(), "reward": experiment.reward_identity()}


def run(context: StepContext) -> Mapping[str, Scalar]:
    """Ask the deployed judge everything that training will need of it.

    Raises:
        JudgeError: it does not answer, lacks the model, or lacks what the protocol needs.
    """
    experiment = context.experiment
    url = resolve_endpoint(experiment.judge, context.state)
    report = asyncio.run(probe(experiment.judge, experiment.reward, url))
    for line in report.table():
        context.progress.phase(line)
    return report.metadata()


STEP = Step("probe-judge", __name__, depends, run, durable=False)
