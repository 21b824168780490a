"""The interval of a number that is no mean of its items, such as kappa, by leaving out one cluster at a time."""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from components.bias.clusters import CONFIDENCE, t_quantile, wilson

Floats = NDArray[np.float64]

ALONE: Final = "one text or prompt has no interval"
_NEEDED: Final = "without one text or prompt there would be no such number: too little varies for an interval"
_SAME: Final = "it is the same without any one text or prompt: too little varies for an interval"
_ROUNDING: Final = 1e-9


class Span(NamedTuple):
    """An interval, or the reason for having none.

    Attributes:
        low: lower end; None where there is none.
        high: upper end.
        why: why there is none; empty where there is one.
    """

    low: float | None
    high: float | None
    why: str


def error(without: Floats) -> float:
    """The jackknife's standard error (Miller 1974, doi 10.1093/biomet/61.1.1).

    Args:
        without: shape (clusters,), the value without each of them.
    """
    n = len(without)
    return math.sqrt((n - 1) / n * float(((without - without.mean()) ** 2).sum()))


def jackknifed(
    value: float,
    without: Floats,
    scale: tuple[float, float],
    *,
    uneven: bool = False,
    confidence: float = CONFIDENCE,
) -> Span:
    """Interval from the value of all clusters and those without each.

    The standard error is that of :func:`error`. The number's place on its scale is then taken as a share that as many
    independent trials give as have this error, and has Wilson's interval, as in
    :func:`components.bias.clusters.estimate`: near an end of the scale it reaches further towards the middle, and never
    beyond the end. docs/bias-statistics.md has how often it covers; the percentile bootstrap covers too seldom near the
    ends.

    Args:
        value: over all clusters.
        without: shape (clusters,), the value without each of them; NaN where there is none.
        scale: least and largest value that there can be.
        uneven: whether a few clusters may make the whole error, as where few responses stand in a wrong order. Then the
            quantile is that of t with the degrees of freedom that match the spread of the clusters' squared deviations
            (Satterthwaite 1946), ``2 n / (kurtosis - 1)``, and not n - 1 as long as it is less.
        confidence: coverage, in (0, 1).
    """
    n = len(without)
    if n < 2:
        return Span(None, None, ALONE)
    if not np.isfinite(without).all():
        return Span(None, None, _NEEDED)
    width = scale[1] - scale[0]
    place, far = (value - scale[0]) / width, error(without) / width
    if far < _ROUNDING or not 0.0 < place < 1.0:
        return Span(None, None, _SAME)
    df = n - 1.0
    if uneven:
        squares = (without - without.mean()) ** 2
        kurtosis = n * float((squares**2).sum()) / float(squares.sum()) ** 2
        df = min(df, 2.0 * n / max(kurtosis - 1.0, _ROUNDING))
    low, high = wilson(place, place * (1.0 - place) / far**2, t_quantile(confidence, df))
    return Span(scale[0] + low * width, scale[0] + high * width, "")
