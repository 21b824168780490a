"""Canaries in counts: the metrics of a step, and the words for an alarm."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from components.reward.canaries.sighting import Sighting

SENT: Final = "canary/sent"
REWARDED: Final = "canary/rewarded"
UNKNOWN: Final = "canary/unknown"
MEAN: Final = "canary/reward_mean"
"""Metrics of a step: canaries judged, those that earned more than they may, those whose reward is unknown, and the mean
of the known rewards, which is left out where none is known."""


def step_metrics(sightings: Sequence[Sighting]) -> dict[str, float]:
    """The metrics of one step's canaries; none where there were none."""
    if not sightings:
        return {}
    known = [each.reward for each in sightings if each.reward is not None]
    found = {
        SENT: float(len(sightings)),
        REWARDED: float(sum(each.rewarded is True for each in sightings)),
        UNKNOWN: float(len(sightings) - len(known)),
    }
    return found | ({MEAN: math.fsum(known) / len(known)} if known else {})


def told_in_step(metrics: Mapping[str, object]) -> str:
    """A step's alarm in a few words, such as ``1 of 2 canaries rewarded``; "" where there is none.

    Args:
        metrics: of the step, by name.
    """
    sent, rewarded = metrics.get(SENT), metrics.get(REWARDED)
    if not isinstance(sent, int | float) or not isinstance(rewarded, int | float) or not rewarded:
        return ""
    return f"CANARY ALARM: {rewarded:.0f} of {sent:.0f} responses without content rewarded"


def told_overall(metrics: Mapping[int, Mapping[str, float]]) -> str:
    """All steps in a line; "" where the training has no canaries.

    Args:
        metrics: by step and name.
    """
    rows = {step: row for step, row in sorted(metrics.items()) if SENT in row}
    if not rows:
        return ""
    sent, rewarded, unknown = (
        sum(int(row.get(name, 0.0)) for row in rows.values()) for name in (SENT, REWARDED, UNKNOWN)
    )
    counts = f"{sent} responses without content judged, {rewarded} rewarded, {unknown} unknown"
    if not rewarded:
        return f"canaries: {counts}"
    first = next(step for step, row in rows.items() if row.get(REWARDED))
    return f"CANARY ALARM: {counts}, the first at step {first}: this reward can be had for nothing"


def alarm(sightings: Sequence[Sighting]) -> str | None:
    """A sentence to wake somebody with where any canary earned too much; None where none did, or none is known."""
    rewarded = [each for each in sightings if each.rewarded]
    known = sum(each.reward is not None for each in sightings)
    return alarm_of(len(rewarded), known, [each.step for each in rewarded], [each.key for each in rewarded])


def alarm_of(rewarded: int, known: int, steps: Iterable[int], keys: Iterable[str]) -> str | None:
    """The same from counts.

    Args:
        rewarded: canaries that earned too much.
        known: canaries whose reward is known.
        steps: of the rewarded ones.
        keys: likewise.
    """
    if not rewarded:
        return None
    named = ", ".join(sorted({json.dumps(key, ensure_ascii=False) for key in keys}))
    return (
        f"the judge rewarded {rewarded} of {known} responses without content, the first at step {min(steps)} "
        f"({named}): its reward can be had for nothing"
    )
