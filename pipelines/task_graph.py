"""What the graphs that train on a mixture share: train, merge, answer the test sets, score, report."""

from collections.abc import Callable, Mapping
from typing import Any

from components.checkpoint.component import merge_checkpoint
from components.generate_tasks.component import generate_tasks
from components.report.component import report_tasks
from components.score_tasks.component import score_tasks
from components.train.component import train_grpo


def train_and_test(place: Callable[..., Any], common: Mapping[str, Any], data: Any, *after: Any) -> None:
    """Add the tasks from train-grpo on.

    Args:
        place: of the graph's placing.
        common: the arguments that every step takes.
        data: the task prepare-data.
        after: tasks that are to be over before.
    """
    given = {"data": data.outputs["data"]}
    trained = place(train_grpo(**common, **given).after(*after), "train-grpo")
    merged = place(merge_checkpoint(**common, training=trained.outputs["training"]), "merge-checkpoint")
    answers = place(generate_tasks(**common, **given, model=merged.outputs["model"]), "generate-tasks")
    given["generations"] = answers.outputs["generations"]
    scored = place(score_tasks(**common, **given), "score-tasks")
    evidence = {"training": trained.outputs["training"], "scores": scored.outputs["scores"]}
    place(report_tasks(**common, **given, **evidence), "report")
