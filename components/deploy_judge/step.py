"""The step deploy-judge: judges, and the executor model of workflows, which is served as a judge is."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from components.core.manifest import Scalar
from components.core.step import Step, StepContext
from components.judge.placement.base import choose_placement
from components.judge.placement.together import side_by_side
from components.judge.served import served_identity

if TYPE_CHECKING:
    from components.core.spec import Experiment
    from components.core.spec.judge import JudgeSpec


def depends(experiment: "Experiment") -> object:
    """Which judge it is; the step acts on the world, so that nothing is reused by it."""
    return served_identity(experiment)


def run(context: StepContext) -> Mapping[str, Scalar]:
    """Bring the judge up, or each of a panel's, and what executes workflows, and say where it answers.

    Judges of a cluster come up side by side, since each may wait for nodes and weights for long; those of this machine
    one after the other, since they share its memory and cores.

    Raises:
        GavelError: one cannot be started or does not answer. What became of the others is told first. Those that
            came up stay under this run's lease, for a retry of the step; the run's last step gives all leases back.
    """
    judges = context.experiment.served()
    urls = (
        side_by_side(
            judges,
            lambda judge: _up(context, judge),
            lambda judge: _leased(context, judge),
            context.progress.phase,
        )
        if _on_cluster(context)
        else {judge.name: _up(context, judge) for judge in judges}
    )
    return {"judge": ", ".join(urls), "url": ", ".join(urls.values())}


def _on_cluster(context: StepContext) -> bool:
    return context.experiment.cluster.placement == "kubernetes"


def _up(context: StepContext, judge: "JudgeSpec") -> str:
    experiment = context.experiment
    placement = choose_placement(judge, experiment.cluster, context.state, experiment=experiment.name)
    endpoint = placement.up(context.progress)
    context.progress.phase(f"judge {judge.name} answers at {endpoint.url}")
    return endpoint.url


def _leased(context: StepContext, judge: "JudgeSpec") -> AbstractContextManager[None]:
    # Needs a client of Kubernetes, which a local run does not.
    from components.judge.leases.renewing import renewing

    experiment, told = context.experiment, context.progress.phase
    return renewing([judge], experiment.cluster, experiment=experiment.name, told=told, at_once=False)


STEP = Step("deploy-judge", __name__, depends, run, durable=False)
