"""How far a judge agrees with gold: which of two responses people, or a key, hold for the better one."""

import dataclasses
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from components.bias.clusters import Estimate, estimate
from components.bias.types import Mode, Outcome, Role
from components.bias.values import by_item

BINS: Final = 10
_RESAMPLES: Final = 1000


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
    right: Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class Agreement:
    """One judge against gold.

    Attributes:
        accuracy: share of items whose better response the judge prefers, over both orders; a tie is half.
        kappa: Cohen's kappa of the judge's single choices (each order one) against the place of the better response,
            ties left out; None where there is none, or chance alone would always agree.
        kappa_low: lower end of its bootstrap interval over texts, 95 %.
        kappa_high: upper end.
        choices: choices behind kappa.
        consistent: pairwise, share of items in which both orders prefer the same response (or both tie).
        curve: calibration, in parts of equal width; empty where the judge gives no probabilities.
        ece: expected calibration error (Guo et al. 2017): mean distance of said and right, weighted by items; None
            where there are no probabilities.
        unknown: items with gold and no known value.
        unswapped: pairwise, items of which an order is unknown, left out of ``consistent``.
        unchosen: pairwise, unknown choices, left out of kappa.
    """

    accuracy: Estimate
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    choices: int
    consistent: Estimate | None
    curve: tuple[Bin, ...]
    ece: float | None
    unknown: int
    unswapped: int = 0
    unchosen: int = 0


def agreement(outcomes: Iterable[Outcome], *, seed: int = 0) -> Agreement:
    """Out of the outcomes of one judge in one mode; items without gold are left out.

    Pairwise the changed form against the base decides; in the other modes the difference of their values, which ties
    where they are equal.

    Args:
        outcomes: of one judge and mode.
        seed: of kappa's bootstrap.

    Raises:
        ValueError: outcomes of several judges or modes.
    """
    wanted = [each for each in outcomes if each.gold is not None and each.role in (Role.BASE, Role.CHANGED)]
    if len({(each.judge, each.mode) for each in wanted}) > 1:
        raise ValueError("agreement is of one judge in one mode")
    gold = {_name(each): each.gold for each in wanted}
    named = [dataclasses.replace(each, item_id=_name(each)) for each in wanted]
    scores: list[tuple[float, str]] = []
    unknown = 0
    for item_id, answers in by_item(named).items():
        gain = answers.gain(Role.CHANGED)
        if gain is None:
            unknown += 1
            continue
        share = 0.5 if gain == 0.0 else float(gain > 0.0)
        scores.append((share if gold[item_id] is Role.CHANGED else 1.0 - share, answers.text_id))
    pairwise = any(each.mode is Mode.PAIRWISE for each in wanted)
    choices = _choices(named) if pairwise else []
    consistent = swap_consistency(named) if pairwise else None
    low, high = _kappa_interval(choices, seed)
    said = [
        (each.probability, float(each.gold is Role.CHANGED), each.text_id)
        for each in wanted
        if each.probability is not None and each.role is Role.CHANGED
    ]
    curve = calibration(said)
    return Agreement(
        accuracy=_share(scores),
        kappa=cohen_kappa([(one, other) for one, other, _ in choices]),
        kappa_low=low,
        kappa_high=high,
        choices=len(choices),
        consistent=consistent,
        curve=curve,
        ece=expected_calibration_error(curve),
        unknown=unknown,
        unswapped=len(gold) - consistent.items if consistent is not None else 0,
        unchosen=sum(each.value is None for each in named if each.role is Role.CHANGED and each.repeat == 0),
    )


def swap_consistency(outcomes: Iterable[Outcome]) -> Estimate:
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
    return _share(found)


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's (1960) kappa of two raters; None without pairs, or where both always say one and the same."""
    if not pairs:
        return None
    n = len(pairs)
    same = sum(one == other for one, other in pairs) / n
    labels = {label for pair in pairs for label in pair}
    chance = sum(sum(p[0] == label for p in pairs) * sum(p[1] == label for p in pairs) for label in labels) / n**2
    return None if math.isclose(chance, 1.0) else (same - chance) / (1.0 - chance)


def calibration(said: Sequence[tuple[float, float, str]], bins: int = BINS) -> tuple[Bin, ...]:
    """The calibration curve, without empty parts.

    Args:
        said: probability, whether it held (1 or 0), and text, one an item.
        bins: parts of equal width.
    """
    places = [min(bins - 1, max(0, math.ceil(probability * bins) - 1)) for probability, _, _ in said]
    found = []
    for place in sorted(set(places)):
        part = [each for each, at in zip(said, places, strict=True) if at == place]
        mean = sum(probability for probability, _, _ in part) / len(part)
        right = _share([(held, text) for _, held, text in part])
        found.append(Bin(place / bins, (place + 1) / bins, len(part), mean, right))
    return tuple(found)


def expected_calibration_error(curve: Sequence[Bin]) -> float | None:
    """Mean distance of what was said and what held, weighted by items; None for an empty curve."""
    total = sum(part.n for part in curve)
    if not total:
        return None
    return sum(part.n * abs(part.said - part.right.value) for part in curve if part.right.value is not None) / total


def _choices(outcomes: Sequence[Outcome]) -> list[tuple[str, str, str]]:
    """Place chosen, place of the better response, text."""
    found = []
    for each in outcomes:
        if each.value in (0.0, 1.0) and each.role is Role.CHANGED and each.repeat == 0:
            changed, base = ("second", "first") if each.order == "base_first" else ("first", "second")
            better = changed if each.gold is Role.CHANGED else base
            found.append((changed if each.value == 1.0 else base, better, each.text_id))
    return found


def _kappa_interval(choices: Sequence[tuple[str, str, str]], seed: int) -> tuple[float | None, float | None]:
    """Percentile bootstrap over texts; None with fewer than two of them."""
    by_text = [
        [(one, other) for one, other, _ in group]
        for _, group in itertools.groupby(sorted(choices, key=lambda each: each[2]), key=lambda each: each[2])
    ]
    if len(by_text) < 2:
        return None, None
    draw = np.random.default_rng(seed)
    drawn = []
    for picks in draw.integers(0, len(by_text), size=(_RESAMPLES, len(by_text))):
        kappa = cohen_kappa([pair for pick in picks for pair in by_text[pick]])
        if kappa is not None:
            drawn.append(kappa)
    if not drawn:
        return None, None
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def _share(values: Sequence[tuple[float, str]]) -> Estimate:
    return estimate([value for value, _ in values], [text for _, text in values], scale=(0.0, 1.0), share=True)


def _name(outcome: Outcome) -> str:
    """Unique over probes."""
    return f"{outcome.probe}/{outcome.item_id}"
