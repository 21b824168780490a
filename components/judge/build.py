"""From the specification to a judge."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import JudgeError
from components.judge.base import Judge
from components.judge.chat import Chat
from components.judge.chat_judge import ChatJudge
from components.judge.completions import CompletionsJudge
from components.judge.lengths import lengths_for
from components.judge.memory import Budget, Cache, Ledger, Price, Spent
from components.judge.memory.spending import spent_in
from components.judge.profiles import profile_for
from components.judge.protocols import template
from components.judge.protocols.choose import chat_protocol
from components.judge.protocols.likelihood_ratio import LikelihoodRatio
from components.judge.transport import Limits, Transport

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec
    from components.core.spec.reward import RewardSpec

LEASES = "permits"
CACHE = "replies.sqlite"
"""Inside the state folder: permits that processes of this machine share, and whole replies."""


def build_judge(
    spec: "JudgeSpec",
    reward: "RewardSpec",
    endpoint: str,
    ledger: Ledger | None,
    *,
    state: Path | None = None,
    identity: str = "",
    earlier: Sequence[Path] = (),
) -> Judge:
    """The judge of an experiment.

    Args:
        spec: which judge, and limits on calling it.
        reward: the protocol, its templates and settings.
        endpoint: base URL without ``/v1`` (see :func:`components.judge.endpoint.resolve_endpoint`).
        ledger: gets every verdict and call; the caller closes it. What it has of this judge counts for the budget.
        state: folder of this machine's state, where replies are kept and permits are shared; None does neither.
        identity: what decides the judge's replies, as text, for the kept replies.
        earlier: tables of calls that earlier steps of the run published; they count for the budget too.

    Raises:
        JudgeError: the key's variable is not set, a template is missing, or the judge lacks what the protocol needs.
    """
    if reward.protocol == "likelihood_ratio":
        return completions_judge(spec, reward, endpoint, ledger, state=state, identity=identity, earlier=earlier)
    protocol = chat_protocol(reward, spec)
    chat = build_chat(spec, endpoint, ledger, state=state, identity=identity, earlier=earlier)
    deadline = spec.limits.sample_deadline_seconds
    return ChatJudge(
        spec.name,
        protocol,
        chat.asker(protocol.version),
        ledger=ledger,
        close=chat.close,
        deadline=deadline,
        lengths=chat.lengths,
    )


def build_chat(
    spec: "JudgeSpec",
    endpoint: str,
    ledger: Ledger | None,
    *,
    state: Path | None = None,
    identity: str = "",
    earlier: Sequence[Path] = (),
) -> Chat:
    """Calls in words to any model that is served as a judge is, whatever they are for.

    Args:
        spec: the model, and limits on calling it.
        endpoint: base URL without ``/v1``.
        ledger: gets a row a call; the caller closes it. What it has of this model counts for the budget.
        state: as for :func:`build_judge`.
        identity: what decides the model's replies, as text, for the kept replies.
        earlier: as for :func:`build_judge`.

    Raises:
        JudgeError: the key's variable is not set, or the ledger cannot be read.
    """
    transport = build_transport(spec, endpoint, None if state is None else state / LEASES)
    profile = profile_for(spec, endpoint)
    return Chat(
        spec,
        profile,
        transport,
        lengths_for(spec, state, profile, transport),
        identity=identity,
        cache=Cache(state / CACHE) if state is not None and spec.cache else None,
        ledger=ledger,
        budget=build_budget(spec, ledger, earlier),
    )


def build_budget(spec: "JudgeSpec", ledger: Ledger | None, earlier: Sequence[Path] = ()) -> Budget | None:
    """The judge's budget, counting what was spent; None where it has no limit.

    Raises:
        JudgeError: the ledger cannot be read.
        ContractError: a table of earlier calls cannot be read.
    """
    if not spec.budget.model_fields_set and spec.budget == type(spec.budget)():
        return None
    price = build_price(spec)
    parts = [spent_in(path, spec.name, price) for path in earlier]
    if ledger is not None:
        parts.append(ledger.spent(spec.name, price))
    before = Spent(
        sum(part.calls for part in parts), sum(part.tokens for part in parts), sum(part.cost for part in parts)
    )
    return Budget(spec.budget, price, before)


def build_price(spec: "JudgeSpec") -> Price | None:
    """What the judge's tokens cost; None where nobody pays by token."""
    return None if spec.price is None else Price.of(spec.price)


def completions_judge(
    spec: "JudgeSpec",
    reward: "RewardSpec",
    endpoint: str,
    ledger: Ledger | None,
    *,
    state: Path | None = None,
    identity: str = "",
    earlier: Sequence[Path] = (),
    cached: bool = False,
) -> CompletionsJudge:
    """A judge that is asked by likelihood ratio; see :func:`build_judge`.

    Args:
        spec: as there.
        reward: as there.
        endpoint: as there.
        ledger: as there.
        state: as there.
        identity: as there.
        earlier: as there.
        cached: whether replies are kept. They echo their prompts, 25 kB and more each, which pays where the same
            questions come again, as those of probes do, and not for the ever new responses of a training.

    Raises:
        JudgeError: as there, and a judge without log-probabilities.
    """
    if not spec.logprobs:
        raise JudgeError(
            "the likelihood-ratio protocol needs log-probabilities of the prompt, and this judge gives none",
            where=f"judge {spec.name}",
            remedy="choose a judge with logprobs: true, or another reward protocol",
        )
    transport = build_transport(spec, endpoint, None if state is None else state / LEASES)
    profile = profile_for(spec, endpoint)
    return CompletionsJudge(
        name=spec.name,
        model=spec.model_name,
        lengths=lengths_for(spec, state, profile, transport),
        protocol=build_protocol(reward),
        transport=transport,
        profile=profile,
        ledger=ledger,
        price=build_price(spec),
        budget=build_budget(spec, ledger, earlier),
        cache=Cache(state / CACHE) if cached and state is not None and spec.cache else None,
        identity=identity,
    )


def build_protocol(reward: "RewardSpec") -> LikelihoodRatio:
    """The likelihood-ratio protocol with its templates.

    Raises:
        JudgeError: a template is missing, or its fields are not those that its part needs.
    """
    conditioned = template.load(reward.prompts.conditioned)
    unconditioned = template.load(reward.prompts.unconditioned)
    if "criterion" not in conditioned.fields:
        raise JudgeError(f"template {conditioned.name!r} has no {{criterion}}", remedy="put it into the last user turn")
    if "criterion" in unconditioned.fields:
        raise JudgeError(
            f"template {unconditioned.name!r} has a {{criterion}}", remedy="the unconditioned prompt goes without one"
        )
    return LikelihoodRatio(conditioned, unconditioned, reward.temperature)


def build_transport(spec: "JudgeSpec", endpoint: str, leases: Path | None = None) -> Transport:
    """The calls to ``endpoint`` and the judge's replicas under the limits of ``spec``.

    Args:
        spec: the judge.
        endpoint: base URL without ``/v1``.
        leases: folder through which the host's processes share the limits; None shares nothing.

    Raises:
        JudgeError: the variable of a key is not set.
    """
    return Transport(
        [endpoint, *spec.replicas],
        keys=api_keys(spec),
        timeout=spec.timeout_seconds,
        attempts=spec.attempts,
        limits=Limits(
            concurrency=spec.max_concurrency,
            requests_per_minute=spec.limits.requests_per_minute,
            tokens_per_minute=spec.limits.tokens_per_minute,
            latency_target=spec.limits.latency_target_seconds,
            sample_deadline=spec.limits.sample_deadline_seconds,
            share=spec.limits.share,
        ),
        leases=leases,
    )


def api_keys(spec: "JudgeSpec") -> list[str]:
    """The keys from the environment, in the order of the specification; none when the judge needs none.

    Raises:
        JudgeError: a variable is not set.
    """
    names = [] if spec.api_key_env is None else [spec.api_key_env, *spec.more_key_envs]
    keys = []
    for name in names:
        key = os.environ.get(name, "").strip()
        if not key:
            raise JudgeError(
                f"the environment variable {name} is not set",
                where=f"judge {spec.name}: {'api_key_env' if name == spec.api_key_env else 'more_key_envs'}",
                remedy=f"export {name}=... in the shell, or on a cluster put it into the step's Secret; "
                "it never goes into YAML",
            )
        keys.append(key)
    return keys
