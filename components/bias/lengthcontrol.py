"""The win rate that is left when length is held equal, after length-controlled AlpacaEval (arXiv 2404.04475)."""

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from components.bias.clusters import estimate
from components.bias.jackknife import ALONE, error, jackknifed
from components.bias.signs import possible

_HALF: Final = 0.5
_ENDS: Final = (-0.5, 0.5)
_UNFIT: Final = "length tells all wins apart, or all are alike: nothing can be fitted"
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
        low: lower end of the controlled rate's interval over texts.
        high: upper end.
        slope: log-odds a standard deviation of the difference in length adds, near 0.
        n: comparisons.
        raw_low: lower end of the raw rate's interval.
        raw_high: upper end.
        smaller: how much nearer to one half the controlled rate is than the raw one; None without a controlled rate.
        smaller_low: lower end of its interval.
        smaller_high: upper end.
        why: why there is no controlled rate, or no interval; empty where both are there.
    """

    raw: float
    controlled: float | None
    low: float | None
    high: float | None
    slope: float | None
    n: int
    raw_low: float | None = None
    raw_high: float | None = None
    smaller: float | None = None
    smaller_low: float | None = None
    smaller_high: float | None = None
    why: str = ""


def length_controlled(wins: Sequence[float], longer_by: Sequence[float], texts: Sequence[str]) -> LengthControlled:
    """Fit ``logit P(win) = a + b * tanh(d / sd(d))`` and read it off at d = 0.

    The raw rate has the interval of :func:`components.bias.clusters.estimate`, the others that of
    :func:`components.bias.jackknife.jackknifed` over the texts. Where a rate is less than a standard error away from
    one half its side is chance; then the difference's interval is the hull of those with either side.

    Args:
        wins: 1, 1/2 or 0 a comparison, at least one.
        longer_by: difference d in words, one a comparison.
        texts: of each comparison.

    Raises:
        ValueError: lengths differ, or there is no comparison.
    """
    if not wins or len(wins) != len(longer_by) or len(wins) != len(texts):
        raise ValueError(
            f"{len(wins)} wins, {len(longer_by)} lengths, {len(texts)} texts; it takes as many, and one at least"
        )
    won, apart = np.asarray(wins, dtype=np.float64), np.asarray(longer_by, dtype=np.float64)
    plain = estimate(wins, texts, scale=(0.0, 1.0), share=True)
    raw, fit = float(won.mean()), _fit(won, apart)
    found = LengthControlled(raw, None, None, None, None, len(won), plain.low, plain.high)
    if fit is None:
        return dataclasses.replace(found, why=_UNFIT)
    controlled = _share(fit[0])
    sides = (1.0 if raw >= _HALF else -1.0), (1.0 if controlled >= _HALF else -1.0)
    smaller = sides[0] * (raw - _HALF) - sides[1] * (controlled - _HALF)
    found = dataclasses.replace(found, controlled=controlled, slope=fit[1], smaller=smaller)
    names = np.asarray(texts, dtype=object)
    rows = [names != name for name in sorted(set(texts))]
    if len(rows) < 2:
        return dataclasses.replace(found, why=ALONE)
    fits = [_fit(won[kept], apart[kept]) for kept in rows]
    raws = np.array([won[kept].mean() for kept in rows])
    rates = np.array([math.nan if each is None else _share(each[0]) for each in fits])
    span = jackknifed(controlled, rates, (0.0, 1.0))
    if span.low is None:
        return dataclasses.replace(found, why=span.why)
    open_sides = [possible(value - _HALF, error(each)) for value, each in ((raw, raws), (controlled, rates))]
    spans = [
        jackknifed(
            side * (raw - _HALF) - other * (controlled - _HALF), side * raws - other * rates - (side - other) / 2, _ENDS
        )
        for side, other in itertools.product(*open_sides)
    ]
    return dataclasses.replace(
        found,
        low=span.low,
        high=span.high,
        smaller_low=min((each.low for each in spans if each.low is not None), default=None),
        smaller_high=max((each.high for each in spans if each.high is not None), default=None),
        why=spans[0].why,
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
