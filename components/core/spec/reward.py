"""The reward: the protocol by which the judge is asked, and how verdicts become a number."""

from typing import Annotated, Literal

from pydantic import Field

from components.core.spec.base import FileName, Name, Spec


class RewardPrompts(Spec):
    """Names of the judge's prompt templates (text files beside the protocol's code)."""

    conditioned: FileName = "conditioned"
    """Template that asks for a text which meets the criterion. Unit: none. Default: "conditioned"."""
    unconditioned: FileName = "unconditioned"
    """Template that asks for a text without the criterion. Unit: none. Default: "unconditioned"."""


class RewardSpec(Spec):
    """How the judge is asked and how its verdicts become a reward in [0, 1]."""

    name: Name
    """Name in reports; the file's name where the file gives none. Unit: none. Required."""
    protocol: Literal["likelihood_ratio"] = "likelihood_ratio"
    """How the judge is asked. Unit: none. Default: "likelihood_ratio"."""
    value: Literal["probability", "binary"] = "probability"
    """What a known verdict contributes: its probability, or 1 when it is above one half and else 0. Unit: none.
    Default: "probability"."""
    temperature: Annotated[float, Field(gt=0, le=1000)] = 4.0
    """Divides the log-likelihood ratio before the sigmoid; larger is softer. Unit: nats. Default: 4.0."""
    min_known_weight: Annotated[float, Field(gt=0, le=1)] = 0.8
    """Share of the positive points that known verdicts must cover; below it the sample abstains and is masked.
    Unit: fraction. Default: 0.8."""
    max_abstain_rate: Annotated[float, Field(ge=0, lt=1)] = 0.2
    """Share of abstained samples, among the newest, above which training pauses and then stops instead of going on
    without a judge; scoring stops at once. Unit: fraction. Default: 0.2."""
    pause_minutes: Annotated[float, Field(ge=0, le=1440)] = 10.0
    """Longest time that training waits for the judge to recover; 0 stops at once. Unit: minutes. Default: 10.0."""
    prompts: RewardPrompts = RewardPrompts()
    """Names of the prompt templates. Unit: none.
    Default: {"conditioned": "conditioned", "unconditioned": "unconditioned"}."""
