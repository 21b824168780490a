"""Calls with repetitions, deadlines and a typed failure at the end."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from components.judge.backoff import full_jitter
from components.judge.failures import Failure
from components.judge.transport.bucket import Bucket
from components.judge.transport.gate import Gate, Slot
from components.judge.transport.keys import MakeRate, make_keys
from components.judge.transport.leases import Lease, LeaseFile, shared_rates
from components.judge.transport.limiter import Limiter
from components.judge.transport.limits import Limits, Stats
from components.judge.transport.reading import Classify
from components.judge.transport.reply import Good, Reply, Signal, Trouble
from components.judge.transport.wire import HttpWire, ReadStream, Wire
from components.judge.verdict import UnknownReason

log = logging.getLogger(__name__)

_LONGEST_REFUSED = 2.0
"""Seconds that a call which was not taken up waits on its own; limiter and breaker hold back the rest."""

_SHORT_REST = 0.05
"""Seconds; a server that asks for less would be asked again and again without a breath."""


class Transport:
    """Calls to one model at one or more servers, under limits that hold for all callers together.

    A call that the judge never took up (not reached, 429, 503) is repeated until its deadline, so that a judge which
    restarts or is flooded is waited for; one that it took up and broke (time-out, reset, 5xx, broken JSON) is repeated
    ``attempts`` times at most. 400, 404 and 422 are never repeated; 401 and 403 only with another key.

    Args:
        endpoints: base URLs without ``/v1``, all serving the same model.
        keys: bearer tokens, each with its own rates; none where the judge wants none.
        timeout: seconds of one call.
        attempts: calls that may fail.
        limits: see :class:`Limits`.
        leases: folder, on a local disk, through which processes with the same endpoints and keys share the limits.
        classify: a provider's own meaning of an error's status and body: a reason that ends the call, or None.
        pause: waits so many seconds.
        clock: seconds; shared by the host's processes where ``leases`` is given.
        wire: makes the calls; HTTP unless given.

    Attributes:
        endpoint: the first base URL.
        deadline: seconds for one call with its repetitions, from its first permit on; and seconds without an answer to
            anybody after which a call that waits for its first permit gives up.
    """

    def __init__(
        self,
        endpoints: Sequence[str],
        *,
        keys: Sequence[str] = (),
        timeout: float,
        attempts: int,
        limits: Limits,
        leases: Path | None = None,
        classify: Classify | None = None,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        wire: Wire | None = None,
    ) -> None:
        urls = [url.rstrip("/") for url in endpoints]
        self.endpoint = urls[0]
        self.timeout = timeout
        self.clock = clock
        self._attempts = attempts
        self._limits = limits
        self._pause = pause
        self._dice = random.Random()
        self._said: set[str] = set()
        self._leases = None if leases is None else LeaseFile(leases, urls)
        rates: MakeRate = lambda _, limit: Bucket(limit, clock())  # noqa: E731
        if self._leases is not None:
            rates = shared_rates(self._leases, clock)
        made = make_keys(keys, limits, rates, self._dice)
        self._wire = wire or HttpWire(urls, [key.secret for key in made], classify)
        self._gate = Gate(
            urls,
            made,
            Limiter(limits.permits, limits.latency_target),
            lease=None if self._leases is None else Lease(self._leases, limits.permits),
            patience=timeout * attempts,
            pause=pause,
            clock=clock,
            dice=self._dice,
        )

    @property
    def deadline(self) -> float:
        """See the class."""
        return self._gate.patience

    @deadline.setter
    def deadline(self, seconds: float) -> None:
        self._gate.patience = seconds

    async def post(
        self,
        path: str,
        body: Mapping[str, Any] | bytes,
        *,
        tokens: int = 0,
        read: ReadStream | None = None,
        deadline: float | None = None,
    ) -> Reply | Failure:
        """POST ``body``.

        Args:
            path: route, with its leading slash.
            body: JSON object, or its bytes.
            tokens: what it may take of the tokens a minute; :meth:`Reply.used` corrects it afterwards.
            read: reads the reply as a stream, if the server streams.
            deadline: time on :attr:`clock` at which to give up, waiting included; None follows the limits.
        """
        payload = body if isinstance(body, bytes) else orjson.dumps(body)
        return await self._repeat("POST", path, payload, self._attempts, tokens, read, deadline)

    async def get(self, path: str) -> Reply | Failure:
        """GET ``path``; repeated only while the judge cannot be reached or is flooded."""
        return await self._repeat("GET", path, None, 1, 0, None, None)

    async def close(self) -> None:
        """Close the session and give leased permits back; calling it twice is harmless."""
        self._gate.close()
        if self._leases is not None:
            self._leases.close()
        await self._wire.close()

    def stats(self) -> Stats:
        """What is going on."""
        return self._gate.stats()

    async def _repeat(
        self,
        method: str,
        path: str,
        payload: bytes | None,
        attempts: int,
        tokens: int,
        read: ReadStream | None,
        end: float | None,
    ) -> Reply | Failure:
        begun = self.clock()
        if end is None and self._limits.sample_deadline is not None:
            end = begun + self._limits.sample_deadline
        calls = failed = 0
        refused: set[int] = set()
        trouble: Trouble | None = None
        last: Slot | None = None
        while True:
            slot = await self._gate.enter(tokens, frozenset(refused), end, calls > 0)
            if slot is None:
                return self._failure(trouble or self._waited_in_vain(), calls, last)
            last = slot
            calls += 1
            end = slot.began + self.deadline if end is None else end
            got = await self._once(slot, method, path, payload, max(0.01, end - slot.began), read)
            now = self.clock()
            if isinstance(got, Good):
                self._gate.take_out(refused)
                return self._reply(got, slot, calls, now - begun, now - slot.began)
            if got.signal is Signal.KEY_REFUSED:
                refused.add(slot.key.index)
            trouble = got
            failed += got.counts
            wait = self._own_wait(got, calls)
            soonest = max(wait, self._gate.soonest(frozenset(refused)))
            if not got.again or failed >= attempts or now + soonest >= end:
                return self._failure(got, calls, slot)
            if wait:
                await self._pause(wait)

    async def _once(
        self, slot: Slot, method: str, path: str, payload: bytes | None, left: float, read: ReadStream | None
    ) -> Good | Trouble:
        signal, asked = Signal.NOTHING, None
        try:
            limit = min(self.timeout, left)
            got = await self._wire.send(method, slot.endpoint.index, slot.key.index, path, payload, limit, read)
            signal, asked = (Signal.GOOD, None) if isinstance(got, Good) else (got.signal, got.wait)
            return got
        finally:
            self._gate.leave(slot, signal, asked)

    def _own_wait(self, trouble: Trouble, calls: int) -> float:
        """Seconds that this call waits on its own. Where the server asked for a rest, its key rests instead."""
        if trouble.signal is Signal.KEY_REFUSED or (trouble.wait is not None and trouble.wait >= _SHORT_REST):
            return 0.0
        jitter = full_jitter(calls - 1, self._dice)
        return jitter if trouble.counts else min(jitter, _LONGEST_REFUSED)

    def _reply(self, good: Good, slot: Slot, calls: int, seconds: float, served: float) -> Reply:
        def settle(tokens: int) -> None:
            slot.key.give_back(0.0, slot.tokens - tokens, self.clock())

        return Reply(good.data, good.body, calls, seconds, slot.key.index, slot.endpoint.index, served, settle)

    def _waited_in_vain(self) -> Trouble:
        stats = self.stats()
        if self._gate.closed:
            return Trouble(UnknownReason.JUDGE_DOWN, f"{self.endpoint}: closed by us", Signal.NOTHING, again=False)
        if "closed" in stats.breakers:
            detail = (
                f"{self.endpoint}: the deadline came while the call waited for its turn ({stats.in_flight} under way)"
            )
            return Trouble(UnknownReason.TIMEOUT, detail, Signal.NOTHING, again=False)
        detail = f"{self.endpoint}: the judge did not answer while the call waited for its turn"
        return Trouble(UnknownReason.JUDGE_DOWN, detail, Signal.NOTHING, again=False)

    def _failure(self, trouble: Trouble, calls: int, last: Slot | None) -> Failure:
        """Log each kind of failure once; the ledger has them all."""
        detail = trouble.detail
        if trouble.signal is Signal.KEY_REFUSED and len(self._gate.keys) > 1:
            detail = f"{detail}; none of the {len(self._gate.keys)} keys is accepted"
        kind = detail.removeprefix(self.endpoint)[:32]
        if kind not in self._said and len(self._said) < 100:
            self._said.add(kind)
            log.warning("judge call failed: %s", detail)
        key, endpoint = (None, None) if last is None else (last.key.index, last.endpoint.index)
        return Failure(trouble.reason, detail, trouble.body, calls, key, endpoint)
