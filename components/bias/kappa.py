"""Cohen's kappa: how far a judge agrees with gold on yes and no beyond chance."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from components.bias.clusters import CONFIDENCE
from components.bias.estimate import Estimate
from components.bias.jackknife import jackknifed

Floats = NDArray[np.float64]
Rating = tuple[bool, bool, str]
"""What the judge says, what gold says, and the text or prompt."""

_ENDS: Final = (-1.0, 1.0)


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's (1960) kappa of two raters; None without pairs, or where both always say one and the same."""
    if not pairs:
        return None
    n = len(pairs)
    same = sum(one == other for one, other in pairs) / n
    labels = {label for pair in pairs for label in pair}
    chance = sum(sum(p[0] == label for p in pairs) * sum(p[1] == label for p in pairs) for label in labels) / n**2
    return None if math.isclose(chance, 1.0) else (same - chance) / (1.0 - chance)


def kappa_estimate(
    ratings: Sequence[Rating], *, unknown: int = 0, why: str = "", confidence: float = CONFIDENCE
) -> Estimate:
    """Kappa with its interval by :func:`components.bias.jackknife.jackknifed` over the texts.

    Where gold is one and the same throughout, kappa would be 0 whatever the judge says, and there is none.

    Args:
        ratings: of yes and no.
        unknown: those left out.
        why: told where there is no kappa.
        confidence: coverage of the interval, in (0, 1).
    """
    names, places = np.unique(np.array([text for _, _, text in ratings], dtype=object), return_inverse=True)
    value = cohen_kappa([(str(judge), str(gold)) for judge, gold, _ in ratings])
    if value is None or len({gold for _, gold, _ in ratings}) < 2:
        return Estimate.of(None, n=len(ratings), clusters=len(names), unknown=unknown, why=why)
    cells = np.zeros((len(names), 4))
    kinds = [(True, True), (True, False), (False, True), (False, False)]
    for place, (judge, gold, _) in zip(places, ratings, strict=True):
        cells[place, kinds.index((judge, gold))] += 1.0
    span = jackknifed(value, _kappas(cells.sum(axis=0) - cells), _ENDS, confidence=confidence)
    return Estimate.of(value, span.low, span.high, n=len(ratings), clusters=len(names), unknown=unknown, why=span.why)


def _kappas(cells: Floats) -> Floats:
    """Kappa of tables given as counts (both yes, judge alone, gold alone, neither), row by row; NaN where gold is one
    and the same throughout."""
    both, judge, gold, neither = cells.T
    with np.errstate(invalid="ignore", divide="ignore"):
        total = both + judge + gold + neither
        said, held = (both + judge) / total, (both + gold) / total
        chance = said * held + (1.0 - said) * (1.0 - held)
        found: Floats = np.where(
            (held > 0.0) & (held < 1.0), ((both + neither) / total - chance) / (1.0 - chance), np.nan
        )
    return found
