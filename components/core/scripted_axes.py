"""What can be planted in a scripted judge: looked at where a judge is written down, and again where one is made."""

from typing import Final

AXES: Final = (
    "authority",
    "bandwagon",
    "distraction",
    "failure",
    "fallacy",
    "family_preference",
    "injection",
    "master_keys",
    "polish",
    "position",
    "reference",
    "refinement",
    "retry",
    "rubric_order",
    "scale",
    "self_preference",
    "sentiment",
    "style",
    "sycophancy",
    "verbosity",
)
"""Names of the axes; `components/bias/scripted/axes.py` has what is found on each."""
MOST_RETRY: Final = 0.5
"""Two independent readings of two values contradict each other in half of the cases at most."""
_SHARES: Final = frozenset({"failure", "master_keys", "retry"})


def unplantable(axis: str, strength: float) -> str | None:
    """Why a strength cannot be planted on an axis that there is; None where it can.

    Args:
        axis: one of :data:`AXES`.
        strength: a finite number.
    """
    if axis in _SHARES and strength < 0.0:
        return f"strength {strength:g} of {axis} is below 0, and it is a share"
    if axis == "retry" and strength > MOST_RETRY:
        return (
            f"strength {strength:g} of retry is above {MOST_RETRY:g}, and two readings of one reply contradict each "
            "other in no more than half of the cases"
        )
    return None
