"""Puts calls to a chat judge: cache, then budget, then HTTP, and a row of the ledger for each."""

import asyncio
import dataclasses
import time
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

import orjson

from components.judge.calls import Answer, Call, Usage, nothing_kept
from components.judge.carrier import Carrier, Reply
from components.judge.chat_reply import read_answer, read_usage
from components.judge.failures import Failure, ReplyTrouble
from components.judge.flights import Flights
from components.judge.lengths import Lengths
from components.judge.memory import Account, Budget, Cache, CacheKey, KeyMaker, Ledger, Price
from components.judge.profiles.base import Profile
from components.judge.stream import assemble
from components.judge.verdict import UnknownReason

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec

_AGAIN = frozenset({UnknownReason.NO_FINISH, UnknownReason.EMPTY_REPLY})
"""Failures of a reply of status 200 that a gateway in trouble produces; one more try is worth it."""

_WORTH_ASKING = 0.1
"""Seconds that must be left for another call."""

_BYTES_PER_TOKEN = 4.0
"""First guess, corrected by what the server counts."""


class Asker:
    """Implements :class:`components.judge.calls.Ask` for one judge and one protocol. For one event loop.

    Args:
        spec: the judge.
        profile: what its server understands.
        transport: makes the calls; the caller closes it.
        identity: what decides the judge's replies, beside its name (:meth:`Experiment.judge_identity`, as text).
        protocol: name and version hash of the protocol; for the cache and the ledger.
        sampling: identity of a draw beyond the call itself, such as the number of a repetition.
        cache: whole replies of earlier calls; None keeps none.
        ledger: gets a row a call; None keeps none. The caller closes it.
        budget: shared by all askers of a run and judge; None has no limit.
        lengths: tells what is too long before it is sent; None counts words.
    """

    def __init__(
        self,
        spec: "JudgeSpec",
        profile: Profile,
        transport: Carrier,
        *,
        identity: str = "",
        protocol: str = "",
        sampling: str = "",
        cache: Cache | None = None,
        ledger: Ledger | None = None,
        budget: Budget | None = None,
        lengths: Lengths | None = None,
    ) -> None:
        self._spec = spec
        self._lengths = lengths or Lengths(spec.context_tokens)
        self._profile = profile
        self._transport = transport
        self._key = KeyMaker(f"{spec.name}\n{spec.model_name}\n{identity}", protocol, sampling)
        self._cache = cache
        price = Price.of(spec.price) if spec.price is not None else None
        self._account = Account(spec.name, protocol, ledger=ledger, price=price, budget=budget)
        self._streams = profile.streams(spec)
        self._flights: Flights[CacheKey, Answer | Failure] = Flights()
        self._bytes_per_token = _BYTES_PER_TOKEN

    async def __call__(self, call: Call) -> Answer | Failure:
        """The judge's answer. Equal calls under way at once are one; what came before comes from the cache.

        Raises:
            JudgeError: the ledger cannot be written.
        """
        excess = await self._lengths.exceeds([message.content for message in call.messages], call.max_tokens)
        if excess is not None:
            return self._too_long(call, excess)
        body = orjson.dumps(self._profile.body(call, self._spec))
        key = self._key(body)
        while True:
            answer, first = await self._flights.run(key, lambda: self._ask(call, body, key))
            if first:
                return answer
            if not _is_early(answer, call):
                # Calls are counted once, for whoever made them.
                return dataclasses.replace(answer, attempts=0)

    async def _ask(self, call: Call, body: bytes, key: CacheKey) -> Answer | Failure:
        begun = time.monotonic()
        known = self._from_cache(call, key, begun)
        if known is not None:
            self._record(call, body, known, begun, from_cache=True)
            return known
        refused = self._account.reserve(Usage(self._guess(body)))
        if refused is not None:
            self._record(call, body, refused, begun)
            return refused
        usage, calls = Usage(), 1
        try:
            got, usage, calls, reply = await self._post(call, body, key, begun)
        except asyncio.CancelledError:
            # The server may have the call already, and bill it.
            self._record(call, body, Failure(UnknownReason.TIMEOUT, "given up by its caller", attempts=1), begun)
            raise
        finally:
            self._account.settle(usage, calls)
        if self._cache is not None and reply is not None and isinstance(got, Answer) and _is_whole(got, call):
            self._cache.put(key, reply.body)
        self._record(call, body, got, begun, usage=usage, reply=reply)
        return got

    def _drop(self, key: CacheKey) -> Callable[[], None]:
        """What forgets the reply to a call."""
        cache = self._cache
        return nothing_kept if cache is None else lambda: cache.remove(key)

    async def _post(
        self, call: Call, body: bytes, key: CacheKey, begun: float
    ) -> tuple[Answer | Failure, Usage, int, Reply | None]:
        """The outcome, all tokens and calls that it took, and the last reply of status 200."""
        usage, calls, served = Usage(), 0, 0.0
        while True:
            reply = await self._transport.post(
                self._profile.chat_route,
                body,
                tokens=self._guess(body) + call.max_tokens,
                read=self._read if self._streams else None,
                deadline=call.deadline,
            )
            if isinstance(reply, Failure):
                failure = dataclasses.replace(reply, attempts=calls + reply.attempts)
                if failure.reason is UnknownReason.REJECTED and self._profile.refused(failure.body):
                    failure = dataclasses.replace(failure, reason=UnknownReason.REFUSED)
                return failure, usage, failure.attempts, None
            calls += reply.attempts
            served += reply.served
            used = read_usage(reply.data, sent=len(body))
            usage = _sum(usage, used) if calls > reply.attempts else used
            self._learn(reply, body, used)
            answer = read_answer(
                reply.data,
                reply.body,
                attempts=calls,
                seconds=time.monotonic() - begun,
                logprobs=call.top_logprobs > 0,
                usage=usage,
                served=served,
                drop=self._drop(key),
            )
            if isinstance(answer, Answer) or answer.reason not in _AGAIN or calls >= min(2, self._spec.attempts):
                return answer, usage, calls, reply

    def _guess(self, body: bytes) -> int:
        """Tokens of the prompt."""
        return int(len(body) / self._bytes_per_token) + 1

    def _learn(self, reply: Reply, body: bytes, used: Usage) -> None:
        """Correct the token bucket, and the guess for the next call."""
        if used.prompt:
            reply.used(used.prompt + used.completion)
            self._bytes_per_token += 0.1 * (len(body) / used.prompt - self._bytes_per_token)

    async def _read(self, chunks: AsyncIterator[bytes]) -> dict[str, Any]:
        try:
            return await assemble(chunks)
        except ReplyTrouble as trouble:
            if self._profile.refused(trouble.body):
                raise ReplyTrouble(UnknownReason.REFUSED, trouble.detail, False, trouble.body) from trouble
            raise

    def _from_cache(self, call: Call, key: CacheKey, begun: float) -> Answer | None:
        """An earlier whole reply; one that cannot be read any more counts as none."""
        raw = self._cache.get(key) if self._cache is not None else None
        if raw is None:
            return None
        try:
            data = orjson.loads(raw)
        except orjson.JSONDecodeError:
            return None
        if not isinstance(data, dict):
            return None
        seconds = time.monotonic() - begun
        answer = read_answer(
            data, raw, attempts=0, seconds=seconds, logprobs=call.top_logprobs > 0, drop=self._drop(key)
        )
        return answer if isinstance(answer, Answer) else None

    def _too_long(self, call: Call, excess: str) -> Failure:
        detail = (
            f"judge {self._spec.name}: the prompt has {excess}; the reply may take {call.max_tokens} tokens, and "
            f"the judge reads {self._spec.context_tokens} tokens; shorten responses or rubric, lower "
            "max_answer_tokens, or choose a judge with a longer context"
        )
        failure = Failure(UnknownReason.TOO_LONG, detail)
        self._record(call, b"", failure, time.monotonic())
        return failure

    def _record(
        self,
        call: Call,
        body: bytes,
        got: Answer | Failure,
        begun: float,
        *,
        from_cache: bool = False,
        usage: Usage | None = None,
        reply: Reply | None = None,
    ) -> None:
        self._account.record(
            body,
            begun,
            attempts=got.attempts,
            usage=usage,
            reply=reply,
            failure=got if isinstance(got, Failure) else None,
            answer=got if isinstance(got, Answer) else None,
            purpose=call.purpose,
            from_cache=from_cache,
        )


def _is_early(answer: Answer | Failure, call: Call) -> bool:
    """Whether the call was joined to an equal one that was given up at its own deadline, before this one's."""
    late = call.deadline is not None and time.monotonic() + _WORTH_ASKING < call.deadline
    return late and isinstance(answer, Failure) and answer.reason is UnknownReason.TIMEOUT


def _is_whole(answer: Answer, call: Call) -> bool:
    """Whether the reply says all that was asked for. Of one token, nothing is cut."""
    return answer.finish == "stop" or call.max_tokens == 1


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(one.prompt + other.prompt, one.completion + other.completion, one.cached + other.cached)
