"""A chat judge is asked by its own protocol about a text that meets a criterion, and one that misses it."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import JudgeError
from components.judge.asker import Asker
from components.judge.build import build_budget, build_transport
from components.judge.chat_judge import Heard
from components.judge.failures import Failure
from components.judge.lengths import lengths_for
from components.judge.memory import Ledger, about
from components.judge.probing.report import ProbeReport
from components.judge.probing.server import failed, find_model, lists_no_models
from components.judge.profiles import profile_for
from components.judge.protocols.base import ChatProtocol, Opinion
from components.judge.protocols.choose import chat_protocol
from components.judge.verdict import Criterion, Sample, UnknownReason, VerdictStatus

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec
    from components.core.spec.reward import RewardSpec

_WORDLESS = frozenset(
    {
        UnknownReason.UNPARSEABLE,
        UnknownReason.MISSING,
        UnknownReason.CONTRADICTORY,
        UnknownReason.LOW_MASS,
        UnknownReason.UNDECIDED,
        UnknownReason.TRUNCATED,
        UnknownReason.EMPTY_REPLY,
        UnknownReason.REFUSED,
    }
)
"""Failures of a model that answers, but not what was asked."""
_ANIMAL = "A small cat sleeps by the kitchen window."
_BREAD = "The kitchen smells of fresh bread."


def known_pair(protocol: str) -> tuple[Sample, Sample]:
    """A sample whose criterion is met, and one whose criterion is not, for a protocol's meaning of criteria."""

    def sample(question: str, response: str, criterion: str) -> Sample:
        return Sample("probe", "probe", question, response, (Criterion(criterion),))

    if protocol == "semantic_equality":
        question = "Which pet animal says meow?"
        return sample(question, "It is the cat.", "a cat"), sample(question, "It is the dog.", "a cat")
    question = "Write one sentence that mentions an animal."
    if protocol == "pairwise":
        return sample(question, _ANIMAL, _BREAD), sample(question, _BREAD, _ANIMAL)
    return sample(question, _ANIMAL, "mentions an animal"), sample(question, _BREAD, "mentions an animal")


async def probe_chat(
    spec: "JudgeSpec", reward: "RewardSpec", url: str, ledger: Ledger | None = None, state: Path | None = None
) -> ProbeReport:
    """See :func:`components.judge.probing.run.probe`."""
    profile = profile_for(spec, url)
    transport = build_transport(spec, url)
    protocol = chat_protocol(reward, spec)
    budget = build_budget(spec, ledger)
    ask = Heard(Asker(spec, profile, transport, protocol=protocol.version, ledger=ledger, budget=budget))
    meets, misses = known_pair(reward.protocol)
    try:
        got = await transport.get(profile.models_route)
        context = None
        if not isinstance(got, Failure):
            context = find_model(got.data, spec, f"judge {spec.name} at {url}")
        elif not lists_no_models(got, profile):
            raise failed(got, spec, url)
        first = _chance(await _opinions(protocol, meets, ask), spec, url)
        ask.prompt_tokens, begun = 0, time.monotonic()
        second = _chance(await _opinions(protocol, meets, ask), spec, url)
        latency = time.monotonic() - begun
        speed = ask.prompt_tokens / latency if ask.prompt_tokens else None
        unmet = _chance(await _opinions(protocol, misses, ask), spec, url)
        counted = await lengths_for(spec, state, profile, transport).counted_by()
    finally:
        await transport.close()
    return ProbeReport(
        spec.name,
        url,
        spec.model_name,
        protocol.version,
        context,
        latency,
        speed,
        abs(first - second),
        second,
        unmet,
        counted,
    )


async def _opinions(protocol: ChatProtocol, sample: Sample, ask: Heard) -> list[Opinion]:
    with about(sample):
        return await protocol.opinions(sample, ask)


def _chance(opinions: list[Opinion], spec: "JudgeSpec", url: str) -> float:
    (opinion,) = opinions
    if opinion.trouble is not None:
        raise _cannot_say(opinion.trouble, spec, url)
    if opinion.probability is not None:
        return opinion.probability
    return 1.0 if opinion.status is VerdictStatus.MET else 0.0


def _cannot_say(failure: Failure, spec: "JudgeSpec", url: str) -> JudgeError:
    """A judge that is known to be weak has most likely no words for a verdict, whatever is set."""
    error = failed(failure, spec, url)
    if not spec.weak or failure.reason not in _WORDLESS or "no JSON" in failure.detail:
        return error
    remedy = "take a larger judge"
    if spec.logprobs:
        remedy = "set reward.protocol=likelihood_ratio, which asks it for no words, or take a larger judge"
    return JudgeError(error.what, where=error.where, remedy=f"this judge is marked weak and may not chat: {remedy}")
