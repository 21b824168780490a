"""How many calls may be under way: additive increase, multiplicative decrease (Chiu and Jain, 1989)."""

_DECREASE = 0.7
_STEPS = 25.0


class Limiter:
    """A limit between 1 and ``most`` that falls when the judge is pressed too hard and rises while it is not.

    It falls by the factor 0.7, at most once a round-trip: a call that began before the last fall says nothing about
    the limit since. It rises by one for every window (as many good replies as the limit), or by a 25th of where it
    last fell from if that is more, up to there. Beyond that the judge takes more than it did then, and every step is
    twice the one before: the end of a storm is found soon. After falls with no good reply between them, where the
    judge refused everything, it returns by one for every good reply to where the first of them left it: what was fine
    before is not sought anew.

    Args:
        most: where it begins, and what it never exceeds.
        latency_target: seconds; a slower reply counts as a refusal. None looks at refusals alone.
    """

    def __init__(self, most: int, latency_target: float | None = None) -> None:
        self.most = most
        self._target = latency_target
        self._limit = float(most)
        self._return_to = float(most)
        self._fell_from = float(most)
        self._step = 1.0
        self._good = 0
        self._good_since = True
        self._fell = float("-inf")

    @property
    def limit(self) -> int:
        """Calls that may be under way at once."""
        return int(self._limit)

    def good(self, began: float, now: float) -> None:
        """A whole reply came to a call that began at ``began`` (seconds on one clock)."""
        if self._target is not None and now - began > self._target:
            self.pressed(began, now)
            return
        if began < self._fell:
            return
        self._good_since = True
        if self._limit >= self.most:
            return
        self._good += 1
        if self._limit < self._return_to:
            self._rise(1.0)
        elif self._good >= self._limit:
            beyond = self._limit >= self._fell_from
            self._rise(self._step)
            if beyond:
                self._step *= 2.0

    def pressed(self, began: float, now: float) -> None:
        """A call that began at ``began`` was refused, or took too long."""
        if began < self._fell:
            return
        if self._good_since:
            self._fell_from, self._return_to = self._limit, max(1.0, self._limit * _DECREASE)
        else:
            self._fell_from = self._return_to
        self._limit = max(1.0, self._limit * _DECREASE)
        self._step = max(1.0, self._fell_from / _STEPS)
        self._good_since = False
        self._good = 0
        self._fell = now

    def _rise(self, step: float) -> None:
        self._good = 0
        self._limit = min(float(self.most), self._limit + step)
