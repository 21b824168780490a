"""All that is known of a training at one moment."""

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from components.core.errors import GavelError
from components.core.spec.experiment import Experiment
from components.engine.process import read_metrics
from components.monitor.logs import last_attempt
from components.monitor.samples import Sample
from components.monitor.status import Stand
from components.train.step import metrics_file

Metrics = Mapping[int, Mapping[str, float]]
"""Step -> name -> value."""


@dataclasses.dataclass(frozen=True, slots=True)
class Facts:
    """What the experiment says.

    Attributes:
        name: of the experiment.
        steps: of the training; None where it is not known.
        samples_per_step: responses of a step, those of replaced groups aside; None where it is not known.
        capacity: entries of a domain that the experience buffer takes; None where there is none.
        scale: least and largest reward of workflows; None elsewhere.
    """

    name: str
    steps: int | None = None
    samples_per_step: int | None = None
    capacity: int | None = None
    scale: tuple[float, float] | None = None

    @classmethod
    def of(cls, experiment: Experiment) -> "Facts":
        """Those of an experiment."""
        training, workflow = experiment.training, experiment.workflow
        return cls(
            name=experiment.name,
            steps=training.steps,
            samples_per_step=training.prompts_per_step * training.rollouts_per_prompt,
            capacity=workflow.buffer.capacity if workflow is not None and workflow.examples else None,
            scale=None if workflow is None else workflow.reward.scale,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Snapshot:
    """One look.

    Attributes:
        where: what was looked at: a folder or a URI.
        facts: of the experiment.
        stand: how it stands.
        samples: responses that count so far.
        metrics: the trainer's own, by step.
        buffer: domain -> entries of the experience buffer; None where there is none, or it cannot be read.
        as_of: of which step the figures are, where they are not the newest; None where they are.
        notes: what could not be read.
    """

    where: str
    facts: Facts
    stand: Stand
    samples: Sequence[Sample] = ()
    metrics: Metrics = dataclasses.field(default_factory=dict)
    buffer: Mapping[str, int] | None = None
    as_of: int | None = None
    notes: Sequence[str] = ()


def work_metrics(work: Path, attempts: Mapping[int, int]) -> dict[int, dict[str, float]]:
    """The trainer's metrics of the steps that count: of each step those of the last attempt that goes through it."""
    last = last_attempt(attempts)
    found: dict[int, dict[str, float]] = {}
    for attempt in sorted(attempts):
        for row in read_metrics(metrics_file(work, attempt)):
            step, data = int(str(row["step"])), row["data"]
            if last(step) == attempt and isinstance(data, dict):
                found[step] = numbers(data.items())
    return found


def numbers(items: Iterable[tuple[str, Any]]) -> dict[str, float]:
    """The numbers among named values."""
    return {name: float(value) for name, value in items if isinstance(value, int | float)}


def facts_of_work(work: Path) -> Facts:
    """Those of the training in a work folder; its name alone before the trainer has started once."""
    try:
        settings = json.loads((work / "reward.json").read_bytes())
        return facts_of_text(str(settings["experiment"]), work.parent.parent.name)
    except (OSError, ValueError, KeyError, TypeError):
        return Facts(work.parent.parent.name)


def facts_of_text(text: str, name: str) -> Facts:
    """Those of an experiment's JSON; ``name`` alone where this code cannot read it."""
    try:
        return Facts.of(Experiment.from_json(text))
    except GavelError:
        return Facts(name)
