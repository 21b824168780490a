"""The step teardown-judge."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from components.core.errors import GavelError
from components.core.manifest import Scalar
from components.core.step import Step, StepContext
from components.judge.leases.ended import Ended
from components.judge.placement.base import choose_placement
from components.judge.served import served_identity

if TYPE_CHECKING:
    from components.core.spec import Experiment


_TOLD = {
    Ended.ENDED: "ended",
    Ended.KEPT: "stays for other runs; this run's lease on it is given back",
    Ended.ABSENT: "was not running here: nothing to end",
}


def depends(experiment: "Experiment") -> object:
    """Which judge it is; the step acts on the world, so that nothing is reused by it."""
    return served_identity(experiment)


def run(context: StepContext) -> Mapping[str, Scalar]:
    """End exactly the judges that were deployed under these names; without one, do nothing. A judge of a cluster that
    other runs use stays: only this run's lease on it is given back.

    Raises:
        GavelError: a judge could not be ended; the others are ended all the same.
    """
    experiment = context.experiment
    served = experiment.served()
    if not served:
        context.progress.phase("no judge was asked: nothing to end")
        return {"judge": "", "ended": False}
    ended, failures = 0, []
    for judge in served:
        try:
            became = choose_placement(judge, experiment.cluster, context.state, experiment=experiment.name).down()
        except GavelError as error:
            failures.append(error)
            continue
        ended += bool(became)
        context.progress.phase(f"judge {judge.name} {_TOLD[became]}")
    if failures:
        raise failures[0]
    return {"judge": ", ".join(judge.name for judge in served), "ended": bool(ended)}


STEP = Step("teardown-judge", __name__, depends, run, durable=False)
