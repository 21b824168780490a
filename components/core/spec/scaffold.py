"""Rubric scaffolding: training prompts that show a part of the rubric (RuscaRL, arXiv 2508.16949)."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from components.core.spec.base import Conflict, Count, Spec, Tokens


class ScaffoldSpec(Spec):
    """How much of its rubric a training prompt shows; evaluation never shows any."""

    group: Literal["linear", "binary"] = "linear"
    """Share by the sample's place in its group: falling from all to nothing, or all for the first ``full`` samples and
    nothing for the others. Unit: none. Default: "linear"."""
    full: Count = 1
    """For group binary: samples of a group that see the whole rubric. Unit: samples. Default: 1."""
    decay: Literal["sigmoid", "linear", "power", "none"] = "sigmoid"
    """Share by progress through training. Unit: none. Default: "sigmoid"."""
    midpoint: Annotated[float, Field(ge=0, le=1)] = 0.2
    """For decay sigmoid: progress at which the share is one half; published are 0.2 and, for medicine and science, 0.1.
    Unit: fraction. Default: 0.2."""
    steepness: Annotated[float, Field(gt=0, le=10000)] = 125.0
    """For decay sigmoid: published are 125 and, for medicine and science, 200. Unit: none. Default: 125.0."""
    power: Annotated[float, Field(gt=0, le=100)] = 2.0
    """For decay power: exponent of the remaining progress. Unit: none. Default: 2.0."""
    order: Literal["random", "math"] = "random"
    """Which criteria are shown: drawn at random, or in order with the next-to-last one (the answer's form) always and
    the last one (the answer) only when all are shown. Unit: none. Default: "random"."""
    secret: bool = False
    """Whether the policy is asked not to mention the requirements. Unit: none. Default: false."""
    corrected: bool = False
    """Which old log-probabilities the loss compares with: false, as published, those of the response after the plain
    prompt, although it was sampled after the scaffolded one; true, those of the sampling itself. Unit: none.
    Default: false."""
    max_tokens: Tokens = 1024
    """Room for the scaffold beside training.max_prompt_tokens. Unit: tokens. Default: 1024."""

    def conflicts(self) -> Iterable[Conflict]:
        used = {
            "full": self.group == "binary",
            "midpoint": self.decay == "sigmoid",
            "steepness": self.decay == "sigmoid",
            "power": self.decay == "power",
        }
        for key, in_use in used.items():
            if not in_use and getattr(self, key) != type(self).model_fields[key].default:
                yield Conflict(key, f"it has no effect with group {self.group} and decay {self.decay}", f"remove {key}")
