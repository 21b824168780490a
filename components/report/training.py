"""The judge's reward against gold while training, step by step, and what the trainer could learn from."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from components.core.clusters import Correlation, Mean, Trend, clustered_mean, trend, within_correlation
from components.report.evidence import Evidence, Rollout
from components.report.heldout import Sampling
from components.report.parts import Part, split_rewards

Value = Callable[[Rollout], float | None]


def _of_score(name: str) -> Value:
    """The series of a score's field; None where there is no score, or where the field is unknown."""

    def value(rollout: Rollout) -> float | None:
        found = None if rollout.score is None else getattr(rollout.score, name)
        return None if found is None else float(found)

    return value


SERIES: Mapping[str, Value] = {
    "proxy": lambda rollout: rollout.reward,
    "gold": _of_score("gold"),
    "keyword": _of_score("keyword"),
    "echo": _of_score("echo"),
    "words": _of_score("words"),
    "abstained": lambda rollout: float(rollout.status != "scored"),
}
"""What is followed over the steps. ``proxy`` is the reward that the trainer was given by the judge."""

TIMINGS: Mapping[str, str] = {
    "step": "timing_s/step",
    "generate": "timing_s/gen",
    "reward": "timing_s/reward",
    "old_log_prob": "timing_s/old_log_prob",
    "reference": "timing_s/ref",
    "update": "timing_s/update_actor",
    "sync_weights": "timing_s/update_weights",
    "checkpoint": "timing_s/save_checkpoint",
}
"""Our name -> verl's metric, seconds a step."""


@dataclasses.dataclass(frozen=True, slots=True)
class StepRow:
    """One training step.

    Attributes:
        step: its number.
        means: series -> mean over its rollouts.
        groups: prompts, each with its group of rollouts.
        masked: groups with fewer than two scored rollouts; they train nothing.
        flat: other groups whose rewards are all equal; they train nothing either.
        correlation: of the judge's reward with gold over the step's rollouts; None when one does not vary.
        seconds: timing -> seconds; only what the trainer recorded.
    """

    step: int
    means: Mapping[str, Mean]
    groups: int
    masked: int
    flat: int
    correlation: float | None
    seconds: Mapping[str, float]


@dataclasses.dataclass(frozen=True, slots=True)
class Training:
    """The whole of training.

    Attributes:
        rollouts: responses, one attempt a step.
        repeated: responses of steps that a resumed run did again, left out.
        without_score: rollouts that the score step has nothing on.
        steps: by number.
        totals: series -> mean over all rollouts.
        trends: series -> change from the first to the last quarter of the steps.
        quarter: steps in such a quarter; 0 when there are fewer than two steps, and then there is no trend.
        reasons: why rollouts abstained -> how many.
        within_steps: correlation of the judge's reward with gold inside steps.
        within_groups: the same inside groups of rollouts of one prompt, which is what GRPO compares.
        parts: what the mean reward mixes, by the names of :data:`components.report.parts.KINDS`; empty for a run
            without scaffold and without factors.
    """

    rollouts: int
    repeated: int
    without_score: int
    steps: Sequence[StepRow]
    totals: Mapping[str, Mean]
    trends: Mapping[str, Trend]
    quarter: int
    reasons: Mapping[str, int]
    within_steps: Correlation
    within_groups: Correlation
    parts: Mapping[str, Part]


def analyse_training(evidence: Evidence, sampling: Sampling) -> Training:
    """Follow every series of :data:`SERIES` over the steps."""
    rollouts = evidence.rollouts
    by_step: dict[int, list[Rollout]] = {}
    for rollout in rollouts:
        by_step.setdefault(rollout.step, []).append(rollout)
    numbers = sorted(by_step)
    quarter = max(1, len(numbers) // 4) if len(numbers) > 1 else 0
    ends = [
        [r for step in part for r in by_step[step]] for part in (numbers[:quarter], numbers[len(numbers) - quarter :])
    ]
    reasons: dict[str, int] = {}
    for rollout in rollouts:
        if rollout.status != "scored":
            reason = rollout.reason or "no reason given"
            reasons[reason] = reasons.get(reason, 0) + 1
    settings = {"resamples": sampling.resamples, "seed": sampling.seed}
    proxy, gold = ([SERIES[name](rollout) for rollout in rollouts] for name in ("proxy", "gold"))
    return Training(
        rollouts=len(rollouts),
        repeated=evidence.repeated,
        without_score=sum(rollout.score is None for rollout in rollouts),
        steps=[_step(step, by_step[step], evidence.metrics) for step in numbers],
        totals={name: _mean(rollouts, value) for name, value in SERIES.items()},
        trends={
            name: trend(_side(ends[0], value), _side(ends[1], value), confidence=sampling.confidence, **settings)
            for name, value in SERIES.items()
        },
        quarter=quarter,
        reasons=dict(sorted(reasons.items())),
        within_steps=within_correlation(
            proxy, gold, [rollout.step for rollout in rollouts], confidence=sampling.confidence, **settings
        ),
        within_groups=within_correlation(
            proxy,
            gold,
            [(rollout.step, rollout.row_id) for rollout in rollouts],
            confidence=sampling.confidence,
            **settings,
        ),
        parts=split_rewards(by_step, quarter),
    )


def _side(rollouts: Sequence[Rollout], value: Value) -> tuple[list[float | None], list[str]]:
    return [value(rollout) for rollout in rollouts], [rollout.row_id for rollout in rollouts]


def _mean(rollouts: Sequence[Rollout], value: Value) -> Mean:
    return clustered_mean([value(rollout) for rollout in rollouts], [rollout.row_id for rollout in rollouts])


def _step(step: int, rollouts: Sequence[Rollout], metrics: Mapping[str, Mapping[int, float]]) -> StepRow:
    groups: dict[str, list[float]] = {}
    for rollout in rollouts:
        rewards = groups.setdefault(rollout.row_id, [])
        if rollout.reward is not None:
            rewards.append(rollout.reward)
    proxy, gold = ([SERIES[name](rollout) for rollout in rollouts] for name in ("proxy", "gold"))
    return StepRow(
        step=step,
        means={name: _mean(rollouts, value) for name, value in SERIES.items()},
        groups=len(groups),
        masked=sum(len(rewards) < 2 for rewards in groups.values()),
        flat=sum(len(rewards) > 1 and min(rewards) == max(rewards) for rewards in groups.values()),
        correlation=within_correlation(proxy, gold, [step] * len(rollouts), resamples=1, confidence=0.5, seed=0).r,
        seconds={name: metrics[metric][step] for name, metric in TIMINGS.items() if step in metrics.get(metric, {})},
    )
