"""From the specification to a judge."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import JudgeError
from components.judge.base import Judge
from components.judge.completions import CompletionsJudge
from components.judge.memory import Ledger
from components.judge.protocols import template
from components.judge.protocols.likelihood_ratio import LikelihoodRatio
from components.judge.transport import Limits, Transport

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec
    from components.core.spec.reward import RewardSpec


def build_judge(spec: "JudgeSpec", reward: "RewardSpec", endpoint: str, ledger: Ledger | None) -> Judge:
    """The judge of an experiment.

    Args:
        spec: which judge, and limits on calling it.
        reward: the protocol, its templates and temperature.
        endpoint: base URL without ``/v1`` (see :func:`components.judge.endpoint.resolve_endpoint`).
        ledger: gets every verdict; the caller closes it.

    Raises:
        JudgeError: the key's variable is not set, a template is missing, or the judge lacks what the protocol needs.
    """
    if not spec.logprobs:
        raise JudgeError(
            "the likelihood-ratio protocol needs log-probabilities of the prompt, and this judge gives none",
            where=f"judge {spec.name}",
            remedy="choose a judge with logprobs: true, or another reward protocol",
        )
    return CompletionsJudge(
        name=spec.name,
        model=spec.model_name,
        context=spec.context_tokens,
        protocol=build_protocol(reward),
        transport=build_transport(spec, endpoint),
        ledger=ledger,
    )


def build_protocol(reward: "RewardSpec") -> LikelihoodRatio:
    """The protocol with its templates.

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
                remedy="put the key into .env or the step's Secret; it never goes into YAML",
            )
        keys.append(key)
    return keys
