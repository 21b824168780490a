"""The step teardown-judge."""

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
    """End exactly the judge that was deployed under this name; without one, do nothing."""
    experiment = context.experiment
    ended = choose_placement(experiment.judge, experiment.cluster, context.state).down()
    name = experiment.judge.name
    context.progress.phase(f"judge {name} ended" if ended else f"judge {name} was not running here: nothing to end")
    return {"judge": name, "ended": ended}


STEP = Step("teardown-judge", __name__, depends, run, durable=False)
