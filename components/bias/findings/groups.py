"""Families and mitigations: judges in groups, and arms with and without a remedy."""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from components.bias.clusters import Estimate, estimate

DRAWS: Final = 10_000


@dataclasses.dataclass(frozen=True, slots=True)
class GroupEffect:
    """Judges of several groups, such as families.

    Attributes:
        means: group -> mean over its judges.
        judges: group -> number of judges.
        spread: variance between the groups' means, weighted by judges.
        p: share of deals of the judges to groups of these sizes with as much spread or more; None where there are fewer
            than two groups, or no group of two judges.
    """

    means: Mapping[str, float]
    judges: Mapping[str, int]
    spread: float
    p: float | None


def group_effect(values: Mapping[str, float], groups: Mapping[str, str], *, seed: int = 0) -> GroupEffect:
    """Do groups of judges differ more than judges do?

    Args:
        values: judge -> its bias, or the mean drift of its policies.
        groups: judge -> its family, say. Size is no group: use its logarithm as ``bias`` in
            :func:`components.bias.findings.prediction.predict`.
        seed: of the deals.

    Raises:
        ValueError: a judge has no group, or there is none.
    """
    missing = sorted(set(values) - set(groups))
    if missing or not values:
        raise ValueError(f"judge {missing[0]} has no group" if missing else "there is no judge")
    judges = sorted(values)
    numbers = np.array([values[judge] for judge in judges])
    names = sorted({groups[judge] for judge in judges})
    labels = np.array([names.index(groups[judge]) for judge in judges])
    sizes = np.bincount(labels)
    seen = _spread(numbers, labels, sizes)
    p = None
    if len(names) > 1 and sizes.max() > 1:
        draw = np.random.default_rng(seed)
        deals = [labels, *(draw.permutation(labels) for _ in range(DRAWS - 1))]
        p = float(np.mean([_spread(numbers, deal, sizes) >= seen - 1e-12 for deal in deals]))
    means = {name: float(numbers[labels == place].mean()) for place, name in enumerate(names)}
    return GroupEffect(means, {name: int(sizes[place]) for place, name in enumerate(names)}, seen, p)


def _spread(numbers: NDArray[np.float64], labels: NDArray[np.intp], sizes: NDArray[np.intp]) -> float:
    means = np.bincount(labels, weights=numbers) / sizes
    return float((sizes * (means - numbers.mean()) ** 2).sum() / sizes.sum())


def mitigation(plain: Mapping[tuple[str, int], float], remedied: Mapping[tuple[str, int], float]) -> Estimate:
    """How much a remedy (swap-average, reference in the prompt, panel, length control, masking) takes off the size of a
    drift or bias: ``|plain| - |remedied|`` over the arms that have both, clustered by judge; above 0 it helps.

    Args:
        plain: (judge, seed) -> drift or effect without the remedy.
        remedied: the same with it.
    """
    both = sorted(set(plain) & set(remedied))
    gains = [abs(plain[arm]) - abs(remedied[arm]) for arm in both]
    widest = max((abs(value) for arm in both for value in (plain[arm], remedied[arm])), default=1.0) or 1.0
    return estimate(gains, [judge for judge, _ in both], scale=(-widest, widest))


def preference_leakage(wins: Mapping[tuple[str, str], Sequence[float]], one: str, other: str) -> float | None:
    """Preference leakage score of two judges and their students (arXiv 2502.01534).

    The mean over the two judges of ``(own - average) / average``: ``own`` is the judge's win rate for its own student,
    ``average`` the mean of both judges' for that student. Above 0, judges favour their own.

    Args:
        wins: (judge, student) -> share won (1, 1/2, 0) by the student in each comparison; a student has its judge's
            name.
        one: a judge.
        other: the other one.

    Returns:
        None where a win rate is missing, or a student never wins.
    """
    excesses = []
    for judge, rival in ((one, other), (other, one)):
        rates = [wins.get((judge, judge)), wins.get((rival, judge))]
        known = [sum(rate) / len(rate) for rate in rates if rate]
        average = sum(known) / 2.0
        if len(known) < 2 or average == 0.0:
            return None
        excesses.append((known[0] - average) / average)
    return sum(excesses) / 2.0


def leakage_of_all(wins: Mapping[tuple[str, str], Sequence[float]]) -> Mapping[tuple[str, str], float | None]:
    """:func:`preference_leakage` of every two judges."""
    judges = sorted({judge for judge, _ in wins})
    return {(one, other): preference_leakage(wins, one, other) for one, other in itertools.combinations(judges, 2)}
