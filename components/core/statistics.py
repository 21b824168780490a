"""Intervals and exact sign test of a before/after comparison whose unit is the prompt.

Samples of one prompt are not independent, so a prompt counts once, by the mean over its known samples. A value that is
unknown (None) is dropped and counted; it is never read as zero.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from components.core.score_interval import constant_interval, tango_interval

Floats = NDArray[np.float64]

SHARES = (0.0, 1.0)
"""The scale of shares and of yes/no values."""
_CELLS = 2_000_000
"""Resampled units held at a time: about 16 MB a column."""


@dataclasses.dataclass(frozen=True, slots=True)
class Comparison:
    """One measure before and after training.

    Attributes:
        n: prompts with a known value on both sides; everything below rests on these alone.
        base: mean over those prompts before training; None when n is 0.
        trained: the same after training.
        gain: ``trained - base``, in the measure's own unit.
        low: lower end of the gain's interval, see :func:`compare`; None when n is below 2, or nothing varies on a scale
            without ends.
        high: its upper end.
        base_interval: interval of ``base`` alone, see :func:`mean_interval`.
        trained_interval: the same of ``trained`` alone.
        confidence: nominal coverage of the interval, in (0, 1).
        resamples: bootstrap resamples drawn.
        dropped: prompts left out because one side has no known value.
        unknown_base: samples with an unknown value before training, over all prompts.
        unknown_trained: the same after training.
        rose: prompts whose value rose.
        fell: prompts whose value fell.
        sign_p: two-sided p of the exact sign test on ``rose`` against ``fell``; None when n is 0. With one yes/no
            value a prompt this is McNemar's exact test.
    """

    n: int
    base: float | None
    trained: float | None
    gain: float | None
    low: float | None
    high: float | None
    base_interval: tuple[float, float] | None
    trained_interval: tuple[float, float] | None
    confidence: float
    resamples: int
    dropped: int
    unknown_base: int
    unknown_trained: int
    rose: int
    fell: int
    sign_p: float | None


def prompt_mean(values: Sequence[float | None]) -> float | None:
    """Mean of the known values, or None when there is none.

    Raises:
        ValueError: a value is not finite.
    """
    known = [value for value in values if value is not None]
    if not all(math.isfinite(value) for value in known):
        raise ValueError("a value is not finite; an unknown value is None")
    return math.fsum(known) / len(known) if known else None


def compare(
    base: Mapping[str, Sequence[float | None]],
    trained: Mapping[str, Sequence[float | None]],
    *,
    resamples: int,
    confidence: float,
    seed: int,
    scale: tuple[float, float] | None = SHARES,
) -> Comparison:
    """Compare two models on the same prompts.

    The gain's interval is Tango's score interval where each prompt has yes or no on either side, and otherwise the
    paired percentile bootstrap; where all gains are equal, which resampling would take for certain, that of
    :func:`mean_interval`.

    Args:
        base: row id -> values of the base model's samples.
        trained: row id -> values of the trained model's samples.
        resamples: bootstrap resamples, at least 1.
        confidence: coverage of the interval, in (0, 1).
        seed: of the resampling.
        scale: least and largest value that there can be; None where that is not known. One that does not hold the
            values counts as unknown.

    Raises:
        ValueError: a value is not finite.
    """
    rows = sorted(set(base) | set(trained))
    pairs = [
        (before, after)
        for row in rows
        if (before := prompt_mean(base.get(row, ()))) is not None
        and (after := prompt_mean(trained.get(row, ()))) is not None
    ]
    table = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    differences = table[:, 1] - table[:, 0]
    columns = np.column_stack([differences, table])
    if scale is not None and not ((table >= scale[0]) & (table <= scale[1])).all():
        scale = None
    spans = (None if scale is None else (scale[0] - scale[1], scale[1] - scale[0]), scale, scale)
    drawn = percentile_intervals(columns, resamples=resamples, confidence=confidence, seed=seed)
    intervals = [
        _or_constant(columns[:, place], None if drawn is None else drawn[place], confidence, span)
        for place, span in enumerate(spans)
    ]
    rose, fell = int((differences > 0).sum()), int((differences < 0).sum())
    if len(pairs) > 1 and scale == SHARES and ((table == 0.0) | (table == 1.0)).all():
        intervals[0] = tango_interval(rose, fell, len(pairs), confidence)
    known = bool(pairs)
    return Comparison(
        n=len(pairs),
        base=float(table[:, 0].mean()) if known else None,
        trained=float(table[:, 1].mean()) if known else None,
        gain=float(differences.mean()) if known else None,
        low=intervals[0][0] if intervals[0] else None,
        high=intervals[0][1] if intervals[0] else None,
        base_interval=intervals[1],
        trained_interval=intervals[2],
        confidence=confidence,
        resamples=resamples,
        dropped=len(rows) - len(pairs),
        unknown_base=sum(value is None for values in base.values() for value in values),
        unknown_trained=sum(value is None for values in trained.values() for value in values),
        rose=rose,
        fell=fell,
        sign_p=sign_test(rose, fell) if known else None,
    )


def bootstrap_means(values: Floats, *, resamples: int, seed: int) -> Floats:
    """Means of ``resamples`` draws of the rows with replacement.

    Args:
        values: shape (n,) or (n, k); a row is one independent unit.
        resamples: number of draws.
        seed: of the draws; equal seed and n give equal draws, whatever the values.

    Returns:
        Shape (resamples,) or (resamples, k).
    """
    generator = np.random.default_rng(seed)
    n = values.shape[0]
    means = np.empty((resamples, *values.shape[1:]), dtype=np.float64)
    block = max(1, _CELLS // max(1, n))
    for start in range(0, resamples, block):
        stop = min(start + block, resamples)
        picks = generator.integers(0, n, size=(stop - start, n))
        means[start:stop] = values[picks].mean(axis=1)
    return means


def percentile_intervals(
    values: Floats, *, resamples: int, confidence: float, seed: int
) -> list[tuple[float, float]] | None:
    """Percentile bootstrap interval of the mean of each column (Efron and Tibshirani 1993, chapter 13).

    Args:
        values: shape (n, k); a row is one independent unit.
        resamples: number of draws.
        confidence: coverage of the intervals, in (0, 1).
        seed: of the draws.

    Returns:
        (low, high) of each column, or None when there are fewer than two units to resample.
    """
    if values.shape[0] < 2:
        return None
    draws = bootstrap_means(values, resamples=resamples, seed=seed)
    return [quantiles(draws[:, column], confidence) for column in range(values.shape[1])]


def mean_interval(
    values: Floats, *, resamples: int, confidence: float, seed: int, scale: tuple[float, float] | None = SHARES
) -> tuple[float, float] | None:
    """Interval of a mean: percentile bootstrap, and where all values are equal that of
    :func:`components.core.score_interval.constant_interval`, of all right or all wrong Wilson's.

    Args:
        values: shape (n,); each is one independent unit.
        resamples: number of draws.
        confidence: coverage of the interval, in (0, 1).
        seed: of the draws.
        scale: least and largest value that a unit can have; None where that is not known.

    Returns:
        (low, high); None when there are fewer than two units, or equal ones on an unknown scale.
    """
    ends = percentile_intervals(values.reshape(-1, 1), resamples=resamples, confidence=confidence, seed=seed)
    return _or_constant(values, None if ends is None else ends[0], confidence, scale)


def _or_constant(
    values: Floats, drawn: tuple[float, float] | None, confidence: float, scale: tuple[float, float] | None
) -> tuple[float, float] | None:
    """``drawn``, unless the values are all equal."""
    if drawn is None or values.min() < values.max():
        return drawn
    return None if scale is None else constant_interval(float(values[0]), len(values), confidence, scale)


def quantiles(draws: Floats, confidence: float) -> tuple[float, float]:
    """The central ``confidence`` of a one-dimensional array of draws."""
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(draws, [tail, 1.0 - tail])
    return float(low), float(high)


def sign_test(rose: int, fell: int) -> float:
    """Two-sided exact binomial p that ``rose`` and ``fell`` are equally likely; ties are left out.

    On one yes/no value a prompt this is the exact form of McNemar's test (McNemar 1947). 1.0 when nothing changed.
    """
    changed = rose + fell
    tail = sum(math.comb(changed, count) for count in range(min(rose, fell) + 1))
    # Division of two whole numbers rounds once, however large they are.
    return min(1.0, float(2 * tail / 2**changed))
