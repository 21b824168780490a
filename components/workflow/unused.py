"""Sources of workflow RL, which count for nothing in the identity of a step of an experiment without workflows.

Such a step imports them, but each way into them ends where ``experiment.workflow`` is None, with nothing done.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from components.core.spec import Experiment

SOURCES: Final = (
    "components.workflow",
    "components.engine.workflow_loop",
    "components.reward.workflow_rates",
    "components.reward.workflow_rewarder",
    "components.score_tasks.workflows",
    "components.generate_tasks.baselines",
)
"""Packages and modules."""


def unused(experiment: "Experiment") -> tuple[str, ...]:
    """For a step's ``unused``."""
    return () if experiment.workflow is not None else SOURCES
