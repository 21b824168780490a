"""A judge that is asked by likelihood ratio must echo log-probabilities of what it reads."""

import contextlib
import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from components.core.errors import JudgeError
from components.judge.build import build_budget, build_judge, build_price, build_protocol, build_transport
from components.judge.calls import Usage
from components.judge.chat_reply import read_usage
from components.judge.echo import Scored, read
from components.judge.failures import Failure, ReplyError
from components.judge.lengths import lengths_for
from components.judge.memory import Account, Ledger, about
from components.judge.probing.report import ProbeReport
from components.judge.probing.server import failed, find_model
from components.judge.profiles import profile_for
from components.judge.transport import Reply, Transport
from components.judge.verdict import Criterion, Sample, UnknownReason, VerdictStatus

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec
    from components.core.spec.reward import RewardSpec

CRITERION = Criterion("mentions an animal")
MEETS = "A small cat sleeps by the kitchen window."
MISSES = "The kitchen smells of fresh bread."


async def probe_echo(
    spec: "JudgeSpec", reward: "RewardSpec", url: str, ledger: Ledger | None = None, state: Path | None = None
) -> ProbeReport:
    """See :func:`components.judge.probing.run.probe`; here the echoed log-probabilities are checked too."""
    where = f"judge {spec.name} at {url}"
    profile = profile_for(spec, url)
    protocol = build_protocol(reward)
    account = Account(
        spec.name, protocol.version, ledger=ledger, price=build_price(spec), budget=build_budget(spec, ledger)
    )
    async with contextlib.AsyncExitStack() as stack:
        transport = build_transport(spec, url)
        stack.push_async_callback(transport.close)
        context = find_model(await _get(transport, profile.models_route, spec, url), spec, where)
        sample = Sample("probe", "probe", "", MEETS, (CRITERION,))
        prefixes = protocol.prefixes(sample)
        prompts = [prefix + protocol.response(sample) for prefix in prefixes]
        boundaries = [len(prefix) for prefix in prefixes]
        plain = _Plain(spec, url, profile.completions_route, transport, account)
        with about(sample):
            first, _ = await plain.ask(prompts, boundaries)
            second, latency = await plain.ask(prompts, boundaries)
        difference = max(
            abs(a - b)
            for one, other in zip(first, second, strict=True)
            for a, b in zip(one.logprobs, other.logprobs, strict=True)
        )
        # Made now, so that its budget counts the plain calls, which lie in the ledger.
        judge = build_judge(spec, reward, url, ledger)
        stack.push_async_callback(judge.close)
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
        counted = await lengths_for(spec, state, profile, transport).counted_by()
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
        counted=counted,
    )


async def _get(transport: Transport, path: str, spec: "JudgeSpec", url: str) -> dict[str, Any]:
    got = await transport.get(path)
    if isinstance(got, Failure):
        raise failed(got, spec, url)
    return got.data


@dataclasses.dataclass(frozen=True, slots=True)
class _Plain:
    """Puts the plain call that every server must know."""

    spec: "JudgeSpec"
    url: str
    route: str
    transport: Transport
    account: Account

    async def ask(self, prompts: list[str], boundaries: list[int]) -> tuple[list[Scored], float]:
        """What the server makes of the prompts, and the seconds of the call."""
        spec = self.spec
        body = orjson.dumps(
            {
                "model": spec.model_name,
                "prompt": prompts,
                "max_tokens": 0,
                "echo": True,
                "logprobs": 1,
                "temperature": 0,
            }
        )
        begun = time.monotonic()
        refused = self.account.reserve(Usage())
        if refused is not None:
            self.account.record(body, begun, attempts=0, failure=refused)
            raise failed(refused, spec, self.url)
        got = await self.transport.post(self.route, body)
        seconds = time.monotonic() - begun
        if isinstance(got, Failure):
            self._book(body, begun, Usage(), got, failure=got)
            raise failed(got, spec, self.url)
        usage = read_usage(got.data, sent=len(body))
        try:
            found = _read(got, prompts, boundaries, f"judge {spec.name} at {self.url}")
        except JudgeError as error:
            unread = Failure(UnknownReason.UNPARSEABLE, error.what, got.body, got.attempts, got.key, got.endpoint)
            self._book(body, begun, usage, got, failure=unread)
            raise
        self._book(body, begun, usage if usage.prompt else Usage(sum(each.prompt_tokens for each in found)), got)
        return found, seconds

    def _book(
        self, body: bytes, begun: float, usage: Usage, got: Reply | Failure, *, failure: Failure | None = None
    ) -> None:
        self.account.settle(usage, got.attempts)
        reply = None if isinstance(got, Failure) else got
        self.account.record(body, begun, attempts=got.attempts, usage=usage, reply=reply, failure=failure)


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
