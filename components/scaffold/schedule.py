"""How much of a rubric is shown: a share by the sample's place in its group, times a share by the step.

Source of the formulas: RuscaRL, arXiv 2508.16949.
"""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.core.spec.scaffold import ScaffoldSpec


def group_share(spec: "ScaffoldSpec", index: int, group: int) -> float:
    """Share for sample ``index`` (from 0) of ``group`` samples: the first see most, the last see least.

    ``linear``: (G - 1 - i) / (G - 1), and 1 for a group of one. ``binary``: 1 for the first ``spec.full`` samples.

    Raises:
        ValueError: the index is outside of the group.
    """
    if not 0 <= index < group:
        raise ValueError(f"sample {index} of a group of {group}")
    if spec.group == "binary":
        return 1.0 if index < spec.full else 0.0
    return 1.0 if group == 1 else (group - 1 - index) / (group - 1)


def step_share(spec: "ScaffoldSpec", step: int, steps: int) -> float:
    """Share at ``step`` (from 1) of ``steps``; x = (step - 1) / (steps - 1) is the progress, within 0 and 1.

    ``sigmoid``: 1 / (1 + exp(steepness (x - midpoint))). ``linear``: 1 - x. ``power``: (1 - x)^power. ``none``: 1.
    """
    progress = 0.0 if steps <= 1 else min(1.0, max(0.0, (step - 1) / (steps - 1)))
    if spec.decay == "sigmoid":
        slope = spec.steepness * (progress - spec.midpoint)
        # Far from the midpoint exp() would overflow.
        return 1.0 / (1.0 + math.exp(slope)) if slope < 700 else 0.0
    if spec.decay == "linear":
        return 1.0 - progress
    if spec.decay == "power":
        return float((1.0 - progress) ** spec.power)
    return 1.0


def ratio(spec: "ScaffoldSpec", *, step: int, steps: int, index: int, group: int) -> float:
    """The share of the rubric that sample ``index`` of its group sees at ``step``, in [0, 1]."""
    return group_share(spec, index, group) * step_share(spec, step, steps)
