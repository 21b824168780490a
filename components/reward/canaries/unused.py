"""Sources of canaries, which count for nothing in the identity of a training without them.

Its step imports them, but each way into them ends where ``training.canaries`` is None, or where the table of canaries
is not there, with nothing done.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from components.core.spec import Experiment

SOURCES: Final = ("components.reward.canaries", "components.train.canaries")
"""Packages and modules."""


def unused_canaries(experiment: "Experiment") -> tuple[str, ...]:
    """For a step's ``unused``."""
    return () if experiment.training.canaries is not None else SOURCES
