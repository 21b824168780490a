"""Evaluation: generation on the held-out prompts, and its statistics."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from components.core.spec.base import Conflict, Count, Spec, Tokens
from components.core.spec.ifeval import IFEvalSpec
from components.core.spec.tasks import TasksSpec


class EvaluationSpec(Spec):
    """How base and trained policy answer the held-out prompts, and how they are compared."""

    max_response_tokens: Tokens
    """Longest response. Unit: tokens. Required."""
    temperature: Annotated[float, Field(ge=0, le=10)] = 0.0
    """Sampling temperature; 0 takes the likeliest token. Unit: none. Default: 0.0."""
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Smallest probability mass that sampling keeps; 1 keeps everything. Unit: fraction. Default: 1.0."""
    top_k: Annotated[int, Field(ge=-1)] = -1
    """Number of likeliest tokens that sampling keeps; -1 keeps all. Unit: tokens. Default: -1."""
    samples: Count = 1
    """Responses for each prompt. Unit: responses. Default: 1."""
    batch: Count = 16
    """Prompts generated together; only memory and speed depend on it. Unit: prompts. Default: 16."""
    bootstrap_samples: Annotated[int, Field(ge=100, le=1_000_000)] = 2000
    """Resamples of the paired bootstrap. Unit: resamples. Default: 2000."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    """Level of the intervals. Unit: fraction. Default: 0.95."""
    ifeval: IFEvalSpec | None = None
    """Has the trained policy also answer the benchmark IFEval; null does not. Unit: none. Default: null."""
    tasks: TasksSpec | None = None
    """Has the policy also answer the test sets of a mixture, scored by their official metrics; null does not.
    Unit: none. Default: null."""

    def conflicts(self) -> Iterable[Conflict]:
        if self.top_k == 0:
            yield Conflict("top_k", "0 keeps no token", "use -1 to keep all, or 1 and more")
        if self.temperature == 0 and self.samples > 1:
            yield Conflict(
                "samples",
                f"{self.samples} samples at temperature 0 are all the same",
                "set samples: 1, or a temperature above 0",
            )
