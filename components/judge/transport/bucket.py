"""A rate as a token bucket."""

_BURST = 2.0
"""Seconds of the rate that may be used at once."""


class Bucket:
    """At most ``per_minute`` in any minute.

    It holds two seconds' worth (at least one) and is filled by that much less a minute, so that a full bucket and what
    flows in during a minute stay within the limit: a server that counts over a window never has to refuse. A cost
    above the capacity is let through when the bucket is full, and leaves a debt.

    Args:
        per_minute: the limit.
        now: seconds.
    """

    def __init__(self, per_minute: float, now: float) -> None:
        self.capacity = max(1.0, per_minute * _BURST / 60.0)
        self.per_second = max(per_minute / 120.0, (per_minute - (self.capacity - 1.0)) / 60.0)
        self._level = self.capacity
        self._at = now

    def wait(self, cost: float, now: float) -> float:
        """Seconds until ``cost`` can be taken; 0 if it can be now."""
        self._fill(now)
        missing = min(cost, self.capacity) - self._level
        return 0.0 if missing <= 1e-9 else missing / self.per_second

    def take(self, cost: float, now: float) -> None:
        """Take ``cost``; a negative one is given back."""
        self._fill(now)
        self._level = min(self.capacity, self._level - cost)

    def _fill(self, now: float) -> None:
        if now > self._at:
            self._level = min(self.capacity, self._level + (now - self._at) * self.per_second)
            self._at = now
