"""How responses are drawn."""

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.core.spec import Experiment


@dataclasses.dataclass(frozen=True, slots=True)
class Sampling:
    """Settings of one generation.

    Attributes:
        max_tokens: longest response, in tokens.
        temperature: 0 takes the likeliest token.
        samples: responses a prompt.
        seed: of the sampling; unused at temperature 0.
        top_p: smallest probability mass that is kept; 1 keeps everything.
        top_k: number of likeliest tokens that are kept; -1 keeps all.
    """

    max_tokens: int
    temperature: float = 0.0
    samples: int = 1
    seed: int = 0
    top_p: float = 1.0
    top_k: int = -1


def heldout_sampling(experiment: "Experiment") -> Sampling:
    """As the experiment answers its held-out prompts."""
    evaluation = experiment.evaluation
    return Sampling(
        max_tokens=evaluation.max_response_tokens,
        temperature=evaluation.temperature,
        samples=evaluation.samples,
        seed=experiment.seed,
        top_p=evaluation.top_p,
        top_k=evaluation.top_k,
    )
