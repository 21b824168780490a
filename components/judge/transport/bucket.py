"""A rate as a token bucket, with a memory of the last minute."""

import collections

_BURST = 2.0
"""Seconds of the rate that may be used at once."""

_SLOTS = 2
"""Parts of a second by which the last minute is remembered."""
_MINUTE = 60 * _SLOTS


class Bucket:
    """At most ``per_minute`` in any minute.

    It holds two seconds' worth (at least one) and is filled by that much less a minute, so that a full bucket and what
    flows in during a minute stay within the limit: a server that counts over a window never has to refuse. A cost
    above the capacity is let through when the bucket is full, and leaves a debt; so that such costs too stay within
    the limit, what was taken during the last minute is remembered. A cost above the limit itself waits for a minute in
    which nothing was taken.

    Args:
        per_minute: the limit.
        now: seconds.
    """

    def __init__(self, per_minute: float, now: float) -> None:
        self.capacity = max(1.0, per_minute * _BURST / 60.0)
        self.per_second = max(per_minute / 120.0, (per_minute - (self.capacity - 1.0)) / 60.0)
        self._most = max(1.0, per_minute)
        self._level = self.capacity
        self._at = now
        self._taken: collections.deque[list[float]] = collections.deque()
        """[slot, cost], oldest first."""
        self._sum = 0.0

    def wait(self, cost: float, now: float) -> float:
        """Seconds until ``cost`` can be taken; 0 if it can be now."""
        self._fill(now)
        missing = min(cost, self.capacity) - self._level
        wait = 0.0 if missing <= 1e-9 else missing / self.per_second
        return wait if cost <= self.capacity else max(wait, self.wait_for_room(cost, now))

    def take(self, cost: float, now: float) -> None:
        """Take ``cost``; a negative one is given back."""
        self._fill(now)
        self._level = min(self.capacity, self._level - cost)
        self._remember(cost, int(now * _SLOTS))

    def _fill(self, now: float) -> None:
        if now > self._at:
            self._level = min(self.capacity, self._level + (now - self._at) * self.per_second)
            self._at = now

    def _remember(self, cost: float, slot: int) -> None:
        taken = self._taken
        self._sum += cost
        if cost >= 0.0:
            if taken and taken[-1][0] >= slot:
                taken[-1][1] += cost
            else:
                taken.append([slot, cost])
        while cost < 0.0 and taken:
            # From the oldest, so that what stays is not forgotten too early.
            taken[0][1] += cost
            cost = min(0.0, taken[0][1])
            if taken[0][1] <= 0.0:
                taken.popleft()
        self._forget(slot)

    def _forget(self, slot: int) -> None:
        while self._taken and self._taken[0][0] + _MINUTE < slot:
            self._sum -= self._taken.popleft()[1]
        if not self._taken:
            self._sum = 0.0

    def wait_for_room(self, cost: float, now: float) -> float:
        """Seconds until so much of the last minute is forgotten that ``cost`` fits into the limit."""
        self._forget(int(now * _SLOTS))
        over = self._sum + min(cost, self._most) - self._most
        for slot, taken in self._taken:
            if over <= 1e-6:
                break
            over -= taken
            gone = (slot + _MINUTE + 1) / _SLOTS - now
            if over <= 1e-6:
                return max(0.0, gone)
        return 0.0
