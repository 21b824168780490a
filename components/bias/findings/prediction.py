"""Does a judge's bias on an axis predict the drift of the policies that it trained?

A bias belongs to a judge, so the judges are what is counted: ten seeds of three judges are three points. The regression
has an intercept of its own for each judge and each seed, and the permutation test deals the biases anew to the judges.
"""

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from components.bias.clusters import CONFIDENCE, t_quantile, two_sided

Floats = NDArray[np.float64]

MOST_ORDERS: Final = 5040
"""All orders of seven judges; with more judges as many are drawn."""
_LEAST_JUDGES: Final = 3
_SMALLEST: Final = 1e-8
_LINED: Final = 1e-7
"""Of the slope's size; an error below that is rounding."""
_NONE: Final = 1e-6
"""Ratio of variances that counts as 0."""


@dataclasses.dataclass(frozen=True, slots=True)
class Arm:
    """One trained policy.

    Attributes:
        judge: that trained it.
        seed: of the training.
        bias: the judge's effect on the axis.
        drift: the policy's change on the axis over the training.
    """

    judge: str
    seed: int
    bias: float
    drift: float


@dataclasses.dataclass(frozen=True, slots=True)
class Prediction:
    """Regression of drift on bias.

    Attributes:
        slope: drift per unit of bias; None with fewer than three judges, or judges that are all alike.
        low: lower end of its interval; None where the judges lie on one line, so that no spread is seen.
        high: upper end.
        p: two-sided, of the t test with (judges - 2) degrees of freedom; None where there is no interval.
        permutation_p: share of the orders of the judges' biases whose slope is as large or larger in size, the one that
            was seen among them. With three judges it cannot be below 1/6, with four 1/24; twice that where the biases
            or the drifts lie evenly.
        orders: orders counted.
        judges: distinct judges.
        seeds: distinct seeds.
        arms: behind it.
        judge_sd: spread of drift between judges that their bias leaves unexplained.
        seed_sd: spread of drift between seeds.
        rest_sd: spread within.
        reason: why there is no slope; empty where there is one.
    """

    slope: float | None
    low: float | None
    high: float | None
    p: float | None
    permutation_p: float | None
    orders: int
    judges: int
    seeds: int
    arms: int
    judge_sd: float | None = None
    seed_sd: float | None = None
    rest_sd: float | None = None
    reason: str = ""


def predict(arms: Sequence[Arm], *, seed: int = 0, confidence: float = CONFIDENCE) -> Prediction:
    """Fit ``drift = a + b * bias + judge + seed + rest`` by restricted maximum likelihood, and test b.

    Both intercepts are random; the interval is that of t with (judges - 2) degrees of freedom, since the bias differs
    between judges alone (Pinheiro and Bates 2000, section 2.4.2). Where judges differ no more than the rest explains,
    the likeliest spread between them is 0, which would make the interval of few judges far too wide (with three, it
    covered in all draws); then it is that of the regression of the judges' means, as it is in complete designs anyway.

    Args:
        arms: of one axis.
        seed: of the orders drawn where there are too many.
        confidence: coverage of the interval, in (0, 1).

    Raises:
        ValueError: a judge has two biases, or a number is not finite.
    """
    biases: dict[str, float] = {}
    for arm in arms:
        if not (math.isfinite(arm.bias) and math.isfinite(arm.drift)):
            raise ValueError(f"arm of judge {arm.judge}, seed {arm.seed}: bias or drift is not finite")
        if biases.setdefault(arm.judge, arm.bias) != arm.bias:
            raise ValueError(f"judge {arm.judge} has two biases on one axis")
    judges, seeds = sorted(biases), sorted({arm.seed for arm in arms})
    none = Prediction(None, None, None, None, None, 0, judges=len(judges), seeds=len(seeds), arms=len(arms))
    if len(judges) < _LEAST_JUDGES:
        return dataclasses.replace(none, reason=f"{len(judges)} judges draw no line; it takes {_LEAST_JUDGES}")
    if max(biases.values()) == min(biases.values()):
        return dataclasses.replace(none, reason="all judges have the same bias on this axis")
    x = np.array([arm.bias for arm in arms])
    y = np.array([arm.drift for arm in arms])
    by_judge = np.array([[float(arm.judge == judge) for judge in judges] for arm in arms])
    by_seed = np.array([[float(arm.seed == each) for each in seeds] for arm in arms])
    design = np.column_stack([np.ones(len(arms)), x])
    fit = _restricted_fit(design, y, by_judge, by_seed)
    df = len(judges) - 2.0
    lined = fit.error <= _LINED * (abs(fit.slope) + float(np.abs(y).max()) / float(np.abs(x).max()))
    half = t_quantile(confidence, df) * fit.error
    permutation_p, orders = _permuted([biases[judge] for judge in judges], by_judge, y, seed)
    return dataclasses.replace(
        none,
        slope=fit.slope,
        low=None if lined else fit.slope - half,
        high=None if lined else fit.slope + half,
        p=None if lined else two_sided(fit.slope / fit.error, df),
        permutation_p=permutation_p,
        orders=orders,
        judge_sd=fit.judge_sd,
        seed_sd=fit.seed_sd,
        rest_sd=fit.rest_sd,
    )


@dataclasses.dataclass(frozen=True, slots=True)
class _Fit:
    slope: float
    error: float
    judge_sd: float
    seed_sd: float
    rest_sd: float


def _restricted_fit(design: Floats, y: Floats, by_judge: Floats, by_seed: Floats) -> _Fit:
    """The ratios of the two variances to the rest's are sought; everything else has a closed form given these."""
    from scipy import optimize

    n, k = design.shape
    judges, seeds = by_judge @ by_judge.T, by_seed @ by_seed.T

    def given(ratios: Sequence[float]) -> tuple[float, Floats, Floats, float]:
        spread = np.eye(n) + ratios[0] * judges + ratios[1] * seeds
        solved = np.linalg.solve(spread, np.column_stack([design, y]))
        gram = design.T @ solved[:, :k]
        slopes = np.linalg.solve(gram, design.T @ solved[:, k])
        rest = y - design @ slopes
        variance = float(rest @ np.linalg.solve(spread, rest)) / (n - k)
        loss = float(np.linalg.slogdet(spread)[1] + np.linalg.slogdet(gram)[1]) + (n - k) * math.log(
            max(variance, 1e-300)
        )
        return loss, slopes, gram, variance

    starts = [(0.1, 0.1), (2.0, 0.1), (0.1, 2.0)]
    found = [
        optimize.minimize(
            lambda logs: given(np.exp(logs))[0],
            np.log(start),
            method="Nelder-Mead",
            bounds=[(math.log(_SMALLEST), math.log(1e6))] * 2,
            options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 2000},
        )
        for start in starts
    ]
    ratios = np.exp(min(found, key=lambda each: float(each.fun)).x)
    _, slopes, gram, variance = given(ratios)
    slope, error = float(slopes[1]), math.sqrt(max(0.0, variance * float(np.linalg.inv(gram)[1, 1])))
    if ratios[0] < _NONE:
        slope, error = _means_fit(design[:, 1], y, by_judge, np.eye(n) + ratios[1] * seeds)
    sd = math.sqrt(variance)
    return _Fit(slope, error, sd * math.sqrt(ratios[0]), sd * math.sqrt(ratios[1]), sd)


def _means_fit(x: Floats, y: Floats, by_judge: Floats, spread: Floats) -> tuple[float, float]:
    """Slope and its error of the judges' means, with seeds held equal, on their biases by least squares.

    Args:
        x: shape (arms,), bias of each arm's judge.
        y: shape (arms,), drift.
        by_judge: shape (arms, judges), 1 at each arm's judge.
        spread: shape (arms, arms), covariance of arms through their seeds and the rest.
    """
    solved = np.linalg.solve(spread, np.column_stack([by_judge, y]))
    means = np.linalg.solve(by_judge.T @ solved[:, :-1], by_judge.T @ solved[:, -1])
    biases = (by_judge.T @ x) / by_judge.sum(axis=0)
    away, drifts = biases - biases.mean(), means - means.mean()
    slope = float(away @ drifts / (away @ away))
    rest = drifts - slope * away
    return slope, math.sqrt(float(rest @ rest) / (len(means) - 2) / float(away @ away))


def _permuted(biases: Sequence[float], by_judge: Floats, y: Floats, seed: int) -> tuple[float, int]:
    """Size of the least-squares slope over the judges' mean drifts against that of other orders."""
    values = np.array(biases) - np.mean(biases)
    means = (by_judge.T @ y) / by_judge.sum(axis=0)
    if math.factorial(len(values)) <= MOST_ORDERS:
        orders = np.array(list(itertools.permutations(range(len(values)))))
    else:
        draw = np.random.default_rng(seed)
        orders = np.array([range(len(values)), *(draw.permutation(len(values)) for _ in range(MOST_ORDERS - 1))])
    sizes = np.abs(values[orders] @ (means - means.mean()))
    # Orders that give the very same slope differ by rounding.
    as_large = sizes >= abs(float(values @ (means - means.mean()))) - 1e-12
    return float(as_large.mean()), len(orders)
