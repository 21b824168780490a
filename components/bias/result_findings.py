"""What a study concludes over all arms."""

from pydantic import Field

from components.bias.estimate import Estimate, Frozen
from components.bias.types import Mode


class Point(Frozen):
    """One arm in a figure of predicted against observed drift."""

    arm: str
    judge: str
    seed: int
    bias: Estimate
    """The judge's effect on the axis."""
    drift: Estimate
    """The policy's change of the feature."""


class Prediction(Frozen):
    """Whether the judges' bias on an axis predicts the policies' drift on it."""

    axis: str
    """Name of the probe."""
    title: str = ""
    feature: str
    """Name of the drift feature."""
    slope: Estimate
    """Drift by unit of bias, over arms."""
    p: float | None = Field(default=None, ge=0, le=1)
    """Of the permutation test over judges; None where there are too few."""
    judges: int = Field(ge=0)
    method: str
    """How the slope was fitted, such as ``mixed model, random effect of the seed``."""
    points: tuple[Point, ...] = ()
    note: str = ""
    """Why nothing, or little, follows, and which judges are left out; empty where there is nothing to say."""


class Contrast(Frozen):
    """A comparison of groups of judges or of arms."""

    kind: str
    """``family``, ``size``, ``protocol`` or ``failures``."""
    what: str
    """What is compared, in words."""
    measure: str
    difference: Estimate
    judges: int = Field(default=0, ge=0)
    """Judges that it rests on."""
    p: float | None = Field(default=None, ge=0, le=1)


class Leakage(Frozen):
    """Preference leakage score of a pair of judges, each the kin of one policy (arXiv 2502.01534)."""

    judges: tuple[str, str]
    relation: str
    """Such as ``same model``, ``same family``."""
    score: Estimate
    """Mean of the two judges' relative excess of the win rate that they give their own student."""


class Mitigation(Frozen):
    """What a remedy does to a bias, or to a policy's drift."""

    name: str
    """``swap_average``, ``reference``, ``panel``, ``length_control`` or ``masking``."""
    axis: str
    """Name of the probe, or of the feature of drift."""
    judge: str
    what: str = ""
    """What is compared, in words."""
    drift: bool = False
    """Whether it is a policy's drift, in the feature's unit, and no effect of a judge."""
    plain: Estimate
    mitigated: Estimate
    reduction: Estimate
    """Absolute effect without minus absolute effect with it, paired; above 0 it helps."""


class Absent(Frozen):
    """A comparison that the study does not have."""

    what: str
    """Such as ``panel``."""
    reason: str = Field(min_length=1)


class Opportunity(Frozen):
    """Equal-opportunity difference: how much more often what is right is accepted where it has the factor."""

    judge: str
    axis: str
    """Name of the probe; ``length`` or ``own policy`` where no probe varies it."""
    mode: Mode | None
    """How it was asked; None for responses that were judged as in training."""
    what: str
    """The two groups, in words."""
    difference: Estimate
    """Share of the right ones that is accepted with the factor, less the same without it."""
    wrong: Estimate | None = None
    """The same of the wrong ones; None where there are none."""


class Findings(Frozen):
    """All conclusions."""

    predictions: tuple[Prediction, ...] = ()
    contrasts: tuple[Contrast, ...] = ()
    leakage: tuple[Leakage, ...] = ()
    mitigations: tuple[Mitigation, ...] = ()
    opportunities: tuple[Opportunity, ...] = ()
    absent: tuple[Absent, ...] = ()
    """Comparisons that are part of a study and are not in this one, with the reason."""
