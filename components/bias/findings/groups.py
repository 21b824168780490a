"""Judges in groups: whether families differ, and whether judges favour the policies that they trained."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from components.bias.clusters import CONFIDENCE
from components.bias.estimate import Estimate
from components.bias.jackknife import jackknifed

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


def leakage_estimate(
    wins: Mapping[tuple[str, str], Sequence[tuple[str, float]]],
    one: str,
    other: str,
    *,
    unknown: int = 0,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """:func:`preference_leakage` with its interval by :func:`components.bias.jackknife.jackknifed` over prompts, each
    left out with all that both judges said of both students there. The runs of training are taken as they are: other
    runs would differ more.

    Args:
        wins: (judge, student) -> prompt and share won by the student.
        one: a judge.
        other: the other one.
        unknown: comparisons of these four cells left out because a reward is unknown.
        confidence: coverage, in (0, 1).
    """
    cells = [(one, one), (other, one), (other, other), (one, other)]
    prompts = sorted({prompt for cell in cells for prompt, _ in wins.get(cell, ())})
    n = sum(len(wins.get(cell, ())) for cell in cells)
    score = preference_leakage({cell: [share for _, share in wins.get(cell, ())] for cell in cells}, one, other)
    if score is None:
        why = "a win rate is missing, or a student never wins"
        return Estimate.of(None, n=n, clusters=len(prompts), unknown=unknown, why=why)
    place = {prompt: number for number, prompt in enumerate(prompts)}
    sums = np.zeros((len(prompts), 2, len(cells)))
    for column, cell in enumerate(cells):
        for prompt, share in wins.get(cell, ()):
            sums[place[prompt], :, column] += (share, 1.0)
    left = sums.sum(axis=0) - sums
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = left[:, 0] / left[:, 1]
        excesses = [2.0 * rates[:, at] / (rates[:, at] + rates[:, at + 1]) - 1.0 for at in (0, 2)]
    span = jackknifed(score, (excesses[0] + excesses[1]) / 2.0, (-1.0, 1.0), confidence=confidence)
    return Estimate.of(score, span.low, span.high, n=n, clusters=len(prompts), unknown=unknown, why=span.why)
