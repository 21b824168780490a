"""The mean over items that come in clusters, the texts they were made from, and how far it can be trusted.

Items of one text are alike, so the spread is taken between texts. The percentile bootstrap over some 40 texts covers
too seldom; docs/bias-statistics.md has what was measured.
"""

import dataclasses
import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from components.core.score_interval import constant_interval
from components.core.statistics import sign_test

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
_ROUNDING = 1e-12
"""Sums of equal values differ by this much at most."""


@dataclasses.dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over items, clustered by text.

    Attributes:
        value: the mean; None when no item is known.
        low: lower end of its interval; None with fewer than two texts.
        high: upper end.
        p: two-sided p that the mean is zero; None with fewer than two texts.
        items: known items behind it.
        texts: distinct texts of those.
        se: standard error; None with fewer than two texts.
        df: degrees of freedom of the t distribution used; None with fewer than two texts.
        confidence: nominal coverage, in (0, 1).
    """

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    items: int
    texts: int
    se: float | None = None
    df: float | None = None
    confidence: float = CONFIDENCE


def cluster_sums(values: Sequence[float], texts: Sequence[str]) -> tuple[Floats, Floats]:
    """Sum and number of the values of each text, in the order of the texts' names.

    Raises:
        ValueError: the lengths differ, or a value is not finite.
    """
    if len(values) != len(texts):
        raise ValueError(f"{len(values)} values for {len(texts)} texts")
    if not all(math.isfinite(value) for value in values):
        raise ValueError("a value is not finite; an unknown value is left out, never a number")
    _, places = np.unique(np.asarray(texts, dtype=object), return_inverse=True)
    sizes = np.bincount(places).astype(np.float64)
    weights = np.asarray(values, dtype=np.float64)
    return np.bincount(places, weights=weights, minlength=len(sizes)).astype(np.float64), sizes


def robust_error(sums: Floats, sizes: Floats) -> tuple[float, float]:
    """Standard error of the mean over items and its degrees of freedom.

    The bias-reduced variance CR2 with Satterthwaite's degrees of freedom (Bell and McCaffrey 2002; Pustejovsky and
    Tipton 2018, doi 10.1080/07350015.2016.1247004), for a mean under working independence. With texts of equal size it
    is the plain t test on the texts' means, with (texts - 1) degrees of freedom.

    Args:
        sums: shape (texts,), sum of each text's values.
        sizes: shape (texts,), number of each text's values, at least two texts.
    """
    n = float(sizes.sum())
    residuals = sums - sizes * (sums.sum() / n)
    weights = 1.0 / (n * np.sqrt(1.0 - sizes / n))
    variance = float((weights**2 * residuals**2).sum())
    # Gram matrix of the quadratic form that the variance is, for independent items of equal variance.
    gram = np.diag(sizes * weights**2) - np.outer(sizes * weights, sizes * weights) / n
    df = float(np.trace(gram) ** 2 / (gram**2).sum())
    return math.sqrt(variance), df


def estimate(
    values: Sequence[float],
    texts: Sequence[str],
    *,
    scale: tuple[float, float],
    share: bool = False,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Mean over items with its interval and p.

    The interval is the mean plus and minus a quantile of t times the error of :func:`robust_error`; of a share it is
    Wilson's (1927) with the number of independent items that gives the same error (as in Franco et al. 2019, doi
    10.1093/jssam/smy019), since near 0 the other one covers too seldom; where no item goes the other way, the hull of
    both. Where all values are equal, resampling and errors see
    certainty; then it is that of :func:`components.core.score_interval.constant_interval` over the texts, and p that of
    the exact sign test over the texts.

    Args:
        values: one an item.
        texts: the text of each item.
        scale: least and largest value that an item can have.
        share: whether the mean is a share between 0 and 1 whose true value may be at an end.
        confidence: coverage, in (0, 1).

    Raises:
        ValueError: lengths differ, or a value is not finite.
    """
    sums, sizes = cluster_sums(values, texts)
    if len(sizes) == 0:
        return Estimate(None, None, None, None, 0, 0, confidence=confidence)
    mean, groups = float(sums.sum() / sizes.sum()), len(sizes)
    if groups < 2:
        return Estimate(mean, None, None, None, len(values), groups, confidence=confidence)
    if max(values) - min(values) < _ROUNDING:
        low, high = constant_interval(mean, groups, confidence, scale)
        p = 1.0 if abs(mean) < _ROUNDING else sign_test(groups, 0)
        return Estimate(mean, low, high, p, len(values), groups, 0.0, groups - 1.0, confidence)
    error, df = robust_error(sums, sizes)
    if error < _ROUNDING:
        # The texts' means are all equal though the items are not: the items' own spread is the least that can be said.
        error, df = float(np.std(values, ddof=1)) / math.sqrt(len(values)), groups - 1.0
    p = two_sided(mean / error, df)
    quantile = t_quantile(confidence, df)
    low, high = max(scale[0], mean - quantile * error), min(scale[1], mean + quantile * error)
    if share:
        low, high = wilson(mean, mean * (1.0 - mean) / error**2, quantile)
    elif min(values) >= 0.0 or max(values) <= 0.0:
        low, high = _one_signed(mean, error, quantile, scale, (low, high))
    return Estimate(mean, low, high, p, len(values), groups, error, df, confidence)


def _one_signed(
    mean: float, error: float, quantile: float, scale: tuple[float, float], plain: tuple[float, float]
) -> tuple[float, float]:
    """The hull of the plain interval and of Wilson's for the share of the scale on the values' side: where no item goes
    the other way, the few that move are too few for the plain one."""
    end = scale[1] if mean > 0.0 else scale[0]
    part = mean / end
    near, far = (side * end for side in wilson(part, part * (1.0 - part) / (error / end) ** 2, quantile))
    return min(plain[0], near, far), max(plain[1], near, far)


def wilson(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's (1927) interval for a number of trials that need not be whole.

    Args:
        share: seen, in [0, 1].
        n: trials, above 0.
        quantile: of the normal distribution, or of t.
    """
    squared = quantile**2
    middle = (share + squared / (2.0 * n)) / (1.0 + squared / n)
    half = quantile / (1.0 + squared / n) * math.sqrt(share * (1.0 - share) / n + squared / (4.0 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def two_sided(t: float, df: float) -> float:
    """Two-sided p of a t value."""
    from scipy import stats

    return float(2.0 * stats.t.sf(abs(t), df))


def t_quantile(confidence: float, df: float) -> float:
    """The quantile that leaves (1 - confidence) / 2 above it; the normal one where df is infinite."""
    from scipy import stats

    upper = (1.0 + confidence) / 2.0
    return NormalDist().inv_cdf(upper) if math.isinf(df) else float(stats.t.ppf(upper, df))
