"""Intervals that do not shrink to a point where a sample holds no variation."""

import math
from collections.abc import Callable
from statistics import NormalDist

_HALVINGS = 60
"""Steps of a bisection over [-1, 1]: as fine as numbers are."""


def tango_interval(rose: int, fell: int, n: int, confidence: float) -> tuple[float, float]:
    """Score interval of the difference of two proportions on the same units.

    Tango (1998), Statistics in Medicine 17: 891-908: the differences d for which ``(rose - fell - n d) / sqrt(n (2 q +
    d (1 - d)))`` lies between the quantiles of the normal distribution, where q is the likeliest share of units that
    fell, given d. Never of no width, and inside [-1, 1]; where nothing changed, it ends at Wilson's (1927) bound of 0
    of n on either side.

    Args:
        rose: units that were no and became yes.
        fell: units that were yes and became no.
        n: all units, at least 1.
        confidence: coverage, in (0, 1).
    """
    z = NormalDist().inv_cdf((1.0 + confidence) / 2.0)
    gain = (rose - fell) / n

    def score(d: float) -> float:
        first = 2.0 * n
        second = -rose - fell + (2.0 * n - rose + fell) * d
        third = -fell * d * (1.0 - d)
        share = (math.sqrt(max(0.0, second * second - 4.0 * first * third)) - second) / (2.0 * first)
        spread = n * (2.0 * share + d * (1.0 - d))
        away = rose - fell - n * d
        return away / math.sqrt(spread) if spread > 0.0 else math.copysign(math.inf, away) if away else 0.0

    return (
        gain if rose - fell == -n else _crossing(score, z, -1.0, gain),
        gain if rose - fell == n else _crossing(score, -z, gain, 1.0),
    )


def _crossing(score: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    """Where a falling function takes a value."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if score(middle) > wanted else (low, middle)
    return (low + high) / 2.0


def constant_interval(
    value: float, n: int, confidence: float, scale: tuple[float, float] = (0.0, 1.0)
) -> tuple[float, float]:
    """Interval of a mean of n units that all have one value.

    Of units that differ none was seen, so their share may be as large as Wilson's (1927) upper bound of 0 of n, z² / (n
    + z²); how much they differ, the ends of the scale limit. At an end of the scale 0 to 1 it is Wilson's interval.

    Args:
        value: of every unit.
        n: units, at least 1.
        confidence: coverage, in (0, 1).
        scale: least and largest value that a unit can have.
    """
    squared = NormalDist().inv_cdf((1.0 + confidence) / 2.0) ** 2
    reach = squared / (n + squared)
    return value - reach * (value - scale[0]), value + reach * (scale[1] - value)


def wilson_interval(successes: int, n: int, confidence: float) -> tuple[float, float]:
    """Score interval of a binomial share (Wilson 1927, doi 10.1080/01621459.1927.10502953).

    Args:
        successes: out of ``n``.
        n: trials, at least 1.
        confidence: coverage, in (0, 1).
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)
