"""What became of a policy's workflows while it trained: validity, right answers, reward's parts, failures, cost."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.clusters import Trend, trend
from components.core.contracts import read_table
from components.monitor.analysis import analyse
from components.monitor.estimate import Estimate, Value, estimate
from components.monitor.origins import TABLE as PROMPTS_TABLE
from components.monitor.origins import read_origins
from components.monitor.published import read_published
from components.monitor.samples import Sample, domains_of
from components.monitor.section import Section
from components.monitor.tally import Tally, by_domain, mean_parts, reason, reasons, tally
from components.report.tasks.models import Model, read_models
from components.tasks.statistics import Sampling
from components.workflow.buffer.store import FOLDER, SCHEMA, TABLE

if TYPE_CHECKING:
    from components.core.spec import Experiment
    from components.core.spec.workflow import WorkflowSpec

FOLLOWED: Mapping[str, Value] = {
    "valid": lambda sample: sample.valid,
    "right": lambda sample: sample.right,
    "reward": lambda sample: sample.reward,
}
"""What is followed from the first to the last quarter of the steps."""


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One training step.

    Attributes:
        tally: counts of its responses.
        valid: share of responses that kept the contract.
        right: share of right answers, of all responses that did not abstain.
        parts: means of the reward's parts over answers that were scored; empty where there was none.
    """

    tally: Tally
    valid: Estimate
    right: Estimate
    parts: Mapping[str, float]


@dataclasses.dataclass(frozen=True, slots=True)
class Reason:
    """Why responses earned the lowest reward, or none.

    Attributes:
        kind: invalid, failed or abstained.
        responses: how many.
        share: of all responses.
    """

    kind: str
    responses: int
    share: Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class Buffer:
    """The experience buffer at the end of training.

    Attributes:
        capacity: of a domain.
        least: reward from which a right workflow is kept.
        entries: domain -> entries.
        steps: step -> domain -> entries that were there by then and still are.
    """

    capacity: int
    least: float
    entries: Mapping[str, int]
    steps: Mapping[int, Mapping[str, int]]


@dataclasses.dataclass(frozen=True, slots=True)
class Workflows:
    """All that the report says of workflows.

    Attributes:
        total: of all responses.
        domains: ``all`` and each domain -> counts.
        valid, right: ``all`` and each domain -> share with its interval.
        steps: by number.
        trends: of :data:`FOLLOWED` -> change from the first to the last quarter of the steps; empty for one step.
        reasons: by name, the most frequent first.
        operators: which were called, by domain.
        buffer: None where prompts show no examples.
        models: tested ones, baselines among them.
    """

    total: Tally
    domains: Mapping[str, Tally]
    valid: Mapping[str, Estimate]
    right: Mapping[str, Estimate]
    steps: Mapping[int, Step]
    trends: Mapping[str, Trend]
    reasons: Mapping[str, Reason]
    operators: Section
    buffer: Buffer | None
    models: Sequence[Model]


def read_workflows(experiment: "Experiment", inputs: Mapping[str, Path], sampling: Sampling) -> Workflows | None:
    """What training and tests tell; None for an experiment without workflows.

    Raises:
        ContractError: a table is missing or breaks its contract.
    """
    spec = experiment.workflow
    if spec is None:
        return None
    training = inputs["training"]
    samples = read_published(training, read_origins(inputs["data"] / PROMPTS_TABLE) or {})
    return describe(
        samples,
        sampling,
        buffer=read_buffer(training / FOLDER / TABLE, spec, sorted({sample.step for sample in samples})),
        models=read_models(inputs["scores"]),
    )


def describe(
    samples: Sequence[Sample], sampling: Sampling, *, buffer: Buffer | None, models: Sequence[Model]
) -> Workflows:
    """Count responses, and put everything together."""
    domains = by_domain(samples, domains_of(samples))
    numbers = sorted({sample.step for sample in samples})
    steps = {number: [each for each in samples if each.step == number] for number in numbers}
    return Workflows(
        total=tally(samples),
        domains={name: tally(mine) for name, mine in domains.items()},
        valid={name: estimate(mine, FOLLOWED["valid"], sampling) for name, mine in domains.items()},
        right={name: estimate(mine, FOLLOWED["right"], sampling) for name, mine in domains.items()},
        steps={number: _step(mine, sampling) for number, mine in steps.items()},
        trends=_trends(steps, sampling),
        reasons={
            name: Reason(name.partition(":")[0], number, _share(samples, name, sampling))
            for name, number in sorted(reasons(samples).items(), key=lambda item: (-item[1], item[0]))
        },
        operators=next(each for each in analyse(samples, sampling=sampling) if each.key == "operators"),
        buffer=buffer,
        models=models,
    )


def _step(samples: Sequence[Sample], sampling: Sampling) -> Step:
    return Step(
        tally=tally(samples),
        valid=estimate(samples, FOLLOWED["valid"], sampling),
        right=estimate(samples, FOLLOWED["right"], sampling),
        parts=mean_parts(samples),
    )


def _share(samples: Sequence[Sample], name: str, sampling: Sampling) -> Estimate:
    return estimate(samples, lambda sample: float(reason(sample) == name), sampling)


def _trends(steps: Mapping[int, Sequence[Sample]], sampling: Sampling) -> dict[str, Trend]:
    numbers = sorted(steps)
    if len(numbers) < 2:
        return {}
    quarter = max(1, len(numbers) // 4)
    ends = [
        [each for number in part for each in steps[number]]
        for part in (numbers[:quarter], numbers[len(numbers) - quarter :])
    ]
    found = {}
    for name, value in FOLLOWED.items():
        first, last = (([value(each) for each in end], [each.row_id for each in end]) for end in ends)
        found[name] = trend(
            first, last, resamples=sampling.resamples, confidence=sampling.confidence, seed=sampling.seed
        )
    return found


def read_buffer(table: Path, spec: "WorkflowSpec", steps: Sequence[int]) -> Buffer | None:
    """What the training published of its buffer; None where its prompts showed no examples.

    Raises:
        ContractError: the table is missing or breaks its contract.
    """
    if not spec.examples:
        return None
    rows = read_table(table, SCHEMA).select(["domain", "step"]).to_pylist()
    names = sorted({row["domain"] for row in rows})
    return Buffer(
        capacity=spec.buffer.capacity,
        least=spec.buffer.least(spec.reward.scale),
        entries={name: sum(row["domain"] == name for row in rows) for name in names},
        steps={
            step: {name: sum(row["domain"] == name and row["step"] <= step for row in rows) for name in names}
            for step in steps
        },
    )
