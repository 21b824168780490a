"""A judge that is asked by /v1/completions with echoed log-probabilities."""

import asyncio
import hashlib
import time
from collections.abc import Sequence
from typing import Any

from components.judge.echo import Scored, read
from components.judge.failures import Failure, ReplyError
from components.judge.memory import Entry, Ledger
from components.judge.protocols.likelihood_ratio import LikelihoodRatio
from components.judge.transport import Reply, Transport
from components.judge.verdict import Sample, UnknownReason, Verdict, VerdictStatus


class CompletionsJudge:
    """Asks a judge by likelihood ratio, one HTTP call a sample.

    Args:
        name: the judge's name in verdicts.
        model: the model's name as the server knows it.
        context: tokens that the judge reads at most.
        protocol: builds prompts and reads their log-probabilities.
        transport: makes the calls; closed with the judge.
        ledger: gets every verdict; None keeps none.
    """

    def __init__(
        self,
        *,
        name: str,
        model: str,
        context: int,
        protocol: LikelihoodRatio,
        transport: Transport,
        ledger: Ledger | None,
    ) -> None:
        self.name = name
        self.model = model
        self.protocol = protocol
        self.transport = transport
        self._context = context
        self._ledger = ledger
        self._starts_known: bool | None = None
        self._asking: asyncio.Future[Reply | Failure] | None = None

    async def judge(self, sample: Sample) -> list[Verdict]:
        """See :class:`components.judge.base.Judge`."""
        if not sample.criteria:
            return []
        begun = time.monotonic()
        response = self.protocol.response(sample)
        prefixes = self.protocol.prefixes(sample)
        prompts = [prefix + response for prefix in prefixes]
        refusal = self._refuse(response, prompts)
        if refusal is not None:
            return self._record(sample, begun, self._unknown(sample, refusal), None, None)
        # Two criteria with one text make one prompt.
        unique = list(dict.fromkeys(prompts))
        starts = {prompt: len(prefix) for prompt, prefix in zip(prompts, prefixes, strict=True)}
        boundaries = [starts[prompt] for prompt in unique]
        got = await self._ask(unique, boundaries)
        if isinstance(got, Failure):
            return self._record(sample, begun, self._unknown(sample, got), None, got)
        try:
            scored = dict(zip(unique, read(got.data, unique, boundaries), strict=True))
        except ReplyError as error:
            failure = Failure(UnknownReason.UNPARSEABLE, str(error), got.body, got.attempts)
            return self._record(sample, begun, self._unknown(sample, failure), None, failure)
        ordered = [scored[prompt] for prompt in prompts]
        verdicts = self._known(got, self.protocol.log_ratios(ordered))
        return self._record(sample, begun, verdicts, ordered, None)

    async def close(self) -> None:
        """Release the connections. The ledger belongs to the caller."""
        await self.transport.close()

    def _refuse(self, response: str, prompts: Sequence[str]) -> Failure | None:
        """What can be known before a call: nothing to judge, or more words than the judge reads tokens."""
        if not response:
            return Failure(UnknownReason.EMPTY_RESPONSE, "the response is empty")
        words = max(len(prompt.split()) for prompt in prompts)
        if words > self._context:
            # No tokenizer in use here joins words, so a text has at least as many tokens as words.
            detail = f"the prompt has {words} words and the judge reads {self._context} tokens"
            return Failure(UnknownReason.TOO_LONG, detail)
        return None

    async def _ask(self, prompts: Sequence[str], boundaries: Sequence[int]) -> Reply | Failure:
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
        return await self.transport.post("/v1/completions", body)

    async def _announced(self) -> bool | Failure:
        """Whether the server knows ``logprobs_from``; others never get that field, since they would refuse it.

        A failure is returned only if the judge cannot be reached. Whatever else is wrong with the list of models, the
        call itself will meet it and get its reason.
        """
        if self._starts_known is None:
            # All who ask meanwhile share one call; the next one asks anew if it failed.
            if self._asking is None or self._asking.done():
                self._asking = asyncio.ensure_future(self.transport.get("/v1/models"))
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

    def _known(self, reply: Reply, ratios: Sequence[float]) -> list[Verdict]:
        raw = hashlib.sha256(reply.body).hexdigest()
        verdicts = []
        for ratio in ratios:
            probability = self.protocol.probability(ratio)
            status = VerdictStatus.MET if probability > 0.5 else VerdictStatus.UNMET
            verdicts.append(
                Verdict(status, probability, ratio, None, self.name, self.protocol.version, reply.attempts, raw)
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
