"""The graphs by name, which one an experiment takes, and the steps of each."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from pipelines.placing import Placing

if TYPE_CHECKING:
    from components.core.spec import Experiment

JUDGED: Final = "judged-grpo"
EVALUATE: Final = "evaluate"
MIXED: Final = "mixed-baseline"
EVALUATE_TASKS: Final = "evaluate-tasks"
WORKFLOW: Final = "workflow-rl"
EVALUATE_WORKFLOWS: Final = "evaluate-workflows"
STUDY: Final = "judge-study"
NAMES: Final = (JUDGED, EVALUATE, MIXED, EVALUATE_TASKS, WORKFLOW, EVALUATE_WORKFLOWS, STUDY)

IFEVAL: Final = ("generate-ifeval", "ifeval")
TASKS: Final = ("generate-tasks", "score-tasks")
_JUDGE_UP: Final = ("deploy-judge", "probe-judge")


def graph_named(name: str) -> Callable[[Placing], Any]:
    """The function that makes the graph; KFP is imported for the one that is asked for alone.

    Args:
        name: one of :data:`NAMES`.
    """
    if name == JUDGED:
        from pipelines.judged_grpo import judged_grpo

        return judged_grpo
    if name == EVALUATE:
        from pipelines.evaluate import evaluate

        return evaluate
    if name == MIXED:
        from pipelines.mixed_baseline import mixed_baseline

        return mixed_baseline
    if name == WORKFLOW:
        from pipelines.workflow_rl import workflow_rl

        return workflow_rl
    if name == EVALUATE_WORKFLOWS:
        from pipelines.evaluate_workflows import evaluate_workflows

        return evaluate_workflows
    if name == STUDY:
        from pipelines.judge_study import judge_study

        return judge_study
    from pipelines.evaluate_tasks import evaluate_tasks

    return evaluate_tasks


def training_graph(experiment: "Experiment") -> str:
    """Which graph trains this experiment: a mixture has one of its own, and workflows have."""
    if experiment.workflow is not None:
        return WORKFLOW
    return MIXED if experiment.data.kind == "mixture" else JUDGED


def evaluating_graph(experiment: "Experiment") -> str:
    """Which graph evaluates a checkpoint by this experiment: task sets have metrics of their own, and workflows are
    executed before."""
    if experiment.workflow is not None:
        return EVALUATE_WORKFLOWS
    return EVALUATE_TASKS if experiment.data.kind == "mixture" else EVALUATE


def steps_of(experiment: "Experiment") -> tuple[str, ...]:
    """The steps of :func:`training_graph` for this experiment, in order."""
    judge, last = (_JUDGE_UP, ("teardown-judge",)) if experiment.served() else ((), ())
    training = ("prepare-data", *judge, "train-grpo", "merge-checkpoint")
    if training_graph(experiment) in (MIXED, WORKFLOW):
        return (*training, *TASKS, "report", *last)
    ifeval = IFEVAL if experiment.evaluation.ifeval is not None else ()
    return (*training, "generate", "score", *ifeval, "report", *last)


def evaluation_steps_of(experiment: "Experiment") -> tuple[str, ...]:
    """The steps of :func:`evaluating_graph` for an experiment on task sets, in order."""
    written = ("import-model", "prepare-data", "generate-tasks")
    if evaluating_graph(experiment) == EVALUATE_WORKFLOWS:
        return (*written, *_JUDGE_UP, "score-tasks", "teardown-judge")
    return (*written, "score-tasks")
