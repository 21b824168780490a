"""Differences between groups of judges, with intervals over judges: families, and sizes within a family."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from components.bias.clusters import CONFIDENCE, t_quantile
from components.bias.estimate import Estimate

LEAST_JUDGES: Final = 3
_ROUNDING: Final = 1e-12


def welch(
    one: Sequence[float], other: Sequence[float], *, unknown: int = 0, confidence: float = CONFIDENCE
) -> Estimate:
    """Mean of one group less that of the other; Welch's (1947) interval, judges being what is counted.

    Args:
        one: a value of each judge of a group.
        other: of each judge of the other.
        unknown: judges of the two groups left out because their value is unknown.
        confidence: coverage, in (0, 1).
    """
    n = len(one) + len(other)
    if not one or not other:
        why = "a group has no judge" + (" whose value is known" if unknown else "")
        return Estimate.of(None, n=n, unknown=unknown, why=why)
    value = float(np.mean(one) - np.mean(other))
    if len(one) < 2 or len(other) < 2:
        return Estimate.of(
            value,
            n=n,
            unknown=unknown,
            why=f"{len(one)} against {len(other)} judges: an interval takes two of each group",
        )
    parts = [float(np.var(group, ddof=1)) / len(group) for group in (one, other)]
    error = math.sqrt(sum(parts))
    if error < _ROUNDING:
        why = "the judges of each group are all alike: no spread to draw an interval from"
        return Estimate.of(value, n=n, unknown=unknown, why=why)
    df = sum(parts) ** 2 / sum(part**2 / (len(group) - 1) for part, group in zip(parts, (one, other), strict=True))
    half = t_quantile(confidence, df) * error
    return Estimate.of(value, value - half, value + half, n=n, unknown=unknown)


def per_doubling(
    points: Sequence[tuple[float, float]], *, unknown: int = 0, confidence: float = CONFIDENCE
) -> Estimate:
    """How much a value changes where the number of parameters doubles: the least-squares slope on its logarithm to base
    2, with the t interval of (judges - 2) degrees of freedom.

    Args:
        points: number of parameters and value, one a judge.
        unknown: judges left out because their size or value is unknown.
        confidence: coverage, in (0, 1).
    """
    n = len(points)
    if n < LEAST_JUDGES:
        told = f"{n} judge{'' if n == 1 else 's'} of known size{' and value' if unknown else ''}"
        why = f"{told}: nothing can be said of size with fewer than {LEAST_JUDGES}"
        return Estimate.of(None, n=n, unknown=unknown, why=why)
    sizes = np.log2([parameters for parameters, _ in points])
    values = np.array([value for _, value in points])
    away = sizes - sizes.mean()
    spread = float(away @ away)
    if spread < _ROUNDING:
        return Estimate.of(None, n=n, unknown=unknown, why=f"{n} judges, all of one size")
    slope = float(away @ values) / spread
    rest = values - values.mean() - slope * away
    error = math.sqrt(float(rest @ rest) / (n - 2) / spread)
    if error < _ROUNDING:
        why = "the judges lie on one line: no spread to draw an interval from"
        return Estimate.of(slope, n=n, unknown=unknown, why=why)
    half = t_quantile(confidence, n - 2.0) * error
    return Estimate.of(slope, slope - half, slope + half, n=n, unknown=unknown)
