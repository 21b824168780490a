"""Updates that trained on something, told apart from those that did not; free of verl.

A mini-batch whose tokens are all masked has gradient 0 and, in verl 0.9.1, a loss of 0 / 0; its optimizer would step
all the same, and momentum and weight decay move the weights on nothing. :mod:`components.engine.actor_engine` leaves
such updates out and counts them; this module makes the step's metrics agree with that.
"""

import math
from collections.abc import Mapping
from typing import Any

ENGINE_MODULE = "components.engine.actor_engine"

VENDOR = "gavel"
"""verl looks engines up by device and vendor; this name finds ours (environment variable ``VERL_ENGINE_VENDOR``)."""

RUNNING = {"max_updates": "judge/updates", "max_skipped_updates": "judge/skipped_updates"}
"""The engine's running counts within a step and their names in the log. verl keeps the largest of what has max in its
name; of everything else it would take the mean over mini-batches."""

_PREFIX = "actor/"


def settle(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """A step's metrics as verl logs them, right also where updates were left out.

    The counts get their names. ``actor/loss`` becomes the mean over the updates that were made: verl has put 0 in for
    the others. What depends on the time of an update, ``perf/mfu/actor``, goes. Where no update was made at all, there
    is no loss, and verl's means over no token, which are no numbers, go as well.

    Raises:
        RuntimeError: the policy was updated by another engine than ours, which does not look at the masks.
    """
    found = dict(metrics)
    if f"{_PREFIX}loss" not in found:
        return found
    counts = {name: found.pop(f"{_PREFIX}{key}", None) for key, name in RUNNING.items()}
    if None in counts.values():
        raise RuntimeError(f"the policy's engine is not {ENGINE_MODULE}: is VERL_ENGINE_VENDOR={VENDOR} set?")
    found |= {name: float(count) for name, count in counts.items()}
    updates, skipped = found["judge/updates"], found["judge/skipped_updates"]
    if skipped == 0:
        return found
    found.pop("perf/mfu/actor", None)
    if skipped < updates:
        found[f"{_PREFIX}loss"] *= updates / (updates - skipped)
        return found
    del found[f"{_PREFIX}loss"]
    return {name: value for name, value in found.items() if not _is_nan(value)}


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
