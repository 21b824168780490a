"""What a remedy takes off the size of a bias, from the same items with and without it."""

import dataclasses
from collections.abc import Sequence

from components.bias.clusters import CONFIDENCE, Estimate, estimate

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
    interval of :func:`components.bias.clusters.estimate`. Where a mean cannot be told from 0 its sign is chance, which
    makes it seem larger than it is; so a remedy that takes off an effect which is not there is shown to help in some
    5 % of studies and not in 2.5 %.

    Args:
        pairs: items whose effect is known both ways.
        scale: least and largest effect of an item.
        confidence: coverage of the intervals, in (0, 1).
    """
    side = -1.0 if sum(one for one, _, _ in pairs) < 0.0 else 1.0
    other_side = -1.0 if sum(other for _, other, _ in pairs) < 0.0 else 1.0
    smaller = [side * one - other_side * other for one, other, _ in pairs]
    width = scale[1] - scale[0]

    def over(values: Sequence[float], ends: tuple[float, float]) -> Estimate:
        return estimate(values, [cluster for _, _, cluster in pairs], scale=ends, confidence=confidence)

    return Remedied(
        plain=over([one for one, _, _ in pairs], scale),
        remedied=over([other for _, other, _ in pairs], scale),
        smaller=over(smaller, (-width, width)),
    )
