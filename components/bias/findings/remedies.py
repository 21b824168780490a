"""What a remedy takes off the size of a bias, from the same items with and without it."""

import dataclasses
import itertools
from collections.abc import Sequence

from components.bias.clusters import CONFIDENCE, Estimate, estimate
from components.bias.signs import possible

Pair = tuple[float, float, str]
"""An effect without the remedy, the same with it, and the text or run that both come from."""


@dataclasses.dataclass(frozen=True, slots=True)
class Remedied:
    """The mean effect without and with a remedy.

    Attributes:
        plain: without it.
        remedied: with it.
        smaller: how much smaller the mean's size is with it, ``|plain| - |remedied|``; above 0 it helps.
    """

    plain: Estimate
    remedied: Estimate
    smaller: Estimate


def compared(pairs: Sequence[Pair], scale: tuple[float, float], *, confidence: float = CONFIDENCE) -> Remedied:
    """Paired by item, clustered by text.

    With the signs that the two means have, the difference of their sizes is a mean over items of its own, and has the
    interval of :func:`components.bias.clusters.estimate`. Where a mean is less than a standard error away from 0 its
    sign is chance, if items can have either; then the interval is the hull of those with either sign.

    Args:
        pairs: items whose effect is known both ways.
        scale: least and largest effect of an item.
        confidence: coverage of the intervals, in (0, 1).
    """
    width = scale[1] - scale[0]

    def over(values: Sequence[float], ends: tuple[float, float]) -> Estimate:
        return estimate(values, [cluster for _, _, cluster in pairs], scale=ends, confidence=confidence)

    plain, remedied = over([one for one, _, _ in pairs], scale), over([other for _, other, _ in pairs], scale)
    both_signs = scale[0] < 0.0 < scale[1]
    sides = itertools.product(
        *(possible(each.value or 0.0, each.se if both_signs else None) for each in (plain, remedied))
    )
    told = [
        over([side * one - other_side * other for one, other, _ in pairs], (-width, width))
        for side, other_side in sides
    ]
    smaller = dataclasses.replace(
        told[0],
        low=min((each.low for each in told if each.low is not None), default=None),
        high=max((each.high for each in told if each.high is not None), default=None),
        p=max((each.p for each in told if each.p is not None), default=None),
    )
    return Remedied(plain=plain, remedied=remedied, smaller=smaller)
