"""From the specification to a judge."""

import os
from typing import TYPE_CHECKING

from components.core.errors import JudgeError
from components.judge.base import Judge
from components.judge.completions import CompletionsJudge
from components.judge.memory import Ledger
from components.judge.protocols import template
from components.judge.protocols.likelihood_ratio import LikelihoodRatio
from components.judge.transport import Transport

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


def build_transport(spec: "JudgeSpec", endpoint: str) -> Transport:
    """The calls to ``endpoint`` under the limits of ``spec``."""
    return Transport(
        endpoint,
        key=api_key(spec),
        timeout=spec.timeout_seconds,
        attempts=spec.attempts,
        concurrency=spec.max_concurrency,
    )


def api_key(spec: "JudgeSpec") -> str | None:
    """The key from the environment; None when the judge needs none.

    Raises:
        JudgeError: the variable is not set.
    """
    if spec.api_key_env is None:
        return None
    key = os.environ.get(spec.api_key_env, "").strip()
    if not key:
        raise JudgeError(
            f"the environment variable {spec.api_key_env} is not set",
            where=f"judge {spec.name}: api_key_env",
            remedy="put the key into .env or the step's Secret; it never goes into YAML",
        )
    return key
