"""Who is up in a run, as the steps that deploy, probe and end models depend on it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from components.core.spec import Experiment


def served_identity(experiment: "Experiment") -> dict[str, Any]:
    """Which models these are: the judge's identity, with that of the executor model of workflows where there is one."""
    found = experiment.judge_identity()
    if experiment.workflow is None:
        return found
    judged = {"judge": found} if experiment.asks_judge else {}
    return {**judged, "executor": experiment.workflow.executor.identity()}
