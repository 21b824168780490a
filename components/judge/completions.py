"""A judge that is asked by /v1/completions with echoed log-probabilities."""

import asyncio
import copy
import hashlib
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import orjson

from components.judge.calls import Usage
from components.judge.chat_reply import read_usage
from components.judge.echo import Scored, read
from components.judge.failures import Failure, ReplyError
from components.judge.lengths import Lengths
from components.judge.memory import Account, Budget, Cache, Entry, KeyMaker, Ledger, Price
from components.judge.profiles import Profile
from components.judge.protocols.likelihood_ratio import LikelihoodRatio
from components.judge.rubrics import check_rubric, refuse_rubric
from components.judge.transport import Reply, Transport
from components.judge.verdict import Sample, UnknownReason, Verdict, VerdictStatus

_BYTES_PER_TOKEN = 4.0
"""First guess, corrected by what the server counts."""


class _Got(NamedTuple):
    """A whole reply.

    Attributes:
        body: as it came.
        attempts: calls that it took; 0 when it was known before.
        scored: the response's part of each prompt.
    """

    body: bytes
    attempts: int
    scored: list[Scored]


class CompletionsJudge:
    """Asks a judge by likelihood ratio, one HTTP call a sample. What was asked before comes from the cache.

    Args:
        name: the judge's name in verdicts.
        model: the model's name as the server knows it.
        lengths: what the judge reads at most, and how it is counted.
        protocol: builds prompts and reads their log-probabilities.
        transport: makes the calls; closed with the judge.
        profile: the routes of its server.
        ledger: gets every verdict and a row a call; None keeps none.
        price: what tokens cost, for the ledger; None where nobody pays by token.
        budget: calls, tokens and cost that the run may spend on this judge; None has no limit.
        cache: whole replies of earlier calls; None keeps none. Closed with this.
        identity: what decides the judge's replies, beside its name, as text.
    """

    def __init__(
        self,
        *,
        name: str,
        model: str,
        lengths: Lengths,
        protocol: LikelihoodRatio,
        transport: Transport,
        profile: Profile,
        ledger: Ledger | None,
        price: Price | None = None,
        budget: Budget | None = None,
        cache: Cache | None = None,
        identity: str = "",
    ) -> None:
        self.name = name
        self.model = model
        self.protocol = protocol
        self.transport = transport
        self._lengths = lengths
        self._profile = profile
        self._ledger = ledger
        self._account = Account(name, protocol.version, ledger=ledger, price=price, budget=budget)
        self._bytes_per_token = _BYTES_PER_TOKEN
        self._cache = cache
        self._identity = identity
        self._key = self._keys("")
        self._starts_known: bool | None = None
        self._asking: asyncio.Future[Reply | Failure] | None = None

    async def judge(self, sample: Sample) -> list[Verdict]:
        """See :class:`components.judge.base.Judge`."""
        check_rubric(sample, self.name)
        begun = time.monotonic()
        response = self.protocol.response(sample)
        prefixes = self.protocol.prefixes(sample)
        prompts = [prefix + response for prefix in prefixes]
        refusal = await self._refuse(response, prompts)
        if refusal is not None:
            if refusal.reason is UnknownReason.TOO_LONG:
                self._unasked(sample, begun, refusal)
                await refuse_rubric(sample, self.name, self._lengths, 0)
            return self._record(sample, begun, self._unknown(sample, refusal), None, None)
        # Two criteria with one text make one prompt.
        unique = list(dict.fromkeys(prompts))
        starts = {prompt: len(prefix) for prompt, prefix in zip(prompts, prefixes, strict=True)}
        boundaries = [starts[prompt] for prompt in unique]
        got = await self._ask(sample, begun, unique, boundaries)
        if isinstance(got, Failure):
            return self._record(sample, begun, self._unknown(sample, got), None, got)
        scored = dict(zip(unique, got.scored, strict=True))
        ordered = [scored[prompt] for prompt in prompts]
        verdicts = self._known(got, self.protocol.log_ratios(ordered))
        # Tokens are counted where the server read them.
        return self._record(sample, begun, verdicts, ordered if got.attempts else None, None)

    def drawn(self, sampling: str) -> Self:
        """The same judge, asked anew: its replies are kept apart from others'.

        Args:
            sampling: identity of the draw, such as the number of a repetition; empty for this one's own.
        """
        other = copy.copy(self)
        other._key = self._keys(sampling)
        return other

    async def close(self) -> None:
        """Release connections and cache. The ledger belongs to the caller."""
        await self.transport.close()
        if self._cache is not None:
            self._cache.close()

    def _keys(self, sampling: str) -> KeyMaker:
        return KeyMaker(f"{self.name}\n{self.model}\n{self._identity}", self.protocol.version, sampling)

    async def _refuse(self, response: str, prompts: Sequence[str]) -> Failure | None:
        """What can be known before a call: nothing to judge, or more than the judge reads."""
        if not response:
            return Failure(UnknownReason.EMPTY_RESPONSE, "the response is empty")
        for prompt in prompts:
            excess = await self._lengths.exceeds([prompt], 0)
            if excess is not None:
                detail = f"the prompt has {excess}; the judge reads {self._lengths.context} tokens"
                return Failure(UnknownReason.TOO_LONG, detail)
        return None

    async def _ask(
        self, sample: Sample, begun: float, prompts: Sequence[str], boundaries: Sequence[int]
    ) -> _Got | Failure:
        """The reply and what it says of each prompt; the call's row is written."""
        question = b"" if self._cache is None else orjson.dumps([prompts, boundaries])
        known = self._from_cache(sample, begun, question, prompts, boundaries)
        if known is not None:
            return known
        body = await self._body(prompts, boundaries)
        if isinstance(body, Failure):
            self._unasked(sample, begun, body)
            return body
        guess = int(len(body) / self._bytes_per_token) + 1
        refused = self._account.reserve(Usage(guess))
        if refused is not None:
            self._unasked(sample, begun, refused, body)
            return refused
        # Until it is over, all that is known is that the server may have the call, and bill it.
        failure: Failure | None = Failure(UnknownReason.TIMEOUT, "given up by its caller", attempts=1)
        calls, usage, reply, finish = 1, Usage(), None, None
        try:
            got = await self.transport.post(self._profile.completions_route, body, tokens=guess)
            calls = got.attempts
            if isinstance(got, Failure):
                failure = got
                return got
            reply, usage = got, read_usage(got.data, sent=len(body))
            self._learn(got, body, usage)
            try:
                found = read(got.data, prompts, boundaries)
            except ReplyError as error:
                failure = Failure(UnknownReason.UNPARSEABLE, str(error), got.body, got.attempts)
                return failure
            if not usage.prompt:
                usage = Usage(sum(each.prompt_tokens for each in found))
            failure, finish = None, _finish(got.data)
            if self._cache is not None:
                self._cache.put(self._key(question), got.body)
            return _Got(got.body, got.attempts, found)
        finally:
            self._account.settle(usage, calls)
            self._account.record(
                body,
                begun,
                attempts=calls,
                usage=usage,
                reply=reply,
                failure=failure,
                about=_about(sample),
                finish=finish,
            )

    def _from_cache(
        self, sample: Sample, begun: float, question: bytes, prompts: Sequence[str], boundaries: Sequence[int]
    ) -> _Got | None:
        """An earlier whole reply; one that cannot be read any more counts as none."""
        raw = self._cache.get(self._key(question)) if self._cache is not None else None
        if raw is None:
            return None
        try:
            data = orjson.loads(raw)
            found = read(data, prompts, boundaries)
        except (orjson.JSONDecodeError, ReplyError):
            return None
        self._account.record(question, begun, attempts=0, about=_about(sample), finish=_finish(data), from_cache=True)
        return _Got(raw, 0, found)

    def _unasked(self, sample: Sample, begun: float, failure: Failure, body: bytes = b"") -> None:
        """The row of a question that was not put."""
        self._account.record(body, begun, attempts=0, failure=failure, about=_about(sample))

    def _learn(self, reply: Reply, body: bytes, usage: Usage) -> None:
        """Correct the token bucket, and the guess for the next call."""
        if usage.prompt:
            reply.used(usage.prompt + usage.completion)
            self._bytes_per_token += 0.1 * (len(body) / usage.prompt - self._bytes_per_token)

    async def _body(self, prompts: Sequence[str], boundaries: Sequence[int]) -> bytes | Failure:
        body: dict[str, Any] = {
            "model": self.model,
            "prompt": list(prompts),
            "max_tokens": 0,
            "echo": True,
            "logprobs": 1,
            "temperature": 0,
        }
        announced = await self._announced()
        if isinstance(announced, Failure):
            return announced
        if announced:
            # Without the likeliest tokens, and only from the response on, the server has far less to compute.
            body["logprobs"] = 0
            body["logprobs_from"] = list(boundaries)
        return orjson.dumps(body)

    async def _announced(self) -> bool | Failure:
        """Whether the server knows ``logprobs_from``; others never get that field, since they would refuse it.

        A failure is returned only if the judge cannot be reached. Whatever else is wrong with the list of models, the
        call itself will meet it and get its reason.
        """
        if self._starts_known is None:
            # All who ask meanwhile share one call; the next one asks anew if it failed.
            if self._asking is None or self._asking.done():
                self._asking = asyncio.ensure_future(self.transport.get(self._profile.models_route))
            got = await asyncio.shield(self._asking)
            if isinstance(got, Failure):
                return got if got.reason in (UnknownReason.JUDGE_DOWN, UnknownReason.TIMEOUT) else False
            self._starts_known = _announces(got.data, self.model)
        return self._starts_known

    def _unknown(self, sample: Sample, failure: Failure) -> list[Verdict]:
        raw = hashlib.sha256(failure.body).hexdigest() if failure.body is not None else None
        return [
            Verdict(
                VerdictStatus.UNKNOWN,
                None,
                None,
                failure.reason,
                self.name,
                self.protocol.version,
                failure.attempts,
                raw,
            )
            for _ in sample.criteria
        ]

    def _known(self, got: _Got, ratios: Sequence[float]) -> list[Verdict]:
        raw = hashlib.sha256(got.body).hexdigest()
        verdicts = []
        for ratio in ratios:
            probability = self.protocol.probability(ratio)
            status = VerdictStatus.MET if probability > 0.5 else VerdictStatus.UNMET
            verdicts.append(
                Verdict(status, probability, ratio, None, self.name, self.protocol.version, got.attempts, raw)
            )
        return verdicts

    def _record(
        self,
        sample: Sample,
        begun: float,
        verdicts: list[Verdict],
        scored: Sequence[Scored] | None,
        failure: Failure | None,
    ) -> list[Verdict]:
        if self._ledger is not None:
            tokens = _share_tokens(scored) if scored else [0] * len(verdicts)
            seconds = time.monotonic() - begun
            self._ledger.add(
                [
                    Entry.of(sample, index, verdict, seconds=seconds, prompt_tokens=tokens[index])
                    for index, verdict in enumerate(verdicts)
                ],
                raw=failure.body if failure else None,
                detail=failure.detail if failure else None,
            )
        return verdicts


def _about(sample: Sample) -> tuple[str, int]:
    return sample.sample_id, len(sample.response)


def _finish(data: dict[str, Any]) -> str | None:
    """Why the first choice ended, of a reply that was read."""
    finish = data["choices"][0].get("finish_reason")
    return finish if finish in ("stop", "length") else None


def _announces(models: dict[str, Any], name: str) -> bool:
    cards = models.get("data")
    for card in cards if isinstance(cards, list) else []:
        if isinstance(card, dict) and card.get("id") == name:
            ours = card.get("gavel")
            return isinstance(ours, dict) and ours.get("logprobs_from") is True
    return False


def _share_tokens(scored: Sequence[Scored]) -> list[int]:
    """Prompt tokens a criterion: its own prompt's, and its share of the unconditioned one, so that the sum is what the
    server read."""
    whole, rest = divmod(scored[0].prompt_tokens, len(scored) - 1)
    return [each.prompt_tokens + whole + (index < rest) for index, each in enumerate(scored[1:])]
