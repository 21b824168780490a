"""Means, trends and correlations over rollouts, whose samples come in groups of one prompt at one step."""

import dataclasses
import math
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np

from components.core.statistics import Floats, bootstrap_means, prompt_mean, quantiles

Key = TypeVar("Key", bound=Hashable)


@dataclasses.dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its standard error.

    Attributes:
        n: known values.
        clusters: prompts that they come from.
        unknown: values left out because they are unknown.
        mean: over the known values; None when n is 0.
        error: standard error of the mean, clustered by prompt; None when fewer than two prompts.
    """

    n: int
    clusters: int
    unknown: int
    mean: float | None
    error: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Trend:
    """Change of a mean between two sets of rollouts, with a bootstrap interval over prompts."""

    first: Mean
    last: Mean
    change: float | None
    low: float | None
    high: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson correlation inside groups, pooled over groups.

    Attributes:
        n: pairs with both values known, in groups where both vary or not.
        groups: groups that the pairs come from.
        informative: groups in which both values vary, so that they say anything.
        unknown: pairs left out because a value is unknown.
        r: the correlation, in [-1, 1]; None when a value never varies inside a group.
        low: lower end of the bootstrap interval over groups; None when it cannot be drawn.
        high: its upper end.
    """

    n: int
    groups: int
    informative: int
    unknown: int
    r: float | None
    low: float | None
    high: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Grouped(Generic[Key]):
    """Known values by group."""

    values: dict[Key, list[float]]
    unknown: int


def group_known(values: Sequence[float | None], keys: Sequence[Key]) -> Grouped[Key]:
    """Known values in the order given, by key; unknown ones counted."""
    grouped: dict[Key, list[float]] = {}
    for value, key in zip(values, keys, strict=True):
        if value is not None:
            grouped.setdefault(key, []).append(value)
    return Grouped(grouped, sum(value is None for value in values))


def clustered_mean(values: Sequence[float | None], clusters: Sequence[Hashable]) -> Mean:
    """Mean over all known values, with the cluster-robust standard error of a mean.

    The error is ``sqrt(m / (m - 1) * sum over clusters of (sum of the cluster's residuals)^2) / n`` for m clusters
    (Liang and Zeger 1986, with the usual m / (m - 1)); with clusters of one size it equals the standard error of the
    cluster means.

    Raises:
        ValueError: a value is not finite.
    """
    grouped = group_known(values, clusters)
    known = [value for members in grouped.values.values() for value in members]
    mean = prompt_mean(known)
    m, n = len(grouped.values), len(known)
    error = None
    if mean is not None and m > 1:
        squares = [math.fsum(value - mean for value in members) ** 2 for members in grouped.values.values()]
        error = math.sqrt(m / (m - 1) * math.fsum(squares)) / n
    return Mean(n=n, clusters=m, unknown=grouped.unknown, mean=mean, error=error)


def trend(
    first: tuple[Sequence[float | None], Sequence[Hashable]],
    last: tuple[Sequence[float | None], Sequence[Hashable]],
    *,
    resamples: int,
    confidence: float,
    seed: int,
) -> Trend:
    """Change of the mean from ``first`` to ``last``, each a pair of values and their clusters.

    Clusters are resampled whole and independently on the two sides.
    """
    before, after = clustered_mean(*first), clustered_mean(*last)
    change = low = high = None
    if before.mean is not None and after.mean is not None:
        change = after.mean - before.mean
        if before.clusters > 1 and after.clusters > 1:
            draws = _ratio_draws(first, resamples, seed), _ratio_draws(last, resamples, seed + 1)
            low, high = quantiles(draws[1] - draws[0], confidence)
    return Trend(first=before, last=after, change=change, low=low, high=high)


def _ratio_draws(side: tuple[Sequence[float | None], Sequence[Hashable]], resamples: int, seed: int) -> Floats:
    members = group_known(*side).values.values()
    totals = np.array([[math.fsum(values), len(values)] for values in members], dtype=np.float64)
    draws = bootstrap_means(totals, resamples=resamples, seed=seed)
    ratio: Floats = draws[:, 0] / draws[:, 1]
    return ratio


def within_correlation(
    x: Sequence[float | None],
    y: Sequence[float | None],
    groups: Sequence[Hashable],
    *,
    resamples: int,
    confidence: float,
    seed: int,
) -> Correlation:
    """Correlation of ``x`` and ``y`` after each group's means are taken off.

    What differs between groups (a hard prompt, a late step) cannot make it; a group where a value does not vary adds
    nothing to its numerator. The interval resamples whole groups.
    """
    pairs: dict[Hashable, list[tuple[float, float]]] = {}
    for left, right, group in zip(x, y, groups, strict=True):
        if left is not None and right is not None:
            pairs.setdefault(group, []).append((left, right))
    n = sum(len(members) for members in pairs.values())
    sums = np.array([_products(members) for members in pairs.values()], dtype=np.float64).reshape(-1, 3)
    informative = int(((sums[:, 0] > 0) & (sums[:, 1] > 0)).sum())
    r = low = high = None
    if informative:
        r = float(_pearson(sums.sum(axis=0)))
        draws = _pearson(bootstrap_means(sums, resamples=resamples, seed=seed))
        defined = draws[np.isfinite(draws)]
        # A resample without variation has no correlation; with many of those the interval would be of the others alone.
        if informative > 1 and defined.size >= 0.95 * resamples:
            low, high = quantiles(defined, confidence)
    return Correlation(n, len(pairs), informative, len(x) - n, r, low, high)


def _products(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    left, right = (_deviations([pair[side] for pair in pairs]) for side in (0, 1))
    return float(left @ left), float(right @ right), float(left @ right)


def _deviations(values: Sequence[float]) -> Floats:
    array = np.array(values, dtype=np.float64)
    # The mean of equal numbers can differ from them in the last bit; that is no variation.
    return array - array.mean() if array.max() > array.min() else np.zeros_like(array)


def _pearson(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        r: Floats = sums[..., 2] / (np.sqrt(sums[..., 0]) * np.sqrt(sums[..., 1]))
    return np.clip(r, -1.0, 1.0)
