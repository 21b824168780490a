"""The step deploy-judge."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING

from components.core.errors import GavelError, JudgeError
from components.core.manifest import Scalar
from components.core.step import Step, StepContext
from components.judge.placement.base import choose_placement

if TYPE_CHECKING:
    from components.core.spec import Experiment
    from components.core.spec.judge import JudgeSpec


def depends(experiment: "Experiment") -> object:
    """Which judge it is; the step acts on the world, so that nothing is reused by it."""
    return experiment.judge_identity()


def run(context: StepContext) -> Mapping[str, Scalar]:
    """Bring the judge up, or each of a panel's, and say where it answers.

    Judges of a cluster come up side by side, since each may wait for nodes and weights for long; those of this machine
    one after the other, since they share its memory and cores.

    Raises:
        GavelError: one cannot be started or does not answer. What became of the others is told first. Those that
            came up stay under this run's lease, for a retry of the step; the run's last step gives all leases back.
    """
    judges = context.experiment.judges()
    urls = (
        _side_by_side(context, judges)
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


def _side_by_side(context: StepContext, judges: "Sequence[JudgeSpec]") -> dict[str, str]:
    urls: dict[str, str] = {}
    failures: list[GavelError] = []
    with ExitStack() as kept, ThreadPoolExecutor(max_workers=len(judges)) as pool:
        waiting = {pool.submit(_up, context, judge): judge for judge in judges}
        # A failure is told when it is there, and not when slower ones are done.
        for future in as_completed(waiting):
            name = waiting[future].name
            try:
                urls[name] = future.result()
            except GavelError as error:
                context.progress.phase(f"judge {name} does not come up: {error.what}")
                failures.append(_of_judge(name, error))
            else:
                # The others may wait for nodes for longer than a lease lasts.
                kept.enter_context(_leased(context, waiting[future]))
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise JudgeError(
            f"{len(failures)} of {len(judges)} judges do not come up: " + "; ".join(each.what for each in failures),
            where="; ".join(filter(None, (each.where for each in failures))),
            remedy="; ".join(dict.fromkeys(filter(None, (each.remedy for each in failures)))),
        )
    return {judge.name: urls[judge.name] for judge in judges}


def _leased(context: StepContext, judge: "JudgeSpec") -> AbstractContextManager[None]:
    # Needs a client of Kubernetes, which a local run does not.
    from components.judge.leases.renewing import renewing

    experiment, told = context.experiment, context.progress.phase
    return renewing([judge], experiment.cluster, experiment=experiment.name, told=told, at_once=False)


def _of_judge(name: str, error: GavelError) -> GavelError:
    """The failure, with the judge's name where it has it not."""
    if name in error.what:
        return error
    return JudgeError(f"judge {name} does not come up: {error.what}", where=error.where, remedy=error.remedy)


STEP = Step("deploy-judge", __name__, depends, run, durable=False)
