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
    """Bring the judge up, or each of a panel's, and write down where it answers.

    Raises:
        GavelError: it cannot be started, does not answer, or its placement has no back end here.
    """
    experiment = context.experiment
    urls: dict[str, str] = {}
    for judge in experiment.judges():
        endpoint = choose_placement(judge, experiment.cluster, context.state).up(context.progress)
        context.progress.phase(f"judge {judge.name} answers at {endpoint.url}")
        urls[judge.name] = endpoint.url
    return {"judge": ", ".join(urls), "url": ", ".join(urls.values())}


STEP = Step("deploy-judge", __name__, depends, run, durable=False)
