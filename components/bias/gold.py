"""How far a judge agrees with gold: which of two responses people, or a key, hold for the better one."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from components.bias import clusters
from components.bias.clusters import CONFIDENCE
from components.bias.estimate import Estimate
from components.bias.kappa import Rating, kappa_estimate
from components.bias.types import Mode, Outcome, Role
from components.bias.values import by_item

BINS: Final = 10
_ONE_SIDED: Final = "the better one always stands in the same place, or nothing was chosen"


@dataclasses.dataclass(frozen=True, slots=True)
class Bin:
    """One part of a calibration curve.

    Attributes:
        low: lower edge of the probability, excluded but in the first part.
        high: upper edge, included.
        n: items.
        said: mean probability that the judge gave.
        right: share in which it held; with an interval clustered by text.
    """

    low: float
    high: float
    n: int
    said: float
    right: clusters.Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class Agreement:
    """One judge against gold.

    Attributes:
        accuracy: share of items whose better response the judge prefers, over both orders; a tie is half.
        kappa: Cohen's kappa of the judge's single choices (each order one) against the place of the better response,
            ties left out; unknown where there is none, or the better one always stands in the same place.
        consistent: pairwise, share of items in which both orders prefer the same response (or both tie).
        curve: calibration, in parts of equal width; empty where the judge gives no probabilities.
        ece: expected calibration error (Guo et al. 2017): mean distance of said and right, weighted by items; None
            where there are no probabilities.
        unknown: items with gold and no known value.
        unswapped: pairwise, items of which an order is unknown, left out of ``consistent``.
    """

    accuracy: clusters.Estimate
    kappa: Estimate
    consistent: clusters.Estimate | None
    curve: tuple[Bin, ...]
    ece: float | None
    unknown: int
    unswapped: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Preferences:
    """How often the better response is preferred.

    Attributes:
        known: for each item 1 where the better one gets more, 0 where the other does, one half for a tie; and its text.
        unknown: items left out because a value is unknown.
    """

    known: list[tuple[float, str]]
    unknown: int


def preferences(outcomes: Iterable[Outcome]) -> Preferences:
    """Out of the outcomes of one judge in one mode, items of several probes apart.

    Pairwise the changed form against the base decides; in the other modes the difference of their values, which ties
    where they are equal.

    Args:
        outcomes: of base and changed forms whose gold is known.
    """
    named = [dataclasses.replace(each, item_id=_name(each)) for each in outcomes]
    better: Mapping[str, Role | None] = {each.item_id: each.gold for each in named}
    known, unknown = [], 0
    for item_id, answers in by_item(named).items():
        gain = answers.gain(Role.CHANGED)
        if gain is None:
            unknown += 1
            continue
        share = 0.5 if gain == 0.0 else float(gain > 0.0)
        known.append((share if better[item_id] is Role.CHANGED else 1.0 - share, answers.text_id))
    return Preferences(known, unknown)


def agreement(outcomes: Iterable[Outcome], *, confidence: float = CONFIDENCE) -> Agreement:
    """Out of the outcomes of one judge in one mode; items without gold are left out.

    Args:
        outcomes: of one judge and mode.
        confidence: coverage of the intervals, in (0, 1).

    Raises:
        ValueError: outcomes of several judges or modes.
    """
    wanted = [each for each in outcomes if each.gold is not None and each.role in (Role.BASE, Role.CHANGED)]
    if len({(each.judge, each.mode) for each in wanted}) > 1:
        raise ValueError("agreement is of one judge in one mode")
    preferred = preferences(wanted)
    pairwise = any(each.mode is Mode.PAIRWISE for each in wanted)
    consistent = swap_consistency(wanted, confidence=confidence) if pairwise else None
    choices = [each for each in wanted if pairwise and each.role is Role.CHANGED and each.repeat == 0]
    said = [
        (each.probability, float(each.gold is Role.CHANGED), each.text_id)
        for each in wanted
        if each.probability is not None and each.role is Role.CHANGED
    ]
    curve = calibration(said, confidence=confidence)
    return Agreement(
        accuracy=_share(preferred.known, confidence),
        kappa=kappa_estimate(
            _choices(choices),
            unknown=sum(each.value is None for each in choices),
            why=_ONE_SIDED,
            confidence=confidence,
        ),
        consistent=consistent,
        curve=curve,
        ece=expected_calibration_error(curve),
        unknown=preferred.unknown,
        unswapped=len({(each.probe, each.item_id) for each in wanted}) - consistent.items if consistent else 0,
    )


def swap_consistency(outcomes: Iterable[Outcome], *, confidence: float = CONFIDENCE) -> clusters.Estimate:
    """Share of pairs in which the same response is preferred in both orders, or both tie; first askings of changed
    forms alone. A pair with an unknown order is left out."""
    orders: dict[tuple[str, str], dict[str, Outcome]] = {}
    for each in outcomes:
        if each.mode is Mode.PAIRWISE and each.role is Role.CHANGED and each.repeat == 0 and each.order is not None:
            orders.setdefault((each.probe, each.item_id), {})[each.order] = each
    found = []
    for pair in orders.values():
        values = [each.value for each in pair.values()]
        if len(values) == 2 and None not in values:
            found.append((float(values[0] == values[1]), next(iter(pair.values())).text_id))
    return _share(found, confidence)


def calibration(
    said: Sequence[tuple[float, float, str]], bins: int = BINS, *, confidence: float = CONFIDENCE
) -> tuple[Bin, ...]:
    """The calibration curve, without empty parts.

    Args:
        said: probability, whether it held (1 or 0), and text, one an item.
        bins: parts of equal width.
        confidence: coverage of the intervals, in (0, 1).
    """
    places = [min(bins - 1, max(0, math.ceil(probability * bins) - 1)) for probability, _, _ in said]
    found = []
    for place in sorted(set(places)):
        part = [each for each, at in zip(said, places, strict=True) if at == place]
        mean = sum(probability for probability, _, _ in part) / len(part)
        right = _share([(held, text) for _, held, text in part], confidence)
        found.append(Bin(place / bins, (place + 1) / bins, len(part), mean, right))
    return tuple(found)


def expected_calibration_error(curve: Sequence[Bin]) -> float | None:
    """Mean distance of what was said and what held, weighted by items; None for an empty curve."""
    total = sum(part.n for part in curve)
    if not total:
        return None
    return sum(part.n * abs(part.said - part.right.value) for part in curve if part.right.value is not None) / total


def _choices(outcomes: Sequence[Outcome]) -> list[Rating]:
    """Whether the first place is chosen, whether the better response stands there, and the text; without ties."""
    found = []
    for each in outcomes:
        if each.value in (0.0, 1.0):
            changed_first = each.order != "base_first"
            chosen, better = each.value == 1.0, each.gold is Role.CHANGED
            found.append((chosen == changed_first, better == changed_first, each.text_id))
    return found


def _share(values: Sequence[tuple[float, str]], confidence: float) -> clusters.Estimate:
    shares, texts = [value for value, _ in values], [text for _, text in values]
    return clusters.estimate(shares, texts, scale=(0.0, 1.0), share=True, confidence=confidence)


def _name(outcome: Outcome) -> str:
    """Unique over probes."""
    return f"{outcome.probe}/{outcome.item_id}"
