"""What a study found out about a judge before anything was trained by it."""

from collections.abc import Mapping
from typing import Self

from pydantic import Field, model_validator

from components.bias.estimate import Estimate, Frozen
from components.bias.types import Measure, Mode


class Bias(Frozen):
    """The effect of one probe in one mode."""

    probe: str
    title: str
    """In plain words, such as "Longer wins at equal content"."""
    mode: Mode
    measure: Measure
    effect: Estimate
    """In the measure's unit, which runs from -1 to 1; 0 is an unbiased judge."""
    placebo: Estimate | None = None
    """What a neutral paraphrase does; None for a probe without one."""
    flip: Estimate | None = None
    """Value of the base minus that of the worse form: what the judge makes of a true loss of quality. None for a probe
    without one."""
    p: float | None = Field(default=None, ge=0, le=1)
    """Two-sided, uncorrected; None where it cannot be computed."""
    p_adjusted: float | None = Field(default=None, ge=0, le=1)
    """After the study's correction."""
    p_discovery: float | None = Field(default=None, ge=0, le=1)
    """After Benjamini and Hochberg's."""
    flagged: bool = False
    """``p_adjusted`` is at most the study's alpha."""
    detectable: float | None = Field(default=None, ge=0)
    """Smallest effect that the known items find with 80 % power; None where they are of fewer than two texts."""
    noise: Estimate | None = None
    """Share of repeated askings that contradict the first."""
    planted: float | None = None
    """The true effect, where the judge is scripted."""
    unknown: Mapping[str, int] = Field(default_factory=dict)
    """``role: reason`` -> outcomes without a value."""
    interval: str = ""
    """How the intervals were drawn."""

    @model_validator(mode="after")
    def _flag_has_a_p(self) -> Self:
        if self.flagged and (self.p_adjusted is None or self.effect.value is None):
            raise ValueError(f"{self.probe} is flagged, and has no corrected p or no effect")
        return self


class Bin(Frozen):
    """One bin of a calibration curve: responses whose stated probability lies in [low, high)."""

    low: float = Field(ge=0, le=1)
    high: float = Field(ge=0, le=1)
    stated: float | None
    """Mean stated probability; None in an empty bin."""
    right: Estimate
    """Share that gold agrees with."""


class Agreement(Frozen):
    """How a judge agrees with gold."""

    source: str
    """Such as ``LLMBar Natural``, or ``held-out responses after training``."""
    mode: Mode | None
    """How it was asked; None for responses that it judged as in training."""
    accuracy: Estimate
    """Pairwise, the share of pairs whose better response is preferred, a tie being half; else the share of responses
    that are right and get more than one half, or wrong and do not."""
    kappa: Estimate
    """Cohen's."""
    consistency: Estimate | None = None
    """Share of pairs judged alike in both orders; None where nothing was swapped."""
    pairs: Estimate | None = None
    """Share of items whose better response gets more than the worse one, a tie being half; None where responses do not
    come in pairs, and pairwise, where it is the accuracy."""
    accepts_right: Estimate | None = None
    """Share of the right responses that get more than one half; None pairwise."""
    accepts_wrong: Estimate | None = None
    """The same of the wrong ones."""
    ranking: Estimate | None = None
    """Chance that a right response gets more than a wrong one: the area under the ROC curve. None pairwise."""
    calibration_error: Estimate | None = None
    """Expected calibration error; None where the judge gives no probability."""
    calibration: tuple[Bin, ...] = ()


class Noise(Frozen):
    """What a judge says when it is asked the same again."""

    mode: Mode
    repeats: int = Field(ge=2)
    """Askings of each item, the first included."""
    flips: Estimate
    """Share of pairs of askings that contradict each other."""
    apart: Estimate | None = None
    """Mean size of the difference of two askings, in the unit of a value: the noise of one judgement."""
    alpha: Estimate
    """Krippendorff's; 1 is full agreement, 0 chance."""


class Detectable(Frozen):
    """The smallest effect that a probe of this size can find."""

    probe: str
    title: str = ""
    mode: Mode
    n_items: int = Field(ge=0)
    n_texts: int = Field(ge=0)
    sd: float = Field(ge=0)
    """Standard deviation of an item's effect that was assumed."""
    effect: float = Field(ge=0)


class Judge(Frozen):
    """A judge, and its biases."""

    name: str
    family: str
    """Such as ``qwen``; ``scripted`` for a control judge."""
    parameters: float | None = Field(default=None, gt=0)
    """Weights; None where the number is not known, or there are none."""
    model: str = ""
    protocol: str = ""
    scripted: bool = False
    """A control whose biases are known."""
    biases: tuple[Bias, ...] = ()
    agreement: tuple[Agreement, ...] = ()
    noise: tuple[Noise, ...] = ()
    noise_unknown: str = ""
    """Why the noise is not known; empty where it is."""
