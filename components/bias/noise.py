"""How much a judge says something else when it is asked the same again: the floor under every effect."""

import dataclasses
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, Literal

import numpy as np

from components.bias.clusters import Estimate, estimate
from components.bias.jackknife import Span, jackknifed
from components.bias.types import Outcome

Metric = Literal["nominal", "interval"]
_ROUNDING: Final = 1e-9


@dataclasses.dataclass(frozen=True, slots=True)
class Noise:
    """Repetitions of one judge.

    Attributes:
        flips: share of pairs of repetitions that contradict each other, an average over questions, clustered by text.
        apart: mean size of the difference of two repetitions, in the unit of a value; clustered by text. An effect of
            one item cannot be told from repeating it where it is no larger.
        alpha: Krippendorff's alpha over all questions; None where all known values are equal or no question has two.
        alpha_low: lower end of its interval, by leaving out one text at a time; None where it cannot be drawn, and for
            the nominal metric.
        alpha_high: upper end.
        questions: those with two known values or more.
        single: those with fewer, left out.
    """

    flips: Estimate
    apart: Estimate
    alpha: float | None
    alpha_low: float | None
    alpha_high: float | None
    questions: int
    single: int


def noise(outcomes: Iterable[Outcome], metric: Metric = "interval") -> Noise:
    """Out of the outcomes of one judge, in one mode.

    Args:
        outcomes: a question is an item, role and order; its repetitions are the readings.
        metric: how far two values are apart: ``nominal``, equal or not; ``interval``, the squared difference.

    Raises:
        ValueError: outcomes of several judges or modes, which are no repetitions of each other.
    """
    readings: dict[tuple[str, ...], list[float]] = defaultdict(list)
    texts: dict[tuple[str, ...], str] = {}
    whose = set()
    for outcome in outcomes:
        whose.add((outcome.judge, outcome.mode))
        key = (outcome.probe, outcome.item_id, outcome.role.value, outcome.order or "")
        texts[key] = outcome.text_id
        known = [] if outcome.value is None else [outcome.value]
        readings[key].extend(known)
    if len(whose) > 1:
        raise ValueError(f"outcomes of {len(whose)} judges or modes are no repetitions of each other")
    again = {key: values for key, values in readings.items() if len(values) > 1}
    shares = [_contradicting(values) for values in again.values()]
    named = [texts[key] for key in again]
    alpha = krippendorff_alpha(list(again.values()), metric)
    span = _alpha_interval(list(again.values()), named, alpha if metric == "interval" else None)
    return Noise(
        flips=estimate(shares, named, scale=(0.0, 1.0), share=True),
        apart=estimate([_distance(values) for values in again.values()], named, scale=(0.0, 1.0), share=True),
        alpha=alpha,
        alpha_low=span.low,
        alpha_high=span.high,
        questions=len(again),
        single=len(readings) - len(again),
    )


def krippendorff_alpha(units: Sequence[Sequence[float]], metric: Metric) -> float | None:
    """Krippendorff's alpha: 1 less observed over expected disagreement (Krippendorff 2011, "Computing Krippendorff's
    Alpha-Reliability").

    Args:
        units: known values of each unit; units with fewer than two pair with nothing and are left out.
        metric: how far two values are apart.

    Returns:
        At most 1; 0 is what chance gives. None where the pairable values do not differ, or there are none.
    """
    paired = [list(unit) for unit in units if len(unit) > 1]
    counts = Counter(value for unit in paired for value in unit)
    total = counts.total()
    if len(counts) < 2:
        return None
    seen = 0.0
    for unit in paired:
        within = sum(_apart(one, other, metric) for one, other in itertools.permutations(unit, 2))
        seen += within / (len(unit) - 1)
    chance = sum(
        counts[one] * counts[other] * _apart(one, other, metric) for one, other in itertools.permutations(counts, 2)
    )
    return 1.0 - (seen / total) / (chance / (total * (total - 1)))


def _contradicting(values: Sequence[float]) -> float:
    pairs = list(itertools.combinations(values, 2))
    return sum(one != other for one, other in pairs) / len(pairs)


def _distance(values: Sequence[float]) -> float:
    pairs = list(itertools.combinations(values, 2))
    return sum(abs(one - other) for one, other in pairs) / len(pairs)


def _alpha_interval(units: Sequence[Sequence[float]], texts: Sequence[str], alpha: float | None) -> Span:
    """Of alpha with the squared difference, whole texts left out.

    The sum of squared differences of all ordered pairs of n values is twice (n times their sum of squares, less their
    sum's square), so that alpha needs four sums a text.
    """
    if alpha is None:
        return Span(None, None, "")
    names = sorted(set(texts))
    sums = np.zeros((len(names), 4))
    for unit, text in zip(units, texts, strict=True):
        values = np.asarray(unit)
        n, total, squares = len(values), float(values.sum()), float((values**2).sum())
        seen = 2.0 * (n * squares - total**2) / (n - 1)
        sums[names.index(text)] += (seen, n, total, squares)
    seen, n, total, squares = (sums.sum(axis=0) - sums).T
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = 2.0 * (n * squares - total**2) / (n - 1.0)
        # What is left may be all one value, and its chance a rounding error.
        without = np.where(chance > _ROUNDING * n, 1.0 - seen / chance, np.nan)
    return jackknifed(alpha, without, (-1.0, 1.0), uneven=True)


def _apart(one: float, other: float, metric: Metric) -> float:
    return float(one != other) if metric == "nominal" else (one - other) ** 2
