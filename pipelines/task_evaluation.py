"""Testing one model or checkpoint on the task sets on this machine, and its figures."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from components.checkpoint.given import find
from components.core.manifest import MANIFEST_NAME, Manifest
from components.core.progress import Progress
from components.core.services.state import state_folder
from components.core.spec import Experiment
from components.models.materialize import cache_folder, materialize
from components.tasks.results import FILE, table
from pipelines.graphs import TASKS
from pipelines.local import check_prepared, run_graph

GIVEN: Final = "model"
"""What the model that was asked for is called: nothing is known of a training."""


def given_names(results: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The figures by the names that readers see. In the steps' tables the given model is ``trained``, so that answers
    and scores of a training's own test are found again."""
    names = {name: GIVEN if name == "trained" else name for name in results}
    return {names[name]: {**result, "model": names[name]} for name, result in results.items()}


def evaluate_tasks_locally(experiment: Experiment, checkpoint: str, *, base: bool, skip_data: bool) -> tuple[str, Path]:
    """Run ``evaluate_tasks`` here.

    Args:
        experiment: with the mixture and the settings of its tests.
        checkpoint: a path, ``file://`` or ``s3://``; see :func:`components.checkpoint.locate.locate`; empty tests the
            experiment's policy itself.
        base: whether the policy before training answers as well.
        skip_data: the data must have been prepared before.

    Returns:
        The figures as a table, and the path of the same as JSON.

    Raises:
        GavelError: see :func:`pipelines.local.run_graph`; a checkpoint of this machine that is not whole is told before
            anything starts.
    """
    if not checkpoint:
        checkpoint = str(materialize(experiment.policy.source, cache_folder(state_folder())).absolute())
    elif not checkpoint.startswith("s3://"):
        checkpoint = str(find(checkpoint, Progress("mixed-eval")).folder)

    def launch(store: str) -> None:
        from pipelines.evaluate_tasks import evaluate_tasks
        from pipelines.placing import Placing

        if skip_data:
            check_prepared(experiment, store)
        text = experiment.to_json()
        evaluate_tasks(Placing())(experiment=text, store=store, checkpoint=checkpoint, base="1" if base else "")

    models = ("base", "trained") if base else ("trained",)
    with run_graph(experiment, ("import-model", "prepare-data", *TASKS), launch) as ran:
        results: dict[str, Any] = {name: json.loads(ran.read("score-tasks", f"{name}/{FILE}")) for name in models}
        model = Manifest.model_validate_json(ran.read("import-model", MANIFEST_NAME))
    results = given_names(results)
    # The figures of the model that was asked for stand at the top, as readers of the former system's files look for
    # them there.
    found = {
        "policy": experiment.policy.name,
        "checkpoint": {"path": checkpoint, "sha256": model.sha256},
        "digest": experiment.digest(),
        **results[GIVEN],
        **({"base": results["base"]} if base else {}),
    }
    target = ran.state / "reports" / f"{experiment.name}-eval" / FILE
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    text = "\n\n".join(f"{name}\n{table(result)}" for name, result in results.items())
    return text, target
