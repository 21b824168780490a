"""Means over responses with intervals whose unit is the prompt: responses to one prompt are not independent."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from components.core.statistics import SHARES, mean_interval, prompt_mean
from components.monitor.samples import Sample
from components.tasks.statistics import Sampling

Value = Callable[[Sample], float | None]
SAMPLING: Final = Sampling(2000, 0.95, 0)


@dataclasses.dataclass(frozen=True, slots=True)
class Estimate:
    """A mean.

    Attributes:
        n: responses with a known value.
        unknown: responses without one, which are left out.
        prompts: prompts of the known ones.
        value: mean over prompts of their means; None where nothing is known.
        low: lower end of its interval; None where there are fewer than two prompts.
        high: its upper end.
    """

    n: int
    unknown: int
    prompts: int
    value: float | None
    low: float | None
    high: float | None


def estimate(
    samples: Sequence[Sample],
    value: Value,
    sampling: Sampling = SAMPLING,
    scale: tuple[float, float] | None = SHARES,
) -> Estimate:
    """The mean of a value, each prompt counted once.

    Args:
        samples: responses.
        value: of one; None is unknown.
        sampling: of the percentile bootstrap over prompts.
        scale: least and largest value that there can be; None where that is not known.
    """
    by_prompt: dict[str, list[float | None]] = {}
    for sample in samples:
        by_prompt.setdefault(sample.row_id, []).append(value(sample))
    return estimate_prompts(by_prompt, sampling, scale)


def estimate_prompts(
    values: Mapping[str, Sequence[float | None]],
    sampling: Sampling = SAMPLING,
    scale: tuple[float, float] | None = SHARES,
) -> Estimate:
    """The same of values by prompt."""
    known = sum(value is not None for each in values.values() for value in each)
    means = [mean for row in sorted(values) if (mean := prompt_mean(values[row])) is not None]
    table = np.array(means, dtype=np.float64)
    if scale is not None and not ((table >= scale[0]) & (table <= scale[1])).all():
        scale = None
    ends = mean_interval(
        table, resamples=sampling.resamples, confidence=sampling.confidence, seed=sampling.seed, scale=scale
    )
    low, high = (None, None) if ends is None else ends
    return Estimate(
        n=known,
        unknown=sum(map(len, values.values())) - known,
        prompts=len(means),
        value=float(table.mean()) if means else None,
        low=low,
        high=high,
    )
