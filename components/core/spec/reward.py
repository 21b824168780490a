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

Combine = Literal["rubric", "verif", "rule_only", "length", "random", "format", "workflow"]

CONTROLS: Final = frozenset({"rule_only", "length", "random", "format"})
"""Ways to a reward that ask no judge in training."""

GIVES_PROBABILITIES: Final = frozenset({"likelihood_ratio", "rubric_token", "pairwise"})
"""Protocols whose verdicts are more than yes and no."""

_NO_CONSTRAINTS: Final = frozenset({"semantic_equality", "pairwise"})


class RewardPrompts(Spec):
    """Names of the likelihood ratio's prompt templates (text files beside the protocol's code)."""

    conditioned: FileName = "conditioned"
    """Template that asks for a text which meets the criterion. Unit: none. Default: "conditioned"."""
    unconditioned: FileName = "unconditioned"
    """Template that asks for a text without the criterion. Unit: none. Default: "unconditioned"."""


class RewardSpec(Spec):
    """How the judge is asked and how its verdicts become a reward, in [0, 1] unless ``clip`` is off."""

    name: Name
    """Name in reports; the file's name where the file gives none. Unit: none. Required."""
    protocol: JudgeProtocol = "likelihood_ratio"
    """How the judge is asked: likelihood_ratio (small or base models, ranks only), rubric (all criteria in one call),
    rubric_per_criterion (one call each, with an explanation), rubric_token (one call each, read by the probabilities of
    yes and no), verif (one verdict over all constraints), verif_per_constraint, semantic_equality (criteria are
    reference answers), pairwise (criteria are rival responses, asked in both orders). Unit: none.
    Default: "likelihood_ratio"."""
    combine: Combine = "rubric"
    """How a row's lines become the reward: rubric (points of the lines met over positive points), verif (mean over the
    rule lines x the judge's verdict on the others), workflow (the experiment's part workflow says what a program
    earns), or a control arm that asks no judge in training: rule_only (share of the rule lines met), length (words up
    to length_target), random (uniform in [0, 1)), format (share of the marks of a well-formed text). Held-out responses
    of a control arm are scored by the judge with rubric. Unit: none.
    Default: "rubric"."""
    clip: bool = True
    """Whether rubric (and rule_only) counts a sum below 0 as 0, as RuscaRL trains. Off, the reward is the ratio itself:
    at most 1, and at least the row's penalties over its positive points, a bound that each row has for itself.
    Unit: none. Default: true."""
    length_target: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    """For combine length: the reward grows evenly up to this length and is 1 from there on. Unit: words.
    Default: 200."""
    value: Literal["probability", "binary"] = "probability"
    """What a known verdict contributes: its probability, or 1 when it is above one half and else 0. Unit: none.
    Default: "probability"."""
    temperature: Annotated[float, Field(gt=0, le=1000)] = 4.0
    """Divides the log-likelihood ratio before the sigmoid; larger is softer. Unit: nats. Default: 4.0."""
    min_mass: Annotated[float, Field(gt=0, le=1)] = 0.5
    """For rubric_token: probability that yes and no must have together; below it the verdict is unknown.
    Unit: fraction. Default: 0.5."""
    min_known_weight: Annotated[float, Field(gt=0, le=1)] = 0.8
    """Share of the positive points that known verdicts must cover (for verif's rules: share of the rule lines); below
    it the sample abstains and is masked. Unit: fraction. Default: 0.8."""
    max_abstain_rate: Annotated[float, Field(ge=0, lt=1)] = 0.2
    """Share of abstained samples, among the newest, above which training pauses and then stops instead of going on
    without a judge; scoring stops at once. Unit: fraction. Default: 0.2."""
    pause_minutes: Annotated[float, Field(ge=0, le=1440)] = 10.0
    """Longest time that training waits for the judge to recover; 0 stops at once. Unit: minutes. Default: 10.0."""
    failures: Literal["masked", "zero_as_control"] = "masked"
    """What training makes of a sample that could not be judged. masked: it abstains and moves no weight, as everywhere
    in Gavel. zero_as_control: training counts it as reward 0, as systems do that take a failed call for a bad response;
    a control arm that shows what this does, never a way to train. Tables keep the sample as abstained, and held-out
    responses are never scored so. max_abstain_rate does not end such a training. Unit: none. Default: "masked"."""
    prompts: RewardPrompts = RewardPrompts()
    """Names of the likelihood ratio's prompt templates. Unit: none.
    Default: {"conditioned": "conditioned", "unconditioned": "unconditioned"}."""
    prompt: FileName | None = None
    """Name of the prompt template of every other protocol; null takes the one that is named like the protocol.
    Unit: none. Default: null."""

    @property
    def asks_in_training(self) -> bool:
        """Whether the reward of a training sample takes a model that is asked: a judge, or what executes workflows."""
        return self.combine not in CONTROLS

    @property
    def gives_probabilities(self) -> bool:
        """Whether rewards are made of a judge's probabilities, and not of yes and no."""
        return self.value == "probability" and self.protocol in GIVES_PROBABILITIES

    @property
    def fails_to_zero(self) -> bool:
        """Whether training counts a failure as 0: a control arm, which reports must name as such."""
        return self.failures == "zero_as_control"

    def conflicts(self) -> Iterable[Conflict]:
        ratio, token = self.protocol == "likelihood_ratio", self.protocol == "rubric_token"
        # A control arm's held-out responses are judged, so that the protocol's keys have an effect there too.
        used = {"temperature": ratio, "prompts": ratio, "min_mass": token, "prompt": not ratio}
        for key, in_use in used.items():
            if not in_use and self._is_set(key):
                yield Conflict(key, f"it has no effect with protocol {self.protocol}", f"remove {key}")
        used = {
            "clip": self.combine not in ("verif", "workflow"),
            "length_target": self.combine == "length",
            "pause_minutes": self.asks_in_training and not self.fails_to_zero,
            "failures": self.asks_in_training and self.combine != "workflow",
        }
        for key, in_use in used.items():
            if not in_use and self._is_set(key):
                yield Conflict(key, self._without_effect(key), f"remove {key}")
        if self.combine == "verif" and self.protocol in _NO_CONSTRAINTS:
            yield Conflict(
                "protocol",
                f"combine verif multiplies by how constraints are kept, and the criteria of {self.protocol} are none",
                "set protocol: verif or verif_per_constraint",
            )

    def _without_effect(self, key: str) -> str:
        if key == "pause_minutes" and self.asks_in_training:
            return f"it has no effect with failures {self.failures}"
        return f"it has no effect with combine {self.combine}"

    def _is_set(self, key: str) -> bool:
        return bool(getattr(self, key) != type(self).model_fields[key].default)
