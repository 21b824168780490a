"""A circuit breaker for one endpoint."""

import random
from typing import Literal

_FAILURES = 8
"""Failures in a row, without any answer between, that open it."""
_SHORTEST = 0.5
_LONGEST = 4.0
"""Seconds between two trials of an endpoint that is down: also how late its return may be noticed."""


class Breaker:
    """Closed while the endpoint answers; open after failures in a row; half-open when one call may try it again.

    Args:
        dice: spreads the trials of many processes.
    """

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._row = 0
        self._until: float | None = None
        self._rest = _SHORTEST
        self._trial = False

    def wait(self, now: float) -> float:
        """Seconds until a call may go through: 0 if one may now, infinite while the trial is under way."""
        if self._until is None:
            return 0.0
        return float("inf") if self._trial else max(0.0, self._until - now)

    def state(self, now: float) -> Literal["closed", "open", "half-open"]:
        """For people."""
        if self._until is None:
            return "closed"
        return "half-open" if self._trial or now >= self._until else "open"

    def enter(self) -> None:
        """A call goes through; the trial if it is not closed."""
        self._trial = self._until is not None

    def answered(self) -> bool:
        """The endpoint gave any answer. Returns whether this closed the breaker."""
        was_open = self._until is not None
        self._row = 0
        self._until = None
        self._rest = _SHORTEST
        self._trial = False
        return was_open

    def failed(self, began: float, now: float) -> bool:
        """A call that began at ``began`` failed. Returns whether this opened the breaker."""
        if self._until is None:
            self._row += 1
            if self._row < _FAILURES:
                return False
            self._until = now + self._rest * self._dice.uniform(0.5, 1.0)
            return True
        if self._trial and began >= self._until:
            self._trial = False
            self._rest = min(_LONGEST, 2.0 * self._rest)
            self._until = now + self._rest * self._dice.uniform(0.5, 1.0)
        return False

    def left(self, began: float) -> None:
        """A call ended without a word about the endpoint; if it was the trial, another may be made."""
        if self._until is not None and began >= self._until:
            self._trial = False
