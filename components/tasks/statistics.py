"""From scored answers to figures: a task counts once in each metric, by the mean over its answers."""

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from components.core.statistics import (
    Comparison,
    Floats,
    bootstrap_means,
    compare,
    mean_interval,
    prompt_mean,
    quantiles,
)
from components.tasks.gold import QaGold, TaskGold
from components.tasks.passk import pass_at_k
from components.tasks.results import SCHEMA
from components.tasks.sets import DATASETS, DOMAINS, Domain
from components.tasks.tables import MIXED

Row = Mapping[str, Any]
"""Of the contract TASK_SCORES."""
WEIGHTS: Final[Mapping[Domain, float]] = {"math": 4.0, "qa": 3.0, "code": 3.0}
"""The former system's shares, whatever the mixture's own are."""
PARTS: Final = ("supporting_exact", "supporting_f1", "joint_exact", "joint_f1")
"""Metrics of HotpotQA that are there only where supporting facts are asked."""


@dataclasses.dataclass(frozen=True, slots=True)
class Sampling:
    """How intervals are drawn: resamples, coverage in (0, 1), seed."""

    resamples: int
    confidence: float
    seed: int


Measured = Mapping[str, Mapping[str, Sequence[float | None]]]
"""Metric -> task -> its values; None is unknown."""


def measure(name: str, rows: Sequence[Row], golds: Mapping[str, TaskGold], ks: Sequence[int]) -> Measured:
    """The metrics of one table.

    Args:
        name: of the table.
        rows: scores of one model on the table's tasks.
        golds: by id of the task.
        ks: of pass@k; one for which a task has too few known answers is unknown for that task.
    """
    tasks: dict[str, list[Row]] = {}
    for row in rows:
        tasks.setdefault(row["row_id"], []).append(row)
    domain = None if name == MIXED else DATASETS[name].domain
    if domain == "qa":
        return _questions(tasks, golds)
    if domain == "code":
        found: dict[str, dict[str, Sequence[float | None]]] = {"accuracy": _each(tasks, _correct)}
        for k in ks:
            found[f"pass@{k}"] = {task: [_passed(answers, k)] for task, answers in tasks.items()}
        return found
    return {"accuracy": _each(tasks, _correct)}


def _questions(tasks: Mapping[str, Sequence[Row]], golds: Mapping[str, TaskGold]) -> Measured:
    found = {"accuracy": _each(tasks, _field("exact")), "f1": _each(tasks, _field("f1"))}
    answerable = {task for task in tasks if (gold := golds[task]) and isinstance(gold, QaGold) and gold.answers}
    if answerable and len(answerable) < len(tasks):
        for metric in ("accuracy", "f1"):
            found[f"has_ans_{metric}"] = {task: found[metric][task] for task in tasks if task in answerable}
        # Of an unanswerable question F1 is exact match.
        found["no_ans_accuracy"] = {task: found["accuracy"][task] for task in tasks if task not in answerable}
    for name in PARTS:
        values = _each(tasks, _part(name))
        if any(value is not None for each in values.values() for value in each):
            found[name] = values
    return found


def _each(
    tasks: Mapping[str, Sequence[Row]], value: Callable[[Row], float | None]
) -> dict[str, Sequence[float | None]]:
    return {task: [value(row) for row in answers] for task, answers in tasks.items()}


def _correct(row: Row) -> float | None:
    return None if row["correct"] is None else float(row["correct"])


def _field(name: str) -> Callable[[Row], float | None]:
    def value(row: Row) -> float | None:
        found: float | None = row[name]
        return found

    return value


def _part(name: str) -> Callable[[Row], float | None]:
    def value(row: Row) -> float | None:
        found: float | None = json.loads(row["parts"]).get(name)
        return found

    return value


def _passed(answers: Sequence[Row], k: int) -> float | None:
    known = [bool(row["correct"]) for row in answers if row["correct"] is not None]
    return pass_at_k(len(known), sum(known), k) if k <= len(known) else None


def results(
    model: str, measured: Mapping[str, Measured], sampling: Sampling, *, comparable: bool, samples: Mapping[str, int]
) -> dict[str, Any]:
    """The object of ``results.json``.

    Args:
        model: base or trained.
        measured: table -> its metrics.
        sampling: of intervals.
        comparable: whether official tests are only tests.
        samples: table -> answers scored.
    """
    datasets = []
    for name, metrics in measured.items():
        known = DATASETS.get(name)
        means = {metric: _means(values) for metric, values in metrics.items()}
        datasets.append(
            {
                "dataset": name,
                "title": "Mixed" if known is None else known.title,
                "domain": None if known is None else known.domain,
                "licence": None if known is None else known.licence,
                "metric": "share of right answers" if known is None else known.metric,
                "comparable": comparable,
                "n": len(means["accuracy"]),
                "unknown": len(metrics["accuracy"]) - len(means["accuracy"]),
                "samples": samples[name],
                "metrics": {metric: prompt_mean(list(found)) for metric, found in means.items()},
                "intervals": {metric: _interval(found, sampling) for metric, found in means.items()},
                "counts": {metric: len(found) for metric, found in means.items()},
            }
        )
    return {
        "schema": SCHEMA,
        "model": model,
        "comparable": comparable,
        "confidence": sampling.confidence,
        "resamples": sampling.resamples,
        "datasets": datasets,
        "means": _over_sets(measured, sampling),
    }


def _means(values: Mapping[str, Sequence[float | None]]) -> Floats:
    """Of each task with a known value, in the order of the ids."""
    found = [prompt_mean(values[task]) for task in sorted(values)]
    return np.array([mean for mean in found if mean is not None], dtype=np.float64)


def _interval(means: Floats, sampling: Sampling) -> list[float] | None:
    ends = mean_interval(means, resamples=sampling.resamples, confidence=sampling.confidence, seed=sampling.seed)
    return None if ends is None else list(ends)


def _over_sets(measured: Mapping[str, Measured], sampling: Sampling) -> dict[str, Any]:
    """The two means over accuracies. Each set is resampled by itself, and the mixed table is none of them."""
    means = {name: _means(metrics["accuracy"]) for name, metrics in measured.items() if name != MIXED}
    means = {name: found for name, found in means.items() if len(found)}
    if not means:
        return {}
    draws = {
        name: bootstrap_means(found, resamples=sampling.resamples, seed=sampling.seed + place)
        for place, (name, found) in enumerate(sorted(means.items()))
    }
    found: dict[str, Any] = {}
    for kind, shares in mean_weights(list(means)).items():
        value = math.fsum(share * float(means[name].mean()) for name, share in shares.items())
        drawn = sum(share * draws[name] for name, share in shares.items())
        single = any(len(means[name]) < 2 for name in shares)
        found[kind] = {
            "value": value,
            "interval": None if single else _widened(value, np.asarray(drawn), means, shares, sampling),
            "sets": sorted(shares),
            "weights": shares,
        }
    return found


def _widened(
    value: float, drawn: Floats, means: Mapping[str, Floats], shares: Mapping[str, float], sampling: Sampling
) -> list[float]:
    """The bootstrap interval of a mean over sets; sets whose tasks are all right or all wrong, which never vary in it,
    add their own reach, as distances from the value (Zou and Donner 2008)."""
    low, high = quantiles(drawn, sampling.confidence)
    below, above = (value - low) ** 2, (high - value) ** 2
    for name, share in shares.items():
        if means[name].min() == means[name].max() and (ends := _interval(means[name], sampling)) is not None:
            below += (share * (means[name][0] - ends[0])) ** 2
            above += (share * (ends[1] - means[name][0])) ** 2
    return [value - math.sqrt(below), value + math.sqrt(above)]


def set_weights(names: Sequence[str]) -> dict[str, float]:
    """Domains as 4:3:3, over those that are there, and the sets of a domain alike; the weights sum to 1."""
    of = {domain: [name for name in names if DATASETS[name].domain == domain] for domain in DOMAINS}
    total = sum(WEIGHTS[domain] for domain in DOMAINS if of[domain])
    return {name: WEIGHTS[domain] / total / len(of[domain]) for domain in DOMAINS for name in of[domain]}


def comparison(base: Mapping[str, Measured], trained: Mapping[str, Measured], sampling: Sampling) -> dict[str, Any]:
    """Table -> metric -> the paired change from ``base`` to ``trained``; then ``macro`` and ``weighted_4_3_3``, the
    changes of the two means over accuracies, whose keys are fewer."""
    changes = {
        name: {
            metric: compare(
                base[name][metric],
                values,
                resamples=sampling.resamples,
                confidence=sampling.confidence,
                seed=sampling.seed,
            )
            for metric, values in metrics.items()
            if metric in base[name]
        }
        for name, metrics in trained.items()
    }
    found = {
        name: {metric: dataclasses.asdict(change) for metric, change in metrics.items()}
        for name, metrics in changes.items()
    }
    return found | _changes_over_sets(
        {name: metrics["accuracy"] for name, metrics in changes.items() if name != MIXED and "accuracy" in metrics}
    )


def _changes_over_sets(changes: Mapping[str, Comparison]) -> dict[str, Any]:
    """The paired changes of the two means; the mixed table is none of the sets.

    Sets are independent of each other, so that the distances of their ends from their gains add up in squares (Zou and
    Donner 2008, Statistics in Medicine 27: 1693-1702). The sign test knows no such mean.
    """
    known = {name: each for name, each in changes.items() if each.n}
    found: dict[str, Any] = {}
    for kind, shares in mean_weights(list(known)).items():
        gain = _weighted(shares, {name: each.gain for name, each in known.items()})
        below = _distance(shares, {name: _less(each.gain, each.low) for name, each in known.items()})
        above = _distance(shares, {name: _less(each.high, each.gain) for name, each in known.items()})
        found[kind] = {
            "accuracy": {
                "n": sum(each.n for each in known.values()),
                "base": _weighted(shares, {name: each.base for name, each in known.items()}),
                "trained": _weighted(shares, {name: each.trained for name, each in known.items()}),
                "gain": gain,
                "low": None if gain is None or below is None else gain - below,
                "high": None if gain is None or above is None else gain + above,
                "confidence": next(iter(known.values())).confidence,
                "dropped": sum(each.dropped for each in known.values()),
                "rose": sum(each.rose for each in known.values()),
                "fell": sum(each.fell for each in known.values()),
                "sign_p": None,
                "sets": sorted(shares),
                "weights": shares,
            }
        }
    return found


def mean_weights(names: Sequence[str]) -> dict[str, dict[str, float]]:
    """The two means over sets: name -> set -> its weight; none for no set."""
    if not names:
        return {}
    return {"macro": {name: 1 / len(names) for name in names}, "weighted_4_3_3": set_weights(names)}


def _weighted(shares: Mapping[str, float], values: Mapping[str, float | None]) -> float | None:
    known = [(share, value) for name, share in shares.items() if (value := values[name]) is not None]
    return math.fsum(share * value for share, value in known) if len(known) == len(shares) else None


def _distance(shares: Mapping[str, float], values: Mapping[str, float | None]) -> float | None:
    squares = {name: None if value is None else value**2 for name, value in values.items()}
    total = _weighted({name: share**2 for name, share in shares.items()}, squares)
    return None if total is None else math.sqrt(total)


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other
