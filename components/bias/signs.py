"""The sign of an effect that may be either."""

from typing import Final

_WITHIN: Final = 1.0
"""Standard errors from 0 within which a sign is open. With fewer, the interval of a difference of two sizes covers too
seldom where one of them is near 0; docs/bias-statistics.md has what was measured."""


def possible(value: float, error: float | None) -> tuple[float, ...]:
    """Signs, 1 or -1, that the true value may well have: its own first, and the other one where it is near 0.

    Args:
        value: estimated; 0 counts as positive.
        error: its standard error; None where there is none.
    """
    side = -1.0 if value < 0.0 else 1.0
    return (side, -side) if error is not None and abs(value) < _WITHIN * error else (side,)
