"""How far a judge agrees with gold about single responses: what it accepts against what is right.

Gold is what rules or official checks found of a response, or which of two answers of a text is the good one. A response
counts as accepted where the judge gives it more than one half of what it could get.
"""

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from components.bias.calibration_interval import calibration_error
from components.bias.clusters import CONFIDENCE, estimate
from components.bias.estimate import Estimate
from components.bias.gold import Bin, calibration, cohen_kappa
from components.core.statistics import bootstrap_means, quantiles

Floats = NDArray[np.float64]

RESAMPLES: Final = 2000
HALF: Final = 0.5
_CELLS: Final = 2_000_000
"""Weights held at a time: about 16 MB."""
_ROUNDING: Final = 1e-9
_DEFINED: Final = 0.95
"""Share of the resamples that must have a value; with fewer the interval would be that of the others alone."""


@dataclasses.dataclass(frozen=True, slots=True)
class Decision:
    """What a judge made of one response whose gold is known.

    Attributes:
        cluster: text or prompt; decisions of one are alike.
        right: gold.
        value: what the judge gave, in [0, 1]; None where it is unknown.
        probability: that the response is right, as the judge states it; None where it states none.
    """

    cluster: str
    right: bool
    value: float | None
    probability: float | None = None

    @property
    def accepted(self) -> bool | None:
        """Whether the judge gave more than one half; None where it is unknown what it gave."""
        return None if self.value is None else self.value > HALF


@dataclasses.dataclass(frozen=True, slots=True)
class Decided:
    """A judge's decisions against gold; every number with its interval, or the reason for having none.

    Attributes:
        accuracy: share of the responses that are accepted and right, or refused and wrong.
        kappa: Cohen's, of accepted against right.
        accepts_right: share of the right responses that is accepted, the true-positive rate.
        accepts_wrong: share of the wrong responses that is accepted, the false-positive rate.
        ranking: chance that a right response gets more than a wrong one, a tie being half (the area under the ROC
            curve); it needs no threshold.
        calibration_error: expected calibration error of the stated probabilities; None where none is stated.
        curve: calibration in parts of equal width; empty where no probability is stated.
    """

    accuracy: Estimate
    kappa: Estimate
    accepts_right: Estimate
    accepts_wrong: Estimate
    ranking: Estimate
    calibration_error: Estimate | None
    curve: tuple[Bin, ...]


def decided(decisions: Sequence[Decision], *, seed: int = 0, confidence: float = CONFIDENCE) -> Decided:
    """Accuracy and the rates by :func:`components.bias.clusters.estimate`, the others by bootstrap over the clusters.

    Args:
        decisions: in any order; unknown ones are counted and left out.
        seed: of the resampling.
        confidence: coverage of the intervals, in (0, 1).
    """
    known = [each for each in decisions if each.value is not None]
    unknown = len(decisions) - len(known)
    stated = [(each.probability, float(each.right), each.cluster) for each in decisions if each.probability is not None]
    return Decided(
        accuracy=share(
            [(float(each.accepted is each.right), each.cluster) for each in known],
            unknown,
            confidence,
            "no response with gold has a known judgement",
        ),
        kappa=_kappa(known, unknown, seed, confidence),
        accepts_right=accepting(decisions, right=True, confidence=confidence),
        accepts_wrong=accepting(decisions, right=False, confidence=confidence),
        ranking=_ranking(known, unknown, seed, confidence),
        calibration_error=calibration_error(stated, seed=seed, confidence=confidence) if stated else None,
        curve=calibration(stated),
    )


def accepting(decisions: Sequence[Decision], *, right: bool, confidence: float = CONFIDENCE) -> Estimate:
    """Share of the right (or the wrong) responses that is accepted."""
    mine = [each for each in decisions if each.right is right]
    values = [(float(each.value > HALF), each.cluster) for each in mine if each.value is not None]
    why = f"no {'right' if right else 'wrong'} response has a known judgement"
    return share(values, len(mine) - len(values), confidence, why)


def share(values: Sequence[tuple[float, str]], unknown: int, confidence: float, why: str) -> Estimate:
    """A share over clusters.

    Args:
        values: each with its cluster.
        unknown: those left out.
        confidence: coverage, in (0, 1).
        why: told where there is no value.
    """
    found = estimate(
        [value for value, _ in values],
        [cluster for _, cluster in values],
        scale=(0.0, 1.0),
        share=True,
        confidence=confidence,
    )
    told = why if found.value is None else "one text or prompt has no interval"
    return Estimate.of(
        found.value, found.low, found.high, n=found.items, clusters=found.texts, unknown=unknown, why=told
    )


def _ranking(known: Sequence[Decision], unknown: int, seed: int, confidence: float) -> Estimate:
    """The area under the ROC curve, resampled by weighting each cluster by how often it is drawn."""
    values = np.array([each.value for each in known], dtype=np.float64)
    right = np.array([each.right for each in known], dtype=bool)
    if right.all() or not right.any():
        why = "it takes right and wrong responses" if known else "no response with gold has a known judgement"
        return Estimate.of(None, n=len(known), unknown=unknown, why=why)
    names, places = np.unique(np.array([each.cluster for each in known], dtype=object), return_inverse=True)
    order = np.argsort(values, kind="stable")
    values, right, places = values[order], right[order], places[order]
    # Runs of equal values: a right response beats the wrong ones of earlier runs, and half of those of its own.
    starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
    n = len(names)
    draw, block = np.random.default_rng(seed), max(1, _CELLS // len(values))
    drawn = [np.empty(0)]
    for begin in range(0, RESAMPLES if n > 1 else 0, block):
        picks = draw.multinomial(n, np.full(n, 1.0 / n), size=min(block, RESAMPLES - begin))
        drawn.append(_areas(picks[:, places].astype(np.float64), right, starts))
    whole = _areas(np.ones((1, len(values))), right, starts)
    return _with_interval(float(whole[0]), np.concatenate(drawn), len(known), n, unknown, confidence)


def _areas(weights: Floats, right: NDArray[np.bool_], starts: NDArray[np.intp]) -> Floats:
    """Shape (resamples, responses) of weights, responses sorted by value -> the area of each resample."""
    good = np.add.reduceat(weights * right, starts, axis=1)
    bad = np.add.reduceat(weights * ~right, starts, axis=1)
    below = np.cumsum(bad, axis=1) - bad
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (good * (below + bad / 2.0)).sum(axis=1) / (good.sum(axis=1) * bad.sum(axis=1))
    return found


def _kappa(known: Sequence[Decision], unknown: int, seed: int, confidence: float) -> Estimate:
    pairs = [(bool(each.accepted), each.right) for each in known]
    # Where gold is one and the same throughout, kappa is 0 whatever the judge says.
    one_sided = len({right for _, right in pairs}) < 2
    value = None if one_sided else cohen_kappa([(str(accepted), str(right)) for accepted, right in pairs])
    why = "it takes right and wrong responses" if known else "no response with gold has a known judgement"
    names, places = np.unique(np.array([each.cluster for each in known], dtype=object), return_inverse=True)
    if value is None:
        return Estimate.of(None, n=len(known), clusters=len(names), unknown=unknown, why=why)
    sums = np.zeros((len(names), 4))
    np.add.at(
        sums, places, np.array([[a and r, a and not r, r and not a, not (a or r)] for a, r in pairs], dtype=float)
    )
    drawn = _kappas(bootstrap_means(sums, resamples=RESAMPLES, seed=seed)) if len(names) > 1 else np.empty(0)
    return _with_interval(value, drawn, len(known), len(names), unknown, confidence)


def _kappas(cells: Floats) -> Floats:
    """Cohen's kappa of tables given as mean counts (both, accepted alone, right alone, neither), row by row."""
    both, accepted, right, neither = cells.T
    with np.errstate(invalid="ignore", divide="ignore"):
        total = both + accepted + right + neither
        said, held = (both + accepted) / total, (both + right) / total
        chance = said * held + (1.0 - said) * (1.0 - held)
        found: Floats = ((both + neither) / total - chance) / (1.0 - chance)
    return found


def _with_interval(value: float, drawn: Floats, n: int, clusters: int, unknown: int, confidence: float) -> Estimate:
    """The percentile interval of the resamples that have a value; NaN marks those that have none."""
    low: float | None = None
    high: float | None = None
    defined = drawn[np.isfinite(drawn)]
    why = "one text or prompt has no interval"
    if drawn.size and defined.size < _DEFINED * drawn.size:
        why = "many resamples have no such number: too little varies for an interval"
    elif drawn.size and np.ptp(defined) < _ROUNDING:
        why = "all resamples give the same: too little varies for an interval"
    elif drawn.size:
        low, high = quantiles(defined, confidence)
    return Estimate.of(value, low, high, n=n, clusters=clusters, unknown=unknown, why=why)
