"""Names under which a policy stands in tables of generations and scores, at each look that a study takes at it."""

import re
from typing import Final

BEFORE: Final = "base"
AFTER: Final = "trained"
_BETWEEN: Final = re.compile(r"step-([0-9]{6,9})")


def model_name(step: int) -> str:
    """What the policy after a training step is called; names sort as steps do."""
    return f"step-{step:06d}"


def step_of(model: str, last: int) -> int | None:
    """The training step of a look: 0 before training, ``last`` after it; None for a name that is none of these.

    Args:
        model: as in the tables.
        last: the training's last step.
    """
    if model in (BEFORE, AFTER):
        return 0 if model == BEFORE else last
    found = _BETWEEN.fullmatch(model)
    return None if found is None else int(found[1])
