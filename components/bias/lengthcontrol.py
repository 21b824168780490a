"""The win rate that is left when length is held equal, after length-controlled AlpacaEval (arXiv 2404.04475)."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from components.bias.clusters import CONFIDENCE

RESAMPLES: Final = 500
_HALF: Final = 0.5
_UNFITTED: Final = 0.05
"""Share of the resamples that may have no fit; with more the interval would be that of the others alone."""
_STEPS: Final = 50
_FLAT: Final = 25.0
"""Log-odds beyond which a fit runs off to infinity: the wins can be told by length alone."""

Floats = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True)
class LengthControlled:
    """Wins of one response over another.

    Attributes:
        raw: win rate as it is.
        controlled: win rate at equal length; None where length tells all wins apart, or nothing can be fitted.
        low: lower end of the controlled rate's bootstrap interval over texts.
        high: upper end.
        slope: log-odds a standard deviation of the difference in length adds, near 0.
        n: comparisons.
        unfitted: resamples without a fit, left out of the intervals.
        raw_low: lower end of the raw rate's interval, from the same resamples.
        raw_high: upper end.
        smaller: how much nearer to one half the controlled rate is than the raw one; None without a controlled rate.
        smaller_low: lower end of its interval, from the same resamples.
        smaller_high: upper end.
    """

    raw: float
    controlled: float | None
    low: float | None
    high: float | None
    slope: float | None
    n: int
    unfitted: int
    raw_low: float | None = None
    raw_high: float | None = None
    smaller: float | None = None
    smaller_low: float | None = None
    smaller_high: float | None = None


def length_controlled(
    wins: Sequence[float], longer_by: Sequence[float], texts: Sequence[str], *, seed: int = 0
) -> LengthControlled:
    """Fit ``logit P(win) = a + b * tanh(d / sd(d))`` and read it off at d = 0.

    Args:
        wins: 1, 1/2 or 0 a comparison, at least one.
        longer_by: difference d in words, one a comparison.
        texts: of each comparison.
        seed: of the resampling.

    Raises:
        ValueError: lengths differ, or there is no comparison.
    """
    if not wins or len(wins) != len(longer_by) or len(wins) != len(texts):
        raise ValueError(
            f"{len(wins)} wins, {len(longer_by)} lengths, {len(texts)} texts; it takes as many, and one at least"
        )
    won, apart = np.asarray(wins, dtype=np.float64), np.asarray(longer_by, dtype=np.float64)
    whole = _fit(won, apart)
    places = [np.flatnonzero(np.asarray(texts, dtype=object) == text) for text in sorted(set(texts))]
    drawn: list[tuple[float, float]] = []
    unfitted = 0
    if whole is not None and len(places) > 1:
        draw = np.random.default_rng(seed)
        for picks in draw.integers(0, len(places), size=(RESAMPLES, len(places))):
            rows = np.concatenate([places[pick] for pick in picks])
            again = _fit(won[rows], apart[rows])
            if again is None:
                unfitted += 1
            else:
                drawn.append((float(won[rows].mean()), _share(again[0])))
    raw, controlled = float(won.mean()), None if whole is None else _share(whole[0])
    found = LengthControlled(raw, controlled, None, None, None if whole is None else whole[1], len(won), unfitted)
    if controlled is None:
        return found
    # The sides of one half are those of all comparisons: a resample on the other side counts as below 0.
    sides = (1.0 if raw >= _HALF else -1.0), (1.0 if controlled >= _HALF else -1.0)

    def nearer(raw: float, controlled: float) -> float:
        return sides[0] * (raw - _HALF) - sides[1] * (controlled - _HALF)

    found = dataclasses.replace(found, smaller=nearer(raw, controlled))
    if not drawn or unfitted > _UNFITTED * RESAMPLES:
        return found
    tail = (1.0 - CONFIDENCE) / 2.0
    columns = np.array([(*pair, nearer(*pair)) for pair in drawn])
    ends = [[float(end) for end in column] for column in np.quantile(columns, [tail, 1.0 - tail], axis=0).T]
    return dataclasses.replace(
        found,
        low=ends[1][0],
        high=ends[1][1],
        raw_low=ends[0][0],
        raw_high=ends[0][1],
        smaller_low=ends[2][0],
        smaller_high=ends[2][1],
    )


def _fit(won: Floats, apart: Floats) -> tuple[float, float] | None:
    """Newton's steps to the likeliest a and b; None where they run off."""
    spread = float(apart.std())
    design = np.column_stack([np.ones(len(apart)), np.tanh(apart / spread) if spread > 0.0 else np.zeros(len(apart))])
    if spread == 0.0:
        design = design[:, :1]
    found = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        chance = 1.0 / (1.0 + np.exp(-(design @ found)))
        curvature = (design * (chance * (1.0 - chance))[:, None]).T @ design
        if np.linalg.cond(curvature) > 1e12:
            return None
        step = np.linalg.solve(curvature, design.T @ (won - chance))
        found = found + step
        if np.abs(found).max() > _FLAT:
            return None
        if np.abs(step).max() < 1e-10:
            return float(found[0]), float(found[1]) if len(found) > 1 else 0.0
    return None


def _share(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-log_odds))
