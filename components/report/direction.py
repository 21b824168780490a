"""Whether a comparison shows a change, by one rule for all measures."""

import enum

from components.core.statistics import Comparison
from components.report.heldout import Unit

MIN_PROMPTS = 20
"""Prompts with both values known, below which nothing is claimed."""
MAX_DROPPED = 0.2
"""Share of prompts left out as unknown above which nothing is claimed: those may be the very ones that differ."""


class Direction(enum.StrEnum):
    """What a comparison shows."""

    ROSE = "rose"
    FELL = "fell"
    NOT_SHOWN = "not shown"
    TOO_FEW = "too few prompts"
    TOO_MANY_UNKNOWN = "too many unknown"
    NOT_CHECKED = "not checked"


def direction(comparison: Comparison, unit: Unit, *, checked: bool = True) -> Direction:
    """What a comparison shows; ``checked``: whether the measure was taken at all.

    A change is shown when its interval lies on one side of zero. For yes/no measures the exact sign test must agree at
    the same level, because the interval's quantiles are only nearly right for a handful of changed prompts.
    """
    if not checked:
        return Direction.NOT_CHECKED
    prompts = comparison.n + comparison.dropped
    if comparison.n < MIN_PROMPTS:
        return Direction.TOO_FEW
    if comparison.dropped > MAX_DROPPED * prompts:
        return Direction.TOO_MANY_UNKNOWN
    if comparison.low is None or comparison.high is None or comparison.sign_p is None:
        return Direction.NOT_SHOWN
    if unit is Unit.SHARE and comparison.sign_p >= 1.0 - comparison.confidence:
        return Direction.NOT_SHOWN
    if comparison.low > 0:
        return Direction.ROSE
    return Direction.FELL if comparison.high < 0 else Direction.NOT_SHOWN
