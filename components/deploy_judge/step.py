"""The step deploy-judge."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from components.core.manifest import Scalar
from components.core.step import Step, StepContext
from components.judge.placement.base import choose_placement

if TYPE_CHECKING:
    from components.core.spec import Experiment


def depends(experiment: "Experiment") -> object:
    """Which judge it is; the step acts on the world, so that nothing is reused by it."""
    return experiment.judge_identity()


def run(context: StepContext) -> Mapping[str, Scalar]:
    """Bring the judge up, and write down where it answers.

    Raises:
        GavelError: it cannot be started, does not answer, or its placement has no back end here.
    """
    experiment = context.experiment
    endpoint = choose_placement(experiment.judge, experiment.cluster, context.state).up(context.progress)
    context.progress.phase(f"judge {experiment.judge.name} answers at {endpoint.url}")
    return {"judge": experiment.judge.name, "url": endpoint.url}


STEP = Step("deploy-judge", __name__, depends, run, durable=False)
