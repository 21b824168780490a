"""How often intervals hold what is true."""

from collections.abc import Iterable

from components.bias.estimate import Estimate

LOW, HIGH = 0.920, 0.976
"""Of 1,000 repetitions of an interval that covers 95 %, all but one in some 10,000 series lie between these."""
HUNDRED = 0.87
"""Of 100 repetitions at 95 %, fewer than this share cover in one of a thousand series, by binomial."""
_MISSING = 0.05


def covered(found: Iterable[tuple[float | None, float | None]], truth: float) -> float:
    """Share of the intervals that hold the truth, of those that there are; at most one in twenty may be missing."""
    rows = list(found)
    known = [(low, high) for low, high in rows if low is not None and high is not None]
    assert len(known) >= (1.0 - _MISSING) * len(rows)
    return sum(low <= truth <= high for low, high in known) / len(known)


def ends(estimate: Estimate) -> tuple[float | None, float | None]:
    """Of its interval."""
    return estimate.low, estimate.high
