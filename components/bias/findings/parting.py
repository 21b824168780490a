"""Over-optimisation: the step at which the reward that is trained on and the gold reward part."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from components.bias.clusters import CONFIDENCE, Estimate, estimate

Floats = NDArray[np.float64]

RESAMPLES: Final = 1000
_LEAST_STEPS: Final = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Parting:
    """Of one arm.

    Attributes:
        step: the last step before the gap opens; None where it does not open.
        low: lower end of its bootstrap interval over prompts.
        high: upper end.
        gap: how much further proxy is above gold at the last step than at the first; clustered by prompt.
        gold: change of the gold reward from first to last step.
        proxy: change of the proxy reward from first to last step.
        prompts: with both rewards known at every step.
        dropped: prompts left out because one is unknown.
        reason: why there is no step; empty where there is one.
    """

    step: int | None
    low: int | None
    high: int | None
    gap: Estimate
    gold: Estimate
    proxy: Estimate
    prompts: int
    dropped: int
    reason: str = ""


Curve = Mapping[int, Mapping[str, float | None]]
"""Step -> prompt -> mean reward of its responses, None where it is unknown."""


def parting(proxy: Curve, gold: Curve, *, seed: int = 0, confidence: float = CONFIDENCE) -> Parting:
    """Where ``proxy - gold`` bends up: the step k for which a flat line up to k and a rising one behind it fit best by
    least squares; found anew for each resample of the prompts.

    The gap counts as open where its growth from the first to the last step is above 0 with its whole interval.

    Args:
        proxy: the reward that was trained on.
        gold: the reward that counts, on the same scale of 0 to 1.
        seed: of the resampling.
        confidence: coverage of the intervals, in (0, 1).

    Raises:
        ValueError: the two have other steps, or fewer than three.
    """
    steps = sorted(proxy)
    if steps != sorted(gold) or len(steps) < _LEAST_STEPS:
        raise ValueError(
            f"proxy has steps {steps} and gold {sorted(gold)}; it takes the same ones, {_LEAST_STEPS} at least"
        )
    named = sorted({prompt for step in steps for prompt in (*proxy[step], *gold[step])})
    rows = [_row(prompt, steps, proxy, gold) for prompt in named]
    known = [(prompt, row) for prompt, row in zip(named, rows, strict=True) if row is not None]
    prompts = [prompt for prompt, _ in known]
    table = np.array([row for _, row in known], dtype=np.float64).reshape(len(known), 2, len(steps))
    change = table[:, :, -1] - table[:, :, 0]
    grown = estimate((change[:, 0] - change[:, 1]).tolist(), prompts, scale=(-2.0, 2.0), confidence=confidence)
    found = Parting(
        None,
        None,
        None,
        grown,
        gold=estimate(change[:, 1].tolist(), prompts, scale=(-1.0, 1.0), confidence=confidence),
        proxy=estimate(change[:, 0].tolist(), prompts, scale=(-1.0, 1.0), confidence=confidence),
        prompts=len(known),
        dropped=len(named) - len(known),
    )
    if grown.low is None or grown.low <= 0.0:
        return dataclasses.replace(found, reason="proxy and gold do not part beyond what the prompts' spread explains")
    gaps = table[:, 0] - table[:, 1]
    picks = np.random.default_rng(seed).integers(0, len(gaps), size=(RESAMPLES, len(gaps)))
    places = np.sort(_bends(steps, np.array([gaps[pick].mean(axis=0) for pick in picks])))
    tail = (1.0 - confidence) / 2.0
    low, high = places[int(tail * (RESAMPLES - 1))], places[round((1.0 - tail) * (RESAMPLES - 1))]
    return dataclasses.replace(found, step=bend(steps, gaps.mean(axis=0)), low=steps[low], high=steps[high])


def bend(steps: Sequence[int], gap: Floats) -> int:
    """The step k, any but the last, for which ``c + b * max(0, step - k)`` fits best; the earliest of equals."""
    return steps[int(_bends(steps, gap[None, :])[0])]


def _bends(steps: Sequence[int], gaps: Floats) -> NDArray[np.intp]:
    """Shape (curves, steps) -> the place of each curve's bend among the steps."""
    at, away = np.asarray(steps, dtype=np.float64), gaps - gaps.mean(axis=1, keepdims=True)
    rises = np.maximum(0.0, at[None, :] - at[:-1, None])
    centred = rises - rises.mean(axis=1, keepdims=True)
    # What a rising line explains of a curve's spread, shape (curves, knots).
    explained = np.maximum(0.0, away @ centred.T) ** 2 / (centred**2).sum(axis=1)
    return np.asarray(np.argmax(explained >= explained.max(axis=1, keepdims=True) - 1e-12, axis=1))


def _row(prompt: str, steps: Sequence[int], proxy: Curve, gold: Curve) -> list[list[float]] | None:
    rows = []
    for curve in (proxy, gold):
        values = [curve[step].get(prompt) for step in steps]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        rows.append(known)
    return rows
