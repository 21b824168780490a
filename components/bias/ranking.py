"""The area under the ROC curve: how often what is right gets more than what is wrong."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from components.bias.clusters import CONFIDENCE
from components.bias.jackknife import Span, jackknifed

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_CELLS: Final = 2_000_000
"""Weights held at a time: about 16 MB."""


def area(
    values: Floats, right: Bools, clusters: NDArray[np.object_], *, confidence: float = CONFIDENCE
) -> tuple[float, Span]:
    """The area and its interval by :func:`components.bias.jackknife.jackknifed` over the clusters.

    Args:
        values: shape (n,), what each response got.
        right: shape (n,), gold; both kinds are there.
        clusters: shape (n,), text or prompt of each.
        confidence: coverage of the interval, in (0, 1).
    """
    names, places = np.unique(clusters, return_inverse=True)
    order = np.argsort(values, kind="stable")
    values, right, places = values[order], right[order], places[order]
    # Runs of equal values: a right response beats the wrong ones of earlier runs, and half of those of its own.
    starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
    block = max(1, _CELLS // len(values))
    without = [
        _areas((places != np.arange(begin, min(begin + block, len(names)))[:, None]).astype(float), right, starts)
        for begin in range(0, len(names), block)
    ]
    value = float(_areas(np.ones((1, len(values))), right, starts)[0])
    return value, jackknifed(value, np.concatenate(without), (0.0, 1.0), uneven=True, confidence=confidence)


def _areas(weights: Floats, right: Bools, starts: NDArray[np.intp]) -> Floats:
    """Shape (rows, responses) of weights, responses sorted by value -> the area of each row; NaN where a kind has no
    weight."""
    good = np.add.reduceat(weights * right, starts, axis=1)
    bad = np.add.reduceat(weights * ~right, starts, axis=1)
    below = np.cumsum(bad, axis=1) - bad
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (good * (below + bad / 2.0)).sum(axis=1) / (good.sum(axis=1) * bad.sum(axis=1))
    return found
