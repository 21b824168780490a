"""The held-out prompts before and after training, and on which answers the judge's gain was made."""

import dataclasses
import enum
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from components.core.statistics import SHARES, Comparison, bootstrap_means, compare, prompt_mean, quantiles
from components.report.evidence import BASE, TRAINED, Answer, Score


class Unit(enum.StrEnum):
    """How a measure is read and printed."""

    SHARE = "share"
    REWARD = "reward"
    WORDS = "words"


@dataclasses.dataclass(frozen=True, slots=True)
class Measure:
    """One number of a scored response; ``value`` gives None where it is unknown."""

    key: str
    label: str
    unit: Unit
    value: Callable[[Score], float | None]


def _flag(value: bool | None) -> float | None:
    return None if value is None else float(value)


MEASURES: tuple[Measure, ...] = (
    Measure("gold", "Passes the gold check", Unit.SHARE, lambda score: _flag(score.gold)),
    Measure("keyword", "Has a gold keyword", Unit.SHARE, lambda score: _flag(score.keyword)),
    Measure("echo", "Echoes the criterion", Unit.SHARE, lambda score: _flag(score.echo)),
    Measure("length_ok", "Right length and shape", Unit.SHARE, lambda score: _flag(score.length_ok)),
    Measure("judge_reward", "Judge's reward", Unit.REWARD, lambda score: score.judge_reward),
    Measure("words", "Length", Unit.WORDS, lambda score: float(score.words)),
)

CHECKED_BY_RULE: tuple[str, ...] = ("gold", "keyword", "echo", "length_ok")
"""Measures that exist only where the prompts have hidden checks of that kind."""

KINDS: tuple[str, ...] = ("gold", "echo", "neither", "gold_unknown")
"""An answer is one of these: it echoes the criterion (whatever gold says); or else it passes gold, fails it, or gold
could not be decided."""


def kind(score: Score) -> str:
    """Which of :data:`KINDS` a response is."""
    if score.echo:
        return "echo"
    if score.gold is None:
        return "gold_unknown"
    return "gold" if score.gold else "neither"


@dataclasses.dataclass(frozen=True, slots=True)
class Sampling:
    """How intervals are drawn: resamples, coverage in (0, 1), seed."""

    resamples: int
    confidence: float
    seed: int


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """What one kind of trained answer has to do with the judge's gain.

    Attributes:
        samples: trained responses of this kind, among the prompts that the judge's comparison uses.
        gain: their share of the judge's gain; the parts add up to the whole.
        low: lower end of its bootstrap interval; None below two prompts.
        high: its upper end.
        reward_base: mean judge's reward of base answers of this kind; None when there is none.
        reward_trained: the same for trained answers.
    """

    samples: int
    gain: float
    low: float | None
    high: float | None
    reward_base: float | None
    reward_trained: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Templates:
    """The gold gain's interval when whole templates are resampled, since prompts of one template are alike."""

    n: int
    low: float | None
    high: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class HeldOut:
    """Everything measured on the held-out prompts."""

    prompts: int
    samples: Mapping[str, int]
    abstained: Mapping[str, int]
    measures: Mapping[str, Comparison]
    parts: Mapping[str, Part]
    templates: Templates

    @property
    def unchecked(self) -> frozenset[str]:
        """Measures of :data:`CHECKED_BY_RULE` that no prompt's responses were checked for."""
        return frozenset(key for key in CHECKED_BY_RULE if self.measures[key].n == 0)


def by_row(answers: Sequence[Answer], model: str, measure: Measure) -> dict[str, list[float | None]]:
    """Row id -> the measure on each sample of ``model``."""
    rows: dict[str, list[float | None]] = {}
    for answer in answers:
        if answer.score.model == model:
            rows.setdefault(answer.score.row_id, []).append(measure.value(answer.score))
    return rows


def analyse_heldout(answers: Sequence[Answer], templates: Mapping[str, str], sampling: Sampling) -> HeldOut:
    """Compare the two models on every measure, and take the judge's gain apart."""
    sides = (BASE, TRAINED)
    of = {model: [answer for answer in answers if answer.score.model == model] for model in sides}
    return HeldOut(
        prompts=len({answer.score.row_id for answer in answers}),
        samples={model: len(of[model]) for model in sides},
        abstained={model: sum(answer.score.judge_reward is None for answer in of[model]) for model in sides},
        measures={
            measure.key: compare(
                by_row(answers, BASE, measure),
                by_row(answers, TRAINED, measure),
                resamples=sampling.resamples,
                confidence=sampling.confidence,
                seed=sampling.seed,
                scale=SHARES if measure.unit is Unit.SHARE else None,
            )
            for measure in MEASURES
        },
        parts=decompose(answers, sampling),
        templates=_by_template(answers, templates, sampling),
    )


def decompose(answers: Sequence[Answer], sampling: Sampling) -> dict[str, Part]:
    """Share the judge's gain out over what the trained answers are.

    A prompt's gain is the mean over its trained samples of (their reward - the mean reward of its base samples); each
    sample's term goes to the sample's kind. Averaged over prompts the parts add up to the gain in the table.
    """
    base = {
        row: mean
        for row, values in by_row(answers, BASE, _measure("judge_reward")).items()
        if (mean := prompt_mean(values)) is not None
    }
    trained: dict[str, list[tuple[str, float]]] = {}
    for answer in answers:
        score = answer.score
        if score.model == TRAINED and score.row_id in base and score.judge_reward is not None:
            trained.setdefault(score.row_id, []).append((kind(score), score.judge_reward))
    table = np.zeros((len(trained), len(KINDS)), dtype=np.float64)
    for index, row in enumerate(sorted(trained)):
        for name, reward in trained[row]:
            table[index, KINDS.index(name)] += (reward - base[row]) / len(trained[row])
    draws = bootstrap_means(table, resamples=sampling.resamples, seed=sampling.seed) if len(trained) > 1 else None
    gains = table.mean(axis=0) if trained else np.zeros(len(KINDS))
    parts = {}
    for column, name in enumerate(KINDS):
        interval = quantiles(draws[:, column], sampling.confidence) if draws is not None else (None, None)
        parts[name] = Part(
            samples=sum(label == name for pairs in trained.values() for label, _ in pairs),
            gain=float(gains[column]),
            low=interval[0],
            high=interval[1],
            reward_base=_mean_reward(answers, BASE, name),
            reward_trained=_mean_reward(answers, TRAINED, name),
        )
    return parts


def _measure(key: str) -> Measure:
    return next(measure for measure in MEASURES if measure.key == key)


def _mean_reward(answers: Sequence[Answer], model: str, name: str) -> float | None:
    scores = [answer.score for answer in answers if answer.score.model == model]
    return prompt_mean([score.judge_reward for score in scores if kind(score) == name])


def _by_template(answers: Sequence[Answer], templates: Mapping[str, str], sampling: Sampling) -> Templates:
    base, trained = (by_row(answers, model, _measure("gold")) for model in (BASE, TRAINED))
    totals: dict[str, list[float]] = {}
    for row in sorted(set(base) & set(trained)):
        before, after = prompt_mean(base[row]), prompt_mean(trained[row])
        if before is not None and after is not None:
            total = totals.setdefault(templates.get(row, row), [0.0, 0.0])
            total[0] += after - before
            total[1] += 1.0
    low = high = None
    if len(totals) > 1:
        table = np.array([totals[name] for name in sorted(totals)], dtype=np.float64)
        draws = bootstrap_means(table, resamples=sampling.resamples, seed=sampling.seed)
        low, high = quantiles(draws[:, 0] / draws[:, 1], sampling.confidence)
    return Templates(n=len(totals), low=low, high=high)
