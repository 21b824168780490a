"""How far a judge agrees with gold about single responses: what it accepts against what is right.

Gold is what rules or official checks found of a response, or which of two answers of a text is the good one. A response
counts as accepted where the judge gives it more than one half of what it could get.
"""

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np

from components.bias.calibration_interval import calibration_error
from components.bias.clusters import CONFIDENCE, estimate
from components.bias.estimate import Estimate
from components.bias.gold import Bin, calibration
from components.bias.kappa import kappa_estimate
from components.bias.ranking import area

HALF: Final = 0.5
_NOTHING: Final = "no response with gold has a known judgement"
_ONE_SIDED: Final = "it needs responses that gold holds for right beside ones that it holds for wrong"


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
    """Accuracy and the rates by :func:`components.bias.clusters.estimate`, kappa and ranking by leaving out one cluster
    at a time (:func:`components.bias.jackknife.jackknifed`).

    Args:
        decisions: in any order; unknown ones are counted and left out.
        seed: of the resampling for the calibration error.
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
            _NOTHING,
        ),
        kappa=_kappa(known, unknown, confidence),
        accepts_right=accepting(decisions, right=True, confidence=confidence),
        accepts_wrong=accepting(decisions, right=False, confidence=confidence),
        ranking=_ranking(known, unknown, confidence),
        calibration_error=_calibration(stated, len(decisions) - len(stated), seed, confidence),
        curve=calibration(stated, confidence=confidence),
    )


def _calibration(
    stated: Sequence[tuple[float, float, str]], unknown: int, seed: int, confidence: float
) -> Estimate | None:
    """A judge that states any probability left ``unknown`` responses without one; one that states none has no error."""
    return calibration_error(stated, unknown=unknown, seed=seed, confidence=confidence) if stated else None


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


def _ranking(known: Sequence[Decision], unknown: int, confidence: float) -> Estimate:
    clusters = np.array([each.cluster for each in known], dtype=object)
    n, texts = len(known), len(set(clusters))
    if len({each.right for each in known}) < 2:
        return Estimate.of(None, n=n, clusters=texts, unknown=unknown, why=_ONE_SIDED if known else _NOTHING)
    value, span = area(
        np.array([each.value for each in known], dtype=np.float64),
        np.array([each.right for each in known], dtype=bool),
        clusters,
        confidence=confidence,
    )
    return Estimate.of(value, span.low, span.high, n=n, clusters=texts, unknown=unknown, why=span.why)


def _kappa(known: Sequence[Decision], unknown: int, confidence: float) -> Estimate:
    ratings = [(bool(each.accepted), each.right, each.cluster) for each in known]
    return kappa_estimate(ratings, unknown=unknown, why=_ONE_SIDED if known else _NOTHING, confidence=confidence)
