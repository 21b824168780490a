"""Real questions to a judge, before anything depends on it."""

import dataclasses
import time
from typing import TYPE_CHECKING, Any

from components.core.errors import JudgeError
from components.core.manifest import Scalar
from components.judge.build import build_judge, build_protocol, build_transport
from components.judge.echo import Scored, read
from components.judge.failures import Failure, ReplyError
from components.judge.transport import Reply, Transport
from components.judge.verdict import Criterion, Sample, VerdictStatus

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec
    from components.core.spec.reward import RewardSpec

CRITERION = Criterion("mentions an animal")
MEETS = "A small cat sleeps by the kitchen window."
MISSES = "The kitchen smells of fresh bread."

_NOISE = 0.05
"""Nats by which two answers to one question may differ: servers that batch in low precision are not exact."""


@dataclasses.dataclass(frozen=True, slots=True)
class ProbeReport:
    """What was seen.

    Attributes:
        judge: name of the judge.
        url: base URL.
        model: the model's name at the server.
        context: tokens that the server says it reads; None if it does not say.
        latency: seconds of the second of two equal calls.
        tokens_per_second: prompt tokens of that call over its latency.
        difference: largest difference in nats of a log-probability between two equal calls.
        met: probability of a criterion that a known sentence meets.
        unmet: probability of the same criterion for a sentence that misses it.
    """

    judge: str
    url: str
    model: str
    context: int | None
    latency: float
    tokens_per_second: float
    difference: float
    met: float
    unmet: float

    def table(self) -> list[str]:
        """Lines for people."""
        repeatable = "yes" if self.difference <= _NOISE else "NO"
        ranks = "as it should be" if self.met > self.unmet else "THE WRONG WAY ROUND: this judge may be of no use"
        rows = [
            ("judge", f"{self.judge} ({self.model} at {self.url})"),
            ("context", "not told" if self.context is None else f"{self.context} tokens"),
            ("echoed log-probabilities", "yes"),
            ("same question, same answer", f"{repeatable} (largest difference {self.difference:.2g} nats)"),
            ("latency of one verdict", f"{self.latency:.2f} s, {self.tokens_per_second:.0f} tokens a second"),
            ("known pair", f"{self.met:.2f} for one that meets, {self.unmet:.2f} for one that misses: {ranks}"),
        ]
        width = max(len(name) for name, _ in rows)
        return [f"{name:<{width}}  {text}" for name, text in rows]

    def metadata(self) -> dict[str, Scalar]:
        """The same as plain values."""
        return dataclasses.asdict(self)


async def probe(spec: "JudgeSpec", reward: "RewardSpec", url: str) -> ProbeReport:
    """Check that the judge answers, has the model, echoes log-probabilities, repeats itself and gives known verdicts.

    Raises:
        JudgeError: one of these does not hold; says which, and what to do.
    """
    where = f"judge {spec.name} at {url}"
    transport = build_transport(spec, url)
    judge = build_judge(spec, reward, url, None)
    try:
        context = _find_model(await _get(transport, "/v1/models", where), spec, where)
        protocol = build_protocol(reward)
        sample = Sample("probe", "probe", "", MEETS, (CRITERION,))
        prefixes = protocol.prefixes(sample)
        prompts = [prefix + protocol.response(sample) for prefix in prefixes]
        boundaries = [len(prefix) for prefix in prefixes]
        first, _ = await _echo(transport, spec, prompts, boundaries, where)
        second, latency = await _echo(transport, spec, prompts, boundaries, where)
        difference = max(
            abs(a - b)
            for one, other in zip(first, second, strict=True)
            for a, b in zip(one.logprobs, other.logprobs, strict=True)
        )
        chances = []
        for text in (MEETS, MISSES):
            (verdict,) = await judge.judge(dataclasses.replace(sample, response=text))
            if verdict.status is VerdictStatus.UNKNOWN or verdict.probability is None:
                raise JudgeError(
                    f"the judge gives no verdict on a plain sentence: {verdict.reason}",
                    where=where,
                    remedy="ask the endpoint by hand (curl URL/v1/completions) and read the server's log",
                )
            chances.append(verdict.probability)
    finally:
        await judge.close()
        await transport.close()
    tokens = sum(scored.prompt_tokens for scored in second)
    return ProbeReport(
        spec.name, url, spec.model_name, context, latency, tokens / latency, difference, chances[0], chances[1]
    )


async def _get(transport: Transport, path: str, where: str) -> dict[str, Any]:
    got = await transport.get(path)
    if isinstance(got, Failure):
        raise _failed(got, where)
    return got.data


async def _echo(
    transport: Transport, spec: "JudgeSpec", prompts: list[str], boundaries: list[int], where: str
) -> tuple[list[Scored], float]:
    """The plain call that every server must know, and its seconds."""
    body = {
        "model": spec.model_name,
        "prompt": prompts,
        "max_tokens": 0,
        "echo": True,
        "logprobs": 1,
        "temperature": 0,
    }
    begun = time.monotonic()
    got = await transport.post("/v1/completions", body)
    seconds = time.monotonic() - begun
    if isinstance(got, Failure):
        raise _failed(got, where)
    return _read(got, prompts, boundaries, where), seconds


def _read(reply: Reply, prompts: list[str], boundaries: list[int], where: str) -> list[Scored]:
    try:
        return read(reply.data, prompts, boundaries)
    except ReplyError as error:
        raise JudgeError(
            f"the judge does not return the prompt's log-probabilities: {error}",
            where=where,
            remedy="the likelihood-ratio protocol needs a server that honours echo together with logprobs, as vLLM and "
            "the embedded server do; llama.cpp, and servers built on it, take both fields and ignore them",
        ) from error


def _find_model(models: dict[str, Any], spec: "JudgeSpec", where: str) -> int | None:
    """The context that the server states for the model, if it does."""
    cards = models.get("data")
    cards = [card for card in cards if isinstance(card, dict)] if isinstance(cards, list) else []
    card = next((card for card in cards if card.get("id") == spec.model_name), None)
    if card is None:
        there = ", ".join(str(card.get("id")) for card in cards) or "none"
        raise JudgeError(
            f"the server has no model {spec.model_name!r}; it has: {there}",
            where=where,
            remedy="set the judge's model_name to one of these",
        )
    context = card.get("max_model_len")
    if not isinstance(context, int):
        return None
    if context < spec.context_tokens:
        raise JudgeError(
            f"the server reads {context} tokens, and the judge's context_tokens says {spec.context_tokens}",
            where=where,
            remedy=f"set context_tokens to at most {context}, or serve the model with a longer context",
        )
    return context


def _failed(failure: Failure, where: str) -> JudgeError:
    return JudgeError(
        f"the judge does not answer as it should ({failure.reason.value}): {failure.detail}",
        where=where,
        remedy="see that the server runs, and that endpoint (without /v1), model_name and api_key_env are right",
    )
