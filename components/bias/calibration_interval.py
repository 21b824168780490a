"""The expected calibration error with its interval."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from components.bias.clusters import CONFIDENCE, t_quantile
from components.bias.estimate import Estimate
from components.bias.gold import BINS, calibration, expected_calibration_error
from components.core.statistics import bootstrap_means

RESAMPLES: Final = 2000
_SHRUNKEN: Final = np.linspace(0.0, 2.5, 101)
"""True errors that are tried, in multiples of the one that was seen."""


def calibration_error(
    said: Sequence[tuple[float, float, str]],
    *,
    unknown: int = 0,
    bins: int = BINS,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Expected calibration error (Guo et al. 2017, arXiv 1706.04599) with its interval.

    The error is a mean of distances: chance alone makes it larger than 0, and resampling makes it larger once more, so
    that a percentile interval of a calibrated judge never holds its true error. The interval is therefore found by
    inverting tests (DiCiccio and Romano 1988, section 5): it has every multiple of the errors seen in the parts under
    which, with the scatter of resampled clusters, an error as far off as the one that was seen is not rare.
    docs/bias-statistics.md has its coverage.

    Args:
        said: stated probability, whether it held (1 or 0), and cluster, one a response.
        unknown: responses left out because no probability is stated of them.
        bins: parts of equal width.
        seed: of the resampling.
        confidence: coverage, in (0, 1).
    """
    if not said:
        return Estimate.missing("the judge states no probability", unknown=unknown)
    value = expected_calibration_error(calibration(said, bins))
    clusters = sorted({cluster for _, _, cluster in said})
    if value is None or len(clusters) < 2:
        why = "one text or prompt has no interval"
        return Estimate.of(value, n=len(said), clusters=len(clusters), unknown=unknown, why=why)
    place = {cluster: number for number, cluster in enumerate(clusters)}
    sums = np.zeros((len(clusters), bins + 1))
    for probability, held, cluster in said:
        column = min(bins - 1, max(0, math.ceil(probability * bins) - 1))
        sums[place[cluster], column] += probability - held
        sums[place[cluster], bins] += 1.0
    apart = sums[:, :bins].sum(axis=0) / len(said)
    means = bootstrap_means(sums, resamples=RESAMPLES, seed=seed)
    # Of few clusters the scatter is too small by as much as the normal quantile is below that of t.
    df = len(clusters) - 1.0
    wider = math.sqrt(len(clusters) / df) * t_quantile(confidence, df) / t_quantile(confidence, math.inf)
    scatter = wider * (means[:, :bins] / means[:, bins:] - apart)
    tail = (1.0 - confidence) / 2.0
    held_up = [value]
    for share in _SHRUNKEN:
        low, high = np.quantile(np.abs(share * apart + scatter).sum(axis=1), [tail, 1.0 - tail])
        if low <= value <= high:
            held_up.append(min(1.0, share * value))
    return Estimate.of(value, min(held_up), max(held_up), n=len(said), clusters=len(clusters), unknown=unknown)
