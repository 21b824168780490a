"""What the graphs on task sets share: training and testing on a mixture, and answers of a model that lies anywhere."""

from collections.abc import Callable, Mapping
from typing import Any

from components.checkpoint.component import import_model, merge_checkpoint
from components.data.component import prepare_data
from components.generate_tasks.component import generate_tasks, generate_tasks_of
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


def answer_by_given(
    place: Callable[..., Any], common: Mapping[str, Any], *, checkpoint: Any, base: Any
) -> tuple[Any, Mapping[str, Any]]:
    """Add the tasks that have a model or checkpoint answer the test sets.

    Args:
        place: of the graph's placing.
        common: the arguments that every step takes.
        checkpoint: URI of the model or checkpoint.
        base: whether the policy before training answers as well.

    Returns:
        The task generate-tasks, and what score-tasks takes beside ``common``.
    """
    # A checkpoint that is not whole is found out before anything is prepared for it.
    model = place(import_model(**common, checkpoint=checkpoint), "import-model")
    data = place(prepare_data(**common).after(model), "prepare-data")
    given = {"data": data.outputs["data"]}
    answers = place(
        generate_tasks_of(**common, **given, model=model.outputs["model"], base=base),
        "generate-tasks",
    )
    return answers, {**given, "generations": answers.outputs["generations"]}
