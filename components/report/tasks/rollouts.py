"""What training on a mixture could learn from: groups whose rewards differ, by step and by domain."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from components.core.clusters import Trend, trend
from components.core.contracts import METRICS, PROMPTS, ROLLOUTS, read_table
from components.core.errors import ContractError
from components.report.heldout import Sampling
from components.report.training import TIMINGS


@dataclasses.dataclass(frozen=True, slots=True)
class Rollout:
    """One training response; ``reward`` is None where it abstained."""

    step: int
    row_id: str
    sample_id: str
    dataset: str
    domain: str
    reward: float | None
    reason: str | None
    tokens: int
    finished: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Groups:
    """Groups of rollouts of one prompt at one step.

    Attributes:
        groups: all of them.
        varied: groups with at least two known rewards that differ: only these train anything.
        flat: groups with at least two known rewards, all equal.
        masked: groups with fewer than two known rewards.
        rollouts: responses in them.
        abstained: responses without a reward.
        cut: responses that ended at the limit.
        reward: mean of the known rewards; None where there is none.
        tokens: mean length of the responses.
    """

    groups: int
    varied: int
    flat: int
    masked: int
    rollouts: int
    abstained: int
    cut: int
    reward: float | None
    tokens: float

    @property
    def share(self) -> float:
        """Share of the groups that train anything."""
        return self.varied / self.groups


@dataclasses.dataclass(frozen=True, slots=True)
class Learning:
    """The whole of training.

    Attributes:
        total: over all steps.
        repeated: rollouts left out because a resumed run did their step again.
        steps: step -> its groups.
        datasets: set -> its groups over all steps.
        domains: domain -> its groups over all steps.
        drawn: step -> domain -> prompts.
        trends: ``all`` and each domain -> change of the mean reward from the first to the last quarter of the steps.
        quarter: steps in such a quarter; 0 for a single step, which has no trend.
        reasons: why rollouts abstained -> how many.
        seconds: phase -> seconds of each step that recorded it.
    """

    total: Groups
    repeated: int
    steps: Mapping[int, Groups]
    datasets: Mapping[str, Groups]
    domains: Mapping[str, Groups]
    drawn: Mapping[int, Mapping[str, int]]
    trends: Mapping[str, Trend]
    quarter: int
    reasons: Mapping[str, int]
    seconds: Mapping[str, Sequence[float]]


def read_rollouts(training: Path, data: Path) -> tuple[list[Rollout], int]:
    """The rollouts of the last attempt at each step, and how many of earlier ones are left out.

    Raises:
        ContractError: a table is missing or breaks its contract, or a rollout is of no training prompt.
    """
    prompts = read_table(data / "train.parquet", PROMPTS).select(["data_source", "ability", "extra_info"]).to_pylist()
    origin = {row["extra_info"]["id"]: (row["data_source"], row["ability"]) for row in prompts}
    rows = read_table(training / "rollouts.parquet", ROLLOUTS).to_pylist()
    last: dict[int, int] = {}
    for row in rows:
        last[row["step"]] = max(row["attempt"], last.get(row["step"], row["attempt"]))
    found = []
    for row in rows:
        if row["attempt"] != last[row["step"]]:
            continue
        if row["row_id"] not in origin:
            raise ContractError(
                f"rollout of row {row['row_id']!r}, which is no training prompt",
                where=str(training / "rollouts.parquet"),
            )
        if row["reward"] is not None and not math.isfinite(row["reward"]):
            raise ContractError(f"sample {row['sample_id']!r} has reward {row['reward']}", where=str(training))
        dataset, domain = origin[row["row_id"]]
        found.append(
            Rollout(
                step=row["step"],
                row_id=row["row_id"],
                sample_id=row["sample_id"],
                dataset=dataset,
                domain=domain,
                reward=row["reward"],
                reason=row["reason"] if row["status"] != "scored" else None,
                tokens=row["response_tokens"],
                finished=row["finished"],
            )
        )
    return found, len(rows) - len(found)


def analyse(rollouts: Sequence[Rollout], repeated: int, training: Path, sampling: Sampling) -> Learning:
    """Count groups by step, set and domain, and follow the reward.

    Raises:
        ContractError: there are no rollouts, or the table of metrics is missing or breaks its contract.
    """
    if not rollouts:
        raise ContractError("there are no rollouts", where=str(training / "rollouts.parquet"))
    numbers = sorted({rollout.step for rollout in rollouts})
    quarter = max(1, len(numbers) // 4) if len(numbers) > 1 else 0
    domains = sorted({rollout.domain for rollout in rollouts})
    reasons: dict[str, int] = {}
    for rollout in rollouts:
        if rollout.reward is None:
            reasons[rollout.reason or "no reason given"] = reasons.get(rollout.reason or "no reason given", 0) + 1
    ends = set(numbers[:quarter]), set(numbers[len(numbers) - quarter :])
    return Learning(
        total=count(rollouts),
        repeated=repeated,
        steps={step: count([each for each in rollouts if each.step == step]) for step in numbers},
        datasets={
            name: count([each for each in rollouts if each.dataset == name])
            for name in sorted({rollout.dataset for rollout in rollouts})
        },
        domains={name: count([each for each in rollouts if each.domain == name]) for name in domains},
        drawn={step: _drawn([each for each in rollouts if each.step == step], domains) for step in numbers},
        trends={
            name: _trend([each for each in rollouts if name in ("all", each.domain)], ends, sampling)
            for name in ("all", *domains)
        },
        quarter=quarter,
        reasons=dict(sorted(reasons.items())),
        seconds=_seconds(training / "metrics.parquet"),
    )


def count(rollouts: Sequence[Rollout]) -> Groups:
    """The groups that these rollouts form."""
    groups: dict[tuple[int, str], list[float]] = {}
    for rollout in rollouts:
        known = groups.setdefault((rollout.step, rollout.row_id), [])
        if rollout.reward is not None:
            known.append(rollout.reward)
    masked = sum(len(known) < 2 for known in groups.values())
    flat = sum(len(known) > 1 and min(known) == max(known) for known in groups.values())
    rewards = [rollout.reward for rollout in rollouts if rollout.reward is not None]
    return Groups(
        groups=len(groups),
        varied=len(groups) - masked - flat,
        flat=flat,
        masked=masked,
        rollouts=len(rollouts),
        abstained=len(rollouts) - len(rewards),
        cut=sum(not rollout.finished for rollout in rollouts),
        reward=math.fsum(rewards) / len(rewards) if rewards else None,
        tokens=math.fsum(rollout.tokens for rollout in rollouts) / len(rollouts),
    )


def _drawn(rollouts: Sequence[Rollout], domains: Sequence[str]) -> dict[str, int]:
    return {name: len({each.row_id for each in rollouts if each.domain == name}) for name in domains}


def _trend(rollouts: Sequence[Rollout], ends: tuple[set[int], set[int]], sampling: Sampling) -> Trend:
    first, last = ([each for each in rollouts if each.step in steps] for steps in ends)
    return trend(
        ([each.reward for each in first], [each.row_id for each in first]),
        ([each.reward for each in last], [each.row_id for each in last]),
        resamples=sampling.resamples,
        confidence=sampling.confidence,
        seed=sampling.seed,
    )


def _seconds(path: Path) -> dict[str, list[float]]:
    found: dict[str, dict[int, float]] = {}
    names = {metric: name for name, metric in TIMINGS.items()}
    for row in read_table(path, METRICS).to_pylist():
        if row["name"] in names and math.isfinite(row["value"]):
            found.setdefault(names[row["name"]], {})[row["step"]] = row["value"]
    return {name: list(found[name].values()) for name in TIMINGS if name in found}
