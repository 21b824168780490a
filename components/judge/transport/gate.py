"""Who may call now, with which key and at which endpoint."""

import asyncio
import collections
import dataclasses
import logging
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence

from components.judge.transport.breaker import Breaker
from components.judge.transport.keys import Key
from components.judge.transport.leases import Lease
from components.judge.transport.limiter import Limiter
from components.judge.transport.limits import Stats
from components.judge.transport.reply import Signal

log = logging.getLogger(__name__)

NEVER = float("inf")
_BREAKING = frozenset({Signal.UNAVAILABLE, Signal.SLOW, Signal.BROKEN, Signal.UNREACHED})
_PRESSING = frozenset({Signal.THROTTLED, Signal.UNAVAILABLE, Signal.SLOW})

_UNCHARGED = frozenset({Signal.THROTTLED, Signal.UNAVAILABLE, Signal.UNREACHED})
"""Calls that took no tokens; a refused one may still count as a call."""


@dataclasses.dataclass(slots=True)
class Endpoint:
    """One server of the judge."""

    index: int
    url: str
    breaker: Breaker
    in_flight: int = 0
    rests_until: float = float("-inf")

    def wait(self, now: float) -> float:
        """Seconds until a call may be made; infinite while the only one that may is under way."""
        return max(self.breaker.wait(now), self.rests_until - now)


@dataclasses.dataclass(slots=True)
class Slot:
    """A permit for one call."""

    key: Key
    endpoint: Endpoint
    tokens: int
    began: float


@dataclasses.dataclass(slots=True, eq=False)
class _Waiter:
    future: "asyncio.Future[Slot | None]"
    tokens: int
    avoid: frozenset[int]
    since: float
    deadline: float | None


class Gate:
    """The limit of a whole run: callers enter in turn, when limiter, leases, a key and an endpoint allow it.

    A caller with a deadline waits until then. One without, which has made no call yet, waits as long as the judge
    answers somebody: it gives up only after ``patience`` seconds in which nobody got an answer.

    Args:
        endpoints: base URLs.
        keys: at least one.
        limiter: of calls under way at this process.
        lease: this process's part of what the host's processes share; None shares nothing.
        patience: seconds.
        pause: waits so many seconds.
        clock: seconds.
        dice: spreads trials.
    """

    def __init__(
        self,
        endpoints: Sequence[str],
        keys: Sequence[Key],
        limiter: Limiter,
        *,
        lease: Lease | None,
        patience: float,
        pause: Callable[[float], Awaitable[None]],
        clock: Callable[[], float],
        dice: random.Random,
    ) -> None:
        self.endpoints = [Endpoint(index, url, Breaker(dice)) for index, url in enumerate(endpoints)]
        self.keys = keys
        self.patience = patience
        self.closed = False
        self._limiter = limiter
        self._lease = lease
        self._pause = pause
        self._clock = clock
        self._again: collections.deque[_Waiter] = collections.deque()
        self._fresh: collections.deque[_Waiter] = collections.deque()
        self._in_flight = 0
        self._answered = clock()
        self._first_end = NEVER
        self._waker: asyncio.Task[None] | None = None
        self._wakes_at = NEVER
        self._seen: collections.Counter[Signal] = collections.Counter()

    async def enter(self, tokens: int, avoid: frozenset[int], deadline: float | None, again: bool) -> Slot | None:
        """A permit, or None when the caller has waited too long.

        Args:
            tokens: what the call may take.
            avoid: keys that are not to be used.
            deadline: time at which to give up; None see above.
            again: whether the call is a repetition, which goes before the others.
        """
        if self.closed:
            return None
        now = self._clock()
        if not self._again and (again or not self._fresh):
            slot, wait = self._admit(tokens, avoid, now)
            if slot is not None:
                return slot
            if wait == NEVER and self.soonest(avoid) == NEVER:
                return None
            self._wake(now + wait)
        waiter = _Waiter(asyncio.get_running_loop().create_future(), tokens, avoid, now, deadline)
        (self._again if again else self._fresh).append(waiter)
        self._first_end = min(self._first_end, self._end(waiter))
        self._wake(self._first_end)
        try:
            return await waiter.future
        except asyncio.CancelledError:
            if waiter.future.done() and not waiter.future.cancelled() and (slot := waiter.future.result()) is not None:
                slot.key.give_back(1.0, slot.tokens, self._clock())
                self.leave(slot, Signal.NOTHING, None)
            else:
                self._pump()
            raise

    def leave(self, slot: Slot, signal: Signal, asked: float | None) -> None:
        """A call ended with ``signal``; ``asked``: seconds that the server wants to be left in peace."""
        now = self._clock()
        self._in_flight -= 1
        slot.key.in_flight -= 1
        slot.endpoint.in_flight -= 1
        self._seen[signal] += 1
        self._learn(slot, signal, asked, now)
        if (self._again or self._fresh) and not self.closed:
            self._pump()

    def take_out(self, indices: Iterable[int]) -> None:
        """Use these keys no more: they were refused for a call that another key was taken for."""
        for index in indices:
            if not self.keys[index].out:
                self.keys[index].out = True
                log.warning("key %d of %d is refused by the judge and used no more", index + 1, len(self.keys))

    def soonest(self, avoid: frozenset[int]) -> float:
        """Seconds for which the servers want no call with any key that is left; infinite where none is left."""
        now = self._clock()
        keys = min((key.rest(now) for key in self.keys if not key.out and key.index not in avoid), default=NEVER)
        return max(keys, min(endpoint.rests_until for endpoint in self.endpoints) - now)

    def close(self) -> None:
        """Send away who waits, let nobody in any more, and give the leased permits back."""
        self.closed = True
        for queue in (self._again, self._fresh):
            while queue:
                waiter = queue.popleft()
                if not waiter.future.done():
                    waiter.future.set_result(None)
        if self._waker is not None:
            self._waker.cancel()
            self._waker = None
        if self._lease is not None:
            self._lease.close()

    def stats(self) -> Stats:
        """What is going on."""
        now = self._clock()
        return Stats(
            limit=self._permits(),
            most=self._limiter.most,
            in_flight=self._in_flight,
            waiting=sum(not waiter.future.done() for queue in (self._again, self._fresh) for waiter in queue),
            breakers=tuple(endpoint.breaker.state(now) for endpoint in self.endpoints),
            keys_out=tuple(key.index for key in self.keys if key.out),
            calls=sum(self._seen.values()),
            throttled=self._seen[Signal.THROTTLED] + self._seen[Signal.UNAVAILABLE],
            down=self._seen[Signal.BROKEN] + self._seen[Signal.UNREACHED],
            slow=self._seen[Signal.SLOW],
        )

    def _learn(self, slot: Slot, signal: Signal, asked: float | None, now: float) -> None:
        breaker = slot.endpoint.breaker
        if signal is Signal.NOTHING:
            breaker.left(slot.began)
            return
        if signal is Signal.GOOD:
            self._limiter.good(slot.began, now)
            slot.key.good()
        elif signal in _PRESSING:
            self._limiter.pressed(slot.began, now)
        if signal is Signal.THROTTLED:
            slot.key.throttled(slot.began, now, asked)
        elif signal is Signal.UNAVAILABLE and asked is not None:
            slot.endpoint.rests_until = max(slot.endpoint.rests_until, now + asked)
        if signal in _UNCHARGED:
            slot.key.give_back(1.0 if signal is Signal.UNREACHED else 0.0, slot.tokens, now)
        if signal in _BREAKING and asked is None:
            if breaker.failed(slot.began, now):
                log.warning("judge endpoint %s does not answer; calls to it are held back", slot.endpoint.url)
            return
        if breaker.answered():
            log.warning("judge endpoint %s answers again", slot.endpoint.url)
        if signal not in _PRESSING:
            self._answered = now

    def _admit(self, tokens: int, avoid: frozenset[int], now: float) -> tuple[Slot | None, float]:
        """A permit, or the seconds until one may be had for reasons of time (infinite: when a call ends)."""
        if self._lease is not None:
            short = self._in_flight >= self._lease.allowed
            if now >= self._lease.due or (short and now >= self._lease.eager):
                self._beat(self._lease, now, 1)
        if self._in_flight >= self._permits():
            return None, NEVER if self._lease is None else self._lease.eager - now
        endpoint, endpoint_wait = self._choose_endpoint(now)
        if endpoint is None:
            return None, endpoint_wait
        key, key_wait = self._choose_key(tokens, avoid, now)
        if key is None:
            return None, key_wait
        endpoint.breaker.enter()
        endpoint.in_flight += 1
        key.enter(tokens, now)
        self._in_flight += 1
        if self._lease is not None:
            self._wake(self._lease.due)
        return Slot(key, endpoint, tokens, now), 0.0

    def _permits(self) -> int:
        return self._limiter.limit if self._lease is None else min(self._limiter.limit, self._lease.allowed)

    def _choose_endpoint(self, now: float) -> tuple[Endpoint | None, float]:
        best, soonest = None, NEVER
        for endpoint in self.endpoints:
            wait = endpoint.wait(now)
            soonest = min(soonest, wait)
            if wait <= 0.0 and (best is None or endpoint.in_flight < best.in_flight):
                best = endpoint
        return best, soonest

    def _choose_key(self, tokens: int, avoid: frozenset[int], now: float) -> tuple[Key | None, float]:
        best, soonest = None, NEVER
        for key in self.keys:
            if key.out or key.index in avoid:
                continue
            wait = key.wait(tokens, now)
            soonest = min(soonest, wait)
            if wait <= 0.0 and (best is None or (key.in_flight, key.calls) < (best.in_flight, best.calls)):
                best = key
        return best, soonest

    def _pump(self) -> None:
        """Let in those whose turn it is: repetitions first, each in the order of coming."""
        now = self._clock()
        while queue := self._again or self._fresh:
            waiter = queue[0]
            if not waiter.future.done():
                slot, wait = self._admit(waiter.tokens, waiter.avoid, now)
                if slot is None and wait == NEVER and self.soonest(waiter.avoid) < NEVER:
                    return
                if slot is None and wait < NEVER:
                    self._wake(now + wait)
                    return
                waiter.future.set_result(slot)
            queue.popleft()

    def _end(self, waiter: _Waiter) -> float:
        return max(waiter.since, self._answered) + self.patience if waiter.deadline is None else waiter.deadline

    def _give_up(self) -> None:
        """Send away those who have waited too long."""
        now = self._clock()
        if now < self._first_end:
            return
        self._first_end = NEVER
        for queue in (self._again, self._fresh):
            for waiter in [queue.popleft() for _ in range(len(queue))]:
                if waiter.future.done():
                    continue
                end = self._end(waiter)
                if end <= now:
                    waiter.future.set_result(None)
                    continue
                queue.append(waiter)
                self._first_end = min(self._first_end, end)

    def _wake(self, when: float) -> None:
        """See to it that the queue is looked at no later than ``when``."""
        if self._waker is not None and not self._waker.done():
            if when >= self._wakes_at:
                return
            self._waker.cancel()
        if when == NEVER:
            return
        self._wakes_at = when
        self._waker = asyncio.get_running_loop().create_task(self._wake_later(when - self._clock()))

    async def _wake_later(self, seconds: float) -> None:
        await self._pause(max(0.0, seconds))
        self._waker = None
        self._give_up()
        self._pump()
        if self._again or self._fresh:
            self._wake(self._first_end)
        if self._lease is not None:
            now = self._clock()
            if now >= self._lease.due:
                self._beat(self._lease, now, 0)
            if self._in_flight:
                self._wake(self._lease.due)

    def _beat(self, lease: Lease, now: float, entering: int) -> None:
        need = self._in_flight + len(self._again) + len(self._fresh) + entering
        lease.beat(now, self._in_flight, min(need, self._limiter.limit))
