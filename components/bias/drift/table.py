"""Rows of drift from responses: means with intervals clustered by prompt, and changes prompt by prompt."""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence

from scipy import stats

from components.bias.drift.features import FEATURES, Unit, read_features, unit
from components.bias.drift.result import Drift
from components.bias.estimate import Estimate
from components.bias.result_arms import Change, Curve
from components.core.clusters import clustered_mean
from components.core.score_interval import constant_interval
from components.core.statistics import SHARES, compare


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """A response with what is known of it; None is unknown.

    Attributes:
        row_id: its prompt, the cluster.
        text: the response.
        tokens: its length.
        finished: whether the policy ended it.
        abstained: whether it got no reward; None where nobody was asked.
        proxy: what the policy is trained on, or the judge's reward of a held-out response.
        gold: what it should be good at.
        criteria: criterion -> whether it was accepted, 1 or 0; None where the verdict is unknown.
    """

    row_id: str
    text: str
    tokens: int | None = None
    finished: bool | None = None
    abstained: bool | None = None
    proxy: float | None = None
    gold: float | None = None
    criteria: Mapping[str, float | None] = dataclasses.field(default_factory=dict)


def _flag(value: bool | None) -> float | None:
    return None if value is None else float(value)


_OTHER: Mapping[str, Callable[[Judged], float | None]] = {
    "tokens": lambda judged: None if judged.tokens is None else float(judged.tokens),
    "finished": lambda judged: _flag(judged.finished),
    "abstained": lambda judged: _flag(judged.abstained),
    "proxy": lambda judged: judged.proxy,
    "gold": lambda judged: judged.gold,
}


def estimate(
    values: Sequence[float | None],
    prompts: Sequence[str],
    confidence: float,
    *,
    scale: tuple[float, float] | None = None,
    why: str = "every value is unknown",
) -> Estimate:
    """A mean with its interval: Student's t on the cluster-robust error, with one degree of freedom less than prompts;
    where nothing varies, which leaves no error, :func:`components.core.score_interval.constant_interval`.

    Args:
        values: one a response.
        prompts: of each response, in the same order.
        confidence: coverage, in (0, 1).
        scale: least and largest value that there can be; the interval is cut there. None where that is not known.
        why: told where no value is known.
    """
    mean = clustered_mean(values, prompts)
    if mean.mean is None:
        return Estimate.missing(why if values else "there are no responses", unknown=mean.unknown)
    low: float | None = None
    high: float | None = None
    told = "one prompt has no interval"
    known = [value for value in values if value is not None]
    if mean.error is not None and min(known) < max(known):
        half = float(stats.t.ppf(0.5 + confidence / 2, mean.clusters - 1)) * mean.error
        low, high = mean.mean - half, mean.mean + half
        if scale is not None:
            low, high = max(scale[0], low), min(scale[1], high)
    elif mean.error is not None and scale is not None and scale[0] <= known[0] <= scale[1]:
        low, high = constant_interval(known[0], mean.clusters, confidence, scale)
    elif mean.error is not None:
        told = "every value is the same, on a scale without ends"
    return Estimate.of(mean.mean, low, high, n=mean.n, clusters=mean.clusters, unknown=mean.unknown, why=told)


def _scale(name: str) -> tuple[float, float] | None:
    return SHARES if unit(name) is Unit.SHARE else None


def _columns(responses: Sequence[Judged]) -> dict[str, list[float | None]]:
    texts = [read_features(judged.text) for judged in responses]
    columns: dict[str, list[float | None]] = {name: [text[name] for text in texts] for name in FEATURES}
    for name, value in _OTHER.items():
        columns[name] = [value(judged) for judged in responses]
    return columns


def drift_rows(step: int, responses: Sequence[Judged], confidence: float) -> list[Drift]:
    """Every feature at one checkpoint; a row is left out where nothing of its kind was asked or recorded at all, and
    is there without a value where it was and is unknown.

    Args:
        step: training step of the checkpoint, 0 for the base model.
        responses: to the held-out prompts.
        confidence: coverage of the intervals.
    """
    prompts = [judged.row_id for judged in responses]
    rows = []
    for name, values in _columns(responses).items():
        if name in _OTHER and all(value is None for value in values) and not _asked(name, responses):
            continue
        rows.append(Drift(step=step, feature=name, mean=estimate(values, prompts, confidence, scale=_scale(name))))
    for criterion in dict.fromkeys(text for judged in responses for text in judged.criteria):
        pairs = [(judged.criteria[criterion], judged.row_id) for judged in responses if criterion in judged.criteria]
        mean = estimate([value for value, _ in pairs], [row for _, row in pairs], confidence, scale=SHARES)
        rows.append(Drift(step=step, feature="criterion", criterion=criterion, mean=mean))
    return rows


def _asked(name: str, responses: Sequence[Judged]) -> bool:
    """Whether a column that is unknown throughout was asked for: then it stands in the table, as unknown."""
    return name == "proxy" and any(judged.abstained is not None for judged in responses)


def changes(
    first: Sequence[Judged], last: Sequence[Judged], confidence: float, *, resamples: int, seed: int
) -> list[Change]:
    """Change of each feature between two checkpoints, over prompts with a known value at both.

    Args:
        first: responses of the first checkpoint.
        last: responses of the last.
        confidence: coverage of the intervals.
        resamples: of the paired bootstrap, see :func:`components.core.statistics.compare`.
        seed: of the resampling.
    """
    before, after = _columns(first), _columns(last)
    found = []
    for name in before:
        scale = _scale(name)
        told = compare(
            _by_prompt(first, before[name]),
            _by_prompt(last, after[name]),
            resamples=resamples,
            confidence=confidence,
            seed=seed,
            scale=scale,
        )
        if told.gain is None and name in _OTHER:
            continue
        n, unknown = told.n, told.dropped
        ends = [
            Estimate.of(value, *(interval or (None, None)), n=n, unknown=unknown, why=_WHY_ENDS)
            for value, interval in ((told.base, told.base_interval), (told.trained, told.trained_interval))
        ]
        change = Estimate.of(told.gain, told.low, told.high, n=n, unknown=unknown, why=_WHY_ENDS)
        found.append(Change(feature=name, first=ends[0], last=ends[1], change=change))
    return found


_WHY_ENDS = "fewer than two prompts with a value at both checkpoints, or nothing varies on a scale without ends"


def _by_prompt(responses: Sequence[Judged], values: Sequence[float | None]) -> dict[str, list[float | None]]:
    rows: dict[str, list[float | None]] = {}
    for judged, value in zip(responses, values, strict=True):
        rows.setdefault(judged.row_id, []).append(value)
    return rows


def training_curve(rollouts: Mapping[int, Sequence[Judged]], confidence: float) -> list[Curve]:
    """Proxy, gold and abstentions of the rollouts of each step.

    Args:
        rollouts: step -> its rollouts.
        confidence: coverage of the intervals.
    """
    points = []
    for step in sorted(rollouts):
        responses = rollouts[step]
        prompts = [judged.row_id for judged in responses]
        gold = [judged.gold for judged in responses]
        points.append(
            Curve(
                step=step,
                proxy=estimate([judged.proxy for judged in responses], prompts, confidence),
                gold=estimate(gold, prompts, confidence, scale=_unit_scale(gold), why="no response was checked"),
                abstained=estimate([_flag(j.abstained) for j in responses], prompts, confidence, scale=SHARES),
            )
        )
    return points


def _unit_scale(values: Sequence[float | None]) -> tuple[float, float] | None:
    """Shares where all known values could be one."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    return SHARES if known and all(0.0 <= value <= 1.0 for value in known) else None
