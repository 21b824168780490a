"""How much a judge says something else when it is asked the same again: the floor under every effect."""

import dataclasses
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

from components.bias.clusters import Estimate, estimate
from components.bias.types import Outcome

Metric = Literal["nominal", "interval"]


@dataclasses.dataclass(frozen=True, slots=True)
class Noise:
    """Repetitions of one judge.

    Attributes:
        flips: share of pairs of repetitions that contradict each other, an average over questions, clustered by text.
        alpha: Krippendorff's alpha over all questions; None where all known values are equal or no question has two.
        questions: those with two known values or more.
        single: those with fewer, left out.
    """

    flips: Estimate
    alpha: float | None
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
    return Noise(
        flips=estimate(shares, [texts[key] for key in again], scale=(0.0, 1.0), share=True),
        alpha=krippendorff_alpha(list(again.values()), metric),
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


def _apart(one: float, other: float, metric: Metric) -> float:
    return float(one != other) if metric == "nominal" else (one - other) ** 2
