"""What became of the workflows of an evaluation, writer by writer, for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from components.core.columns import aligned
from components.report.evidence import TRAINED
from components.report.tasks.models import Gain, Model

MEAN: Final = "weighted_4_3_3"
"""The mean over sets that the table compares by; ``results.json`` has all."""
_HEAD: Final = ("written by", "answers", "valid", "right", "unknown", "tokens each")


def workflow_table(models: Sequence[Model], *, given: str) -> str:
    """A row a writer, and how far the given model is above or below it on the same tasks.

    Args:
        models: those of the step score-tasks; the one that was asked for is ``trained`` there.
        given: what that one is called here.
    """
    rows = [(*_HEAD, f"{given} less this, in points")]
    rows += [
        (
            _called(model, given),
            str(model.answers),
            f"{model.valid} of {model.checked}",
            str(model.right),
            str(model.unknown),
            _amount(model.per_answer(model.tokens)),
            "" if model.name == TRAINED else _difference(model.gains.get(MEAN)),
        )
        for model in models
    ]
    return "\n".join(aligned(rows))


def accuracy_table(results: Mapping[str, Mapping[str, Any]]) -> str:
    """A row a set and mean, a column a writer: accuracies, whose intervals stand in each writer's own figures.

    Args:
        results: writer -> the object of its ``results.json``; all are of the same sets.
    """
    first = next(iter(results.values()))
    means = list(dict.fromkeys(mean for result in results.values() for mean in result["means"]))
    rows = [("accuracy", *results)]
    for number, entry in enumerate(first["datasets"]):
        shares = [result["datasets"][number]["metrics"]["accuracy"] for result in results.values()]
        rows.append((entry["dataset"], *map(_share, shares)))
    for mean in means:
        # Where nothing at all is known of a writer, there is no mean of it.
        rows.append((mean, *(_share(result["means"].get(mean, {}).get("value")) for result in results.values())))
    return "\n".join(aligned(rows))


def workflow_counts(models: Sequence[Model], *, given: str) -> dict[str, dict[str, Any]]:
    """The same for a file: writer -> counts; tokens, seconds and money are those of all its answers."""
    names = ("answers", "right", "unknown", "valid", "checked", "tokens", "seconds", "money")
    return {_called(model, given): {name: getattr(model, name) for name in names} for model in models}


def _called(model: Model, given: str) -> str:
    return given if model.name == TRAINED else model.name


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{100 * value:.1f} %"


def _amount(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.0f}"


def _difference(gain: Gain | None) -> str:
    if gain is None or gain.gain is None:
        return "unknown"
    ends = "no interval" if gain.low is None or gain.high is None else f"{_points(gain.low)} to {_points(gain.high)}"
    return f"{_points(gain.gain)} ({ends})"


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"
