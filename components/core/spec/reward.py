"""The reward: the protocol by which the judge is asked, and how verdicts become a number."""

from collections.abc import Iterable
from typing import Annotated, Final, Literal

from pydantic import Field

from components.core.spec.base import Conflict, FileName, Name, Spec

JudgeProtocol = Literal[
    "likelihood_ratio",
    "rubric",
    "rubric_per_criterion",
    "rubric_token",
    "verif",
    "verif_per_constraint",
    "semantic_equality",
    "pairwise",
]

GIVES_PROBABILITIES: Final = frozenset({"likelihood_ratio", "rubric_token", "pairwise"})
"""Protocols whose verdicts are more than yes and no."""


class RewardPrompts(Spec):
    """Names of the likelihood ratio's prompt templates (text files beside the protocol's code)."""

    conditioned: FileName = "conditioned"
    """Template that asks for a text which meets the criterion. Unit: none. Default: "conditioned"."""
    unconditioned: FileName = "unconditioned"
    """Template that asks for a text without the criterion. Unit: none. Default: "unconditioned"."""


class RewardSpec(Spec):
    """How the judge is asked and how its verdicts become a reward in [0, 1]."""

    name: Name
    """Name in reports; the file's name where the file gives none. Unit: none. Required."""
    protocol: JudgeProtocol = "likelihood_ratio"
    """How the judge is asked: likelihood_ratio (small or base models, ranks only), rubric (all criteria in one call),
    rubric_per_criterion (one call each, with an explanation), rubric_token (one call each, read by the probabilities of
    yes and no), verif (one verdict over all constraints), verif_per_constraint, semantic_equality (criteria are
    reference answers), pairwise (criteria are rival responses, asked in both orders). Unit: none.
    Default: "likelihood_ratio"."""
    value: Literal["probability", "binary"] = "probability"
    """What a known verdict contributes: its probability, or 1 when it is above one half and else 0. Unit: none.
    Default: "probability"."""
    temperature: Annotated[float, Field(gt=0, le=1000)] = 4.0
    """Divides the log-likelihood ratio before the sigmoid; larger is softer. Unit: nats. Default: 4.0."""
    min_mass: Annotated[float, Field(gt=0, le=1)] = 0.5
    """For rubric_token: probability that yes and no must have together; below it the verdict is unknown.
    Unit: fraction. Default: 0.5."""
    min_known_weight: Annotated[float, Field(gt=0, le=1)] = 0.8
    """Share of the positive points that known verdicts must cover; below it the sample abstains and is masked.
    Unit: fraction. Default: 0.8."""
    max_abstain_rate: Annotated[float, Field(ge=0, lt=1)] = 0.2
    """Share of abstained samples, among the newest, above which training pauses and then stops instead of going on
    without a judge; scoring stops at once. Unit: fraction. Default: 0.2."""
    pause_minutes: Annotated[float, Field(ge=0, le=1440)] = 10.0
    """Longest time that training waits for the judge to recover; 0 stops at once. Unit: minutes. Default: 10.0."""
    prompts: RewardPrompts = RewardPrompts()
    """Names of the likelihood ratio's prompt templates. Unit: none.
    Default: {"conditioned": "conditioned", "unconditioned": "unconditioned"}."""
    prompt: FileName | None = None
    """Name of the prompt template of every other protocol; null takes the one that is named like the protocol.
    Unit: none. Default: null."""

    def conflicts(self) -> Iterable[Conflict]:
        ratio, token = self.protocol == "likelihood_ratio", self.protocol == "rubric_token"
        used = {"temperature": ratio, "prompts": ratio, "min_mass": token, "prompt": not ratio}
        for key, in_use in used.items():
            if not in_use and getattr(self, key) != type(self).model_fields[key].default:
                yield Conflict(key, f"it has no effect with protocol {self.protocol}", f"remove {key}")
