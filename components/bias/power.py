"""The smallest effect that a probe can be expected to find, told before anything is asked."""

import math
from collections.abc import Mapping
from typing import Final

from components.bias.clusters import t_quantile
from components.bias.types import Measure, Mode

POWER: Final = 0.8
"""Chance of finding an effect of the size told, by custom (Cohen 1988)."""
INTRACLASS: Final = 0.5
"""Likeness of two items of one text, assumed before a run; 0 is none, 1 is the same item twice. Half way, since nothing
is known then; afterwards the error that was seen says more."""
ASSUMED_SD: Final[Mapping[tuple[Measure, Mode], float]] = {
    (Measure.SHIFT, Mode.PAIRWISE): 0.5,
    (Measure.SHIFT, Mode.POINTWISE): 0.25,
    (Measure.SHIFT, Mode.BINARY): 0.35,
    (Measure.FIRST_SLOT, Mode.PAIRWISE): 0.35,
}
"""Spread of an item's effect assumed before a run, in the mode's units: of a difference of two pairwise shares each at
0, 1/2 or 1, about one step of five marks, one criterion of three. Other measures are shares: at most 1/2."""
_WIDEST: Final = 0.5


def assumed_sd(measure: Measure, mode: Mode) -> float:
    """Spread of one item's effect that a plan assumes, see :data:`ASSUMED_SD`."""
    return ASSUMED_SD.get((measure, mode), _WIDEST)


def detectable(
    n_items: int, n_texts: int, sd: float, alpha: float, *, power: float = POWER, intraclass: float = INTRACLASS
) -> float:
    """Minimum detectable effect: what a two-sided test at ``alpha`` finds with probability ``power``.

    ``(t(1 - alpha / 2) + t(power)) * sd * sqrt(D / n_items)``, t with ``n_texts - 1`` degrees of freedom and the design
    effect ``D = 1 + (n_items / n_texts - 1) * intraclass`` (Kish 1965; Bloom 1995, doi 10.1177/0193841X9501900504).

    Args:
        n_items: items of the probe, at least ``n_texts``.
        n_texts: distinct texts they come from, at least 2.
        sd: standard deviation of one item's effect, in the effect's units, above 0.
        alpha: level of the test, in (0, 1); for the first of k probes under Holm's rule it is alpha / k.
        power: in (0.5, 1).
        intraclass: correlation of two items of one text, in [0, 1].

    Returns:
        In the units of ``sd``. Above the width of the scale it says that nothing can be found.

    Raises:
        ValueError: an argument is outside its range.
    """
    if n_texts < 2 or n_items < n_texts:
        raise ValueError(f"{n_items} items of {n_texts} texts; there must be at least 2 texts, and one item of each")
    if not (sd > 0.0 and 0.0 < alpha < 1.0 and 0.5 < power < 1.0 and 0.0 <= intraclass <= 1.0):
        raise ValueError(f"sd {sd}, alpha {alpha}, power {power} or intraclass {intraclass} is outside its range")
    design = 1.0 + (n_items / n_texts - 1.0) * intraclass
    df = n_texts - 1.0
    reach = t_quantile(1.0 - alpha, df) + t_quantile(2.0 * power - 1.0, df)
    return reach * sd * math.sqrt(design / n_items)
