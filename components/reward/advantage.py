"""GRPO advantages over the samples that could be judged.

verl's own estimator gives a lone survivor of a group its raw score as advantage (mean 0, deviation 1), and lets groups
without variance through with a division by a small constant. Both reward the policy for the judge's failures.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence

VARIANCE_FLOOR = 1e-6
"""Standard deviations at or below this count as none: rewards are probabilities, whose differences of this size come
from the order of floating-point sums (verl and TRL compare with zero and miss them)."""


def grpo_advantages(
    rewards: Sequence[float | None], groups: Sequence[Hashable], *, divide_by_deviation: bool = True
) -> list[float | None]:
    """Group-relative advantages (Shao et al. 2024, arXiv 2402.03300, outcome supervision).

    ``(r - mean) / std`` within the group, with the sample standard deviation (n - 1) as verl computes it; without the
    division as in Dr. GRPO (arXiv 2503.20783).

    Args:
        rewards: one a sample; None for an abstained one.
        groups: the prompt that each sample answers.
        divide_by_deviation: scale by the group's standard deviation.

    Returns:
        One advantage a sample; None where the sample must not be trained on: it abstained, or its group has fewer than
        two scored samples, or none that differ.

    Raises:
        ValueError: the lengths differ, or a reward is not finite.
    """
    if len(rewards) != len(groups):
        raise ValueError(f"{len(rewards)} rewards for {len(groups)} group labels")
    scored: dict[Hashable, list[float]] = defaultdict(list)
    for reward, group in zip(rewards, groups, strict=True):
        if reward is None:
            continue
        if not math.isfinite(reward):
            raise ValueError(f"reward {reward} of group {group!r} is not finite; an abstained sample is None")
        scored[group].append(reward)
    statistics = {group: _statistics(values) for group, values in scored.items()}
    advantages: list[float | None] = []
    for reward, group in zip(rewards, groups, strict=True):
        found = statistics.get(group)
        if reward is None or found is None:
            advantages.append(None)
            continue
        mean, deviation = found
        advantages.append((reward - mean) / (deviation if divide_by_deviation else 1.0))
    return advantages


def _statistics(values: Sequence[float]) -> tuple[float, float] | None:
    """Mean and sample standard deviation, or None where they tell nothing."""
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return (mean, deviation) if deviation > VARIANCE_FLOOR else None
