"""Krippendorff's alpha for nominal data with missing values.

Source of the formula: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), part C.
"""

import collections
import math
from collections.abc import Hashable, Iterable, Sequence


def krippendorff_alpha(units: Iterable[Sequence[Hashable | None]]) -> float | None:
    """1 - observed disagreement / disagreement expected by chance.

    Args:
        units: one sequence of values a unit (here: a criterion of a sample), one value a coder (here: a judge), in any
            order; None where a coder gave none. Units with fewer than two values take no part.

    Returns:
        1 for full agreement, 0 for chance, below 0 for less than chance; None where it is not defined: no unit has two
        values, or all values are the same.
    """
    # Coincidences of unequal values, and how often each value can be paired at all.
    unequal: list[float] = []
    counts: collections.Counter[Hashable] = collections.Counter()
    for unit in units:
        values = collections.Counter(value for value in unit if value is not None)
        size = values.total()
        if size < 2:
            continue
        counts.update(values)
        unequal.append(sum(count * (size - count) for count in values.values()) / (size - 1))
    total = counts.total()
    expected = sum(count * (total - count) for count in counts.values())
    if expected == 0:
        return None
    return 1.0 - (total - 1) * math.fsum(unequal) / expected
