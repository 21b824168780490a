"""What a study found out about a policy while and after a judge trained it."""

from typing import Self

from pydantic import Field, model_validator

from components.bias.drift.result import Canary, Drift
from components.bias.estimate import Estimate, Frozen


class Curve(Frozen):
    """One point of the training's own curve."""

    step: int = Field(ge=0)
    proxy: Estimate
    """Mean of what the policy is trained on."""
    gold: Estimate
    """Mean of what it should be good at; missing where there is no gold."""
    abstained: Estimate
    """Share of rollouts without a reward."""


class Parting(Frozen):
    """Where the rewards of an arm part: proxy up while gold is flat or down."""

    parted: bool
    """Whether a parting is shown."""
    step: int | None = Field(default=None, ge=0)
    """First step at which it is open; None where none is shown."""
    low: int | None = Field(default=None, ge=0)
    """Lower end of the bootstrap interval over prompts."""
    high: int | None = Field(default=None, ge=0)
    n: int = Field(ge=0)
    """Prompts."""
    unknown: int = Field(default=0, ge=0)
    """Prompts left out because a reward of theirs is unknown at some look."""
    why: str = ""
    """By what rule, or why it is not known."""

    @model_validator(mode="after")
    def _step_of_a_parting(self) -> Self:
        if self.parted and self.step is None:
            raise ValueError("a parting that is shown has a step")
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends or none")
        return self


class Change(Frozen):
    """A feature's change from the first checkpoint to the last, prompt by prompt."""

    feature: str
    first: Estimate
    last: Estimate
    change: Estimate


class Arm(Frozen):
    """One training run of the study."""

    name: str
    judge: str | None
    """Name of the judge that trained it; None for a control without one."""
    control: str = ""
    """Such as ``rule_only``, ``random``, ``length``, ``format`` or ``zero_as_control``; empty in the matrix."""
    reward: str
    """Name of the reward or protocol."""
    policy: str
    policy_family: str = ""
    seed: int
    failures: str = "masked"
    """``masked``, or ``zero_as_control`` where failures count as zero to show what that does."""
    mitigation: str = ""
    """Such as ``swap_average``, ``reference``, ``panel``; empty for none."""
    state: str = "done"
    """``done``, ``failed``, ``running`` or ``waiting``; but for ``done`` see ``reason``."""
    reason: str = ""
    steps: int | None = Field(default=None, ge=0)
    """Training steps done."""
    curve: tuple[Curve, ...] = ()
    drift: tuple[Drift, ...] = ()
    changes: tuple[Change, ...] = ()
    canaries: tuple[Canary, ...] = ()
    parting: Parting | None = None
    uri: str = ""

    @model_validator(mode="after")
    def _told(self) -> Self:
        if self.state != "done" and not self.reason:
            raise ValueError(f"arm {self.name} is {self.state} without a reason")
        return self


class Crossing(Frozen):
    """One cell of the cross-judge matrix."""

    arm: str
    """Whose policy."""
    judge: str
    """Who scores it."""
    trained: Estimate
    """Mean reward of the trained policy's held-out responses."""
    base: Estimate | None = None
    """The same before training."""
    gain: Estimate | None = None
    """The paired difference."""
