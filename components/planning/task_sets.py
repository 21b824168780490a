"""How many answers the test sets of a mixture take, by the sizes of their official files."""

import dataclasses
from typing import TYPE_CHECKING

from components.core.spec.mixture import SET_DOMAINS
from components.core.spec.tasks import TasksSpec
from components.tasks.sets import DATASETS

if TYPE_CHECKING:
    from components.core.spec import Experiment


@dataclasses.dataclass(frozen=True, slots=True)
class Answered:
    """What one model answers.

    Attributes:
        tasks: of all sets whose official size is known.
        responses: to these.
        tokens: of the longest responses.
        unknown: sets whose number of rows only their files tell.
    """

    tasks: int
    responses: int
    tokens: int
    unknown: tuple[str, ...]


def answered(experiment: "Experiment") -> Answered:
    """Tasks and tokens of one model; nothing for an experiment without a mixture. Rows of the table ``mixed`` are those
    of the other sets."""
    mixture, tasks = experiment.data.mixture, experiment.evaluation.tasks or TasksSpec()
    found = Answered(0, 0, 0, ())
    if mixture is None:
        return found
    samples, tokens = tasks.samples.model_dump(), tasks.max_response_tokens.model_dump()
    for name in mixture.sources.given:
        if tasks.sets and name not in tasks.sets and "mixed" not in tasks.sets:
            continue
        domain = SET_DOMAINS.get(name)
        limits = [limit for limit in (tasks.limit, mixture.sources.given[name].limit) if limit is not None]
        rows = None if domain is None else _official(name)
        rows = min(limits) if rows is None and limits else rows
        if rows is None or domain is None:
            found = dataclasses.replace(found, unknown=(*found.unknown, name))
            continue
        rows = min([rows, *limits])
        found = Answered(
            found.tasks + rows,
            found.responses + rows * samples[domain],
            found.tokens + rows * samples[domain] * tokens[domain],
            found.unknown,
        )
    return found


def models_of(experiment: "Experiment") -> int:
    """Models that answer the test sets."""
    return 2 if (experiment.evaluation.tasks or TasksSpec()).base else 1


def judged_share(experiment: "Experiment") -> float:
    """Share of the prompts drawn in training that have a line for a judge."""
    mixture = experiment.data.mixture
    if mixture is None:
        return 1.0
    weights = mixture.weights.model_dump()
    judged = sum(weights[domain] for domain, who in mixture.decided_by.all.items() if who != "gold")
    return float(judged / sum(weights.values()))


def _official(name: str) -> int | None:
    sizes = DATASETS[name].sizes
    return sizes.get("test", sizes.get("dev"))
