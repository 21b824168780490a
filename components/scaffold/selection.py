"""Which criteria are shown, given how much of the rubric."""

import hashlib
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.core.spec.scaffold import ScaffoldSpec


def shown(
    spec: "ScaffoldSpec", ratio: float, criteria: int, *, seed: int, step: int, row_id: str, index: int
) -> list[int]:
    """Places (from 0, ascending) of the criteria that are shown.

    Order ``random``: round(ratio x N) of them without replacement, rounded half to even as published. Order ``math``:
    the next-to-last criterion (the answer's form) always, the last one (the answer) only at ratio 1, and of the others
    the first round(ratio x (N - 2)).

    Args:
        spec: the scaffold.
        ratio: share of the rubric, in [0, 1].
        criteria: their number N.
        seed: of the experiment.
        step: of training, from 1.
        row_id: of the prompt.
        index: of the sample in its group, from 0.

    Returns:
        The same for equal arguments on every machine: the draw hangs on seed, step, row and sample alone.
    """
    if spec.order == "math" and criteria >= 2:
        first = list(range(round(ratio * (criteria - 2))))
        return [*first, criteria - 2, *([criteria - 1] if ratio >= 1.0 else [])]
    number = round(ratio * criteria)
    digest = hashlib.sha256(f"{seed}\n{step}\n{row_id}\n{index}".encode()).digest()
    return sorted(random.Random(int.from_bytes(digest, "big")).sample(range(criteria), number))
