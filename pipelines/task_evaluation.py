"""Testing one model or checkpoint on the task sets on this machine, and its figures."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from components.checkpoint.given import find
from components.core.manifest import MANIFEST_NAME, Manifest
from components.core.progress import Progress
from components.core.services.state import state_folder
from components.core.spec import Experiment
from components.generate_tasks.baselines import BASELINES
from components.models.materialize import cache_folder, materialize
from components.report.tasks.models import Model, read_models
from components.tasks.results import COMPARISONS, FILE, table
from components.workflow.log_name import TABLE
from pipelines.graphs import evaluating_graph, evaluation_steps_of, graph_named
from pipelines.local import Ran, check_placement, check_prepared, run_graph
from pipelines.workflow_table import accuracy_table, workflow_counts, workflow_table

GIVEN: Final = "model"
"""What the model that was asked for is called: nothing is known of a training."""


def given_names(results: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The figures by the names that readers see. In the steps' tables the given model is ``trained``, so that answers
    and scores of a training's own test are found again."""
    names = {name: GIVEN if name == "trained" else name for name in results}
    return {names[name]: {**result, "model": names[name]} for name, result in results.items()}


def evaluate_tasks_locally(experiment: Experiment, checkpoint: str, *, base: bool, skip_data: bool) -> tuple[str, Path]:
    """Run ``evaluate_tasks`` here, or ``evaluate_workflows`` where the answers are workflows.

    Args:
        experiment: with the mixture and the settings of its tests.
        checkpoint: a path, ``file://`` or ``s3://``; see :func:`components.checkpoint.locate.locate`; empty tests the
            experiment's policy itself.
        base: whether the policy before training answers as well.
        skip_data: the data must have been prepared before.

    Returns:
        The figures as tables, of workflows those of the baselines too, and the path of the same as JSON.

    Raises:
        GavelError: see :func:`pipelines.local.run_graph`; a checkpoint of this machine that is not whole is told before
            anything starts.
    """
    # Before a model is fetched for it.
    check_placement(experiment)
    if not checkpoint:
        checkpoint = str(materialize(experiment.policy.source, cache_folder(state_folder())).absolute())
    elif not checkpoint.startswith("s3://"):
        checkpoint = str(find(checkpoint, Progress("mixed-eval")).folder)

    def launch(store: str) -> None:
        from pipelines.placing import Placing

        if skip_data:
            check_prepared(experiment, store)
        graph = graph_named(evaluating_graph(experiment))(Placing())
        graph(experiment=experiment.to_json(), store=store, checkpoint=checkpoint, base="1" if base else "")

    models = ("base", "trained") if base else ("trained",)
    writers = models if experiment.workflow is None else (*models, *BASELINES)
    with run_graph(experiment, evaluation_steps_of(experiment), launch) as ran:
        results: dict[str, Any] = {name: json.loads(ran.read("score-tasks", f"{name}/{FILE}")) for name in writers}
        model = Manifest.model_validate_json(ran.read("import-model", MANIFEST_NAME))
        workflows = [] if experiment.workflow is None else _workflows(ran, writers)
        compared = {} if experiment.workflow is None else json.loads(ran.read("score-tasks", COMPARISONS))
    results = given_names(results)
    others = {name: result for name, result in results.items() if name in BASELINES}
    # The figures of the model that was asked for stand at the top, as readers of the former system's files look for
    # them there.
    found = {
        "policy": experiment.policy.name,
        "checkpoint": {"path": checkpoint, "sha256": model.sha256},
        "digest": experiment.digest(),
        **results[GIVEN],
        **({"base": results["base"]} if base else {}),
    }
    # Those of baselines stand in the JSON alone, beside which their accuracies are shown side by side.
    texts = [f"{name}\n{table(result)}" for name, result in results.items() if name not in others]
    if experiment.workflow is not None:
        found |= {
            "executor": experiment.workflow.executor.name,
            "baselines": others,
            "workflows": workflow_counts(workflows, given=GIVEN),
            "comparisons": compared,
        }
        texts.append(accuracy_table(results))
        texts.append(workflow_table(workflows, given=GIVEN))
    target = ran.state / "reports" / f"{experiment.name}-eval" / FILE
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return "\n\n".join(texts), target


def _workflows(ran: Ran, writers: Sequence[str]) -> list[Model]:
    """What became of each writer's workflows."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("scores.parquet", TABLE, COMPARISONS, *(f"{writer}/{FILE}" for writer in writers)):
            path = Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(ran.read("score-tasks", name))
        return read_models(Path(folder))
