"""A judge that is asked by likelihood ratio must echo log-probabilities of what it reads."""

import dataclasses
import time
from typing import TYPE_CHECKING, Any

from components.core.errors import JudgeError
from components.judge.build import build_judge, build_protocol, build_transport
from components.judge.echo import Scored, read
from components.judge.failures import Failure, ReplyError
from components.judge.probing.report import ProbeReport
from components.judge.probing.server import failed, find_model
from components.judge.profiles import profile_for
from components.judge.transport import Reply, Transport
from components.judge.verdict import Criterion, Sample, VerdictStatus

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec
    from components.core.spec.reward import RewardSpec

CRITERION = Criterion("mentions an animal")
MEETS = "A small cat sleeps by the kitchen window."
MISSES = "The kitchen smells of fresh bread."


async def probe_echo(spec: "JudgeSpec", reward: "RewardSpec", url: str) -> ProbeReport:
    """See :func:`components.judge.probing.run.probe`; here the echoed log-probabilities are checked too."""
    where = f"judge {spec.name} at {url}"
    profile = profile_for(spec, url)
    transport = build_transport(spec, url)
    judge = build_judge(spec, reward, url, None)
    try:
        context = find_model(await _get(transport, profile.models_route, spec, url), spec, where)
        protocol = build_protocol(reward)
        sample = Sample("probe", "probe", "", MEETS, (CRITERION,))
        prefixes = protocol.prefixes(sample)
        prompts = [prefix + protocol.response(sample) for prefix in prefixes]
        boundaries = [len(prefix) for prefix in prefixes]
        first, _ = await _echo(transport, profile.completions_route, spec, url, prompts, boundaries)
        second, latency = await _echo(transport, profile.completions_route, spec, url, prompts, boundaries)
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
        judge=spec.name,
        url=url,
        model=spec.model_name,
        protocol=protocol.version,
        context=context,
        latency=latency,
        tokens_per_second=tokens / latency,
        difference=difference,
        met=chances[0],
        unmet=chances[1],
    )


async def _get(transport: Transport, path: str, spec: "JudgeSpec", url: str) -> dict[str, Any]:
    got = await transport.get(path)
    if isinstance(got, Failure):
        raise failed(got, spec, url)
    return got.data


async def _echo(
    transport: Transport, route: str, spec: "JudgeSpec", url: str, prompts: list[str], boundaries: list[int]
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
    got = await transport.post(route, body)
    seconds = time.monotonic() - begun
    if isinstance(got, Failure):
        raise failed(got, spec, url)
    return _read(got, prompts, boundaries, f"judge {spec.name} at {url}"), seconds


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
