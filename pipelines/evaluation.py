"""Evaluating one checkpoint on this machine, and its figures."""

import json
from pathlib import Path
from typing import Any

from components.checkpoint.given import find
from components.core.errors import ConfigError
from components.core.manifest import MANIFEST_NAME, Manifest
from components.core.progress import Progress
from components.core.spec import Experiment
from components.score.ifeval.output import table as ifeval_table
from components.score.summary import table
from pipelines.graphs import IFEVAL
from pipelines.local import run_graph


def evaluate_locally(experiment: Experiment, checkpoint: str, *, base: bool) -> tuple[str, Path]:
    """Run ``evaluate`` here.

    Args:
        experiment: with held-out prompts, judge and settings of generation.
        checkpoint: a path, ``file://`` or ``s3://``; see :func:`components.checkpoint.locate.locate`.
        base: whether the policy before training answers as well.

    Returns:
        The figures as a table, and the path of the same as JSON.

    Raises:
        ConfigError: no checkpoint is named.
        GavelError: see :func:`pipelines.local.run_graph`; a checkpoint of this machine that is not whole is told before
            anything starts.
    """
    if not checkpoint:
        raise ConfigError("no checkpoint is named", remedy="make eval CHECKPOINT=FOLDER, or a file:// or s3:// URL")
    if not checkpoint.startswith("s3://"):
        checkpoint = str(find(checkpoint, Progress("eval")).folder)
    asked = experiment.evaluation.ifeval
    ifeval = asked is not None

    def launch(store: str) -> None:
        from pipelines.evaluate import evaluate
        from pipelines.placing import Placing

        text = experiment.to_json()
        evaluate(Placing())(experiment=text, store=store, checkpoint=checkpoint, base="1" if base else "")

    steps = ("import-model", "prepare-data", "generate", "deploy-judge", "probe-judge", "score")
    models = ("base", "trained") if asked is not None and asked.base else ("trained",)
    with run_graph(experiment, (*steps, *(IFEVAL if ifeval else ()), "teardown-judge"), launch) as ran:
        scored: dict[str, Any] = json.loads(ran.read("score", "summary.json"))
        model = Manifest.model_validate_json(ran.read("import-model", MANIFEST_NAME))
        followed = {name: json.loads(ran.read("ifeval", f"{name}/summary.json")) for name in models if ifeval}
    found = {
        "policy": experiment.policy.name,
        "checkpoint": {"path": checkpoint, "sha256": model.sha256},
        "constraints": experiment.data.constraints if experiment.data.kind == "verif_rows" else None,
        "digest": experiment.digest(),
        **scored,
    }
    text = table(found)
    if ifeval:
        found["ifeval"] = followed
        for name, summary in followed.items():
            text += f"\n\nIFEval, {name}\n{ifeval_table(summary)}"
    target = ran.state / "reports" / f"{experiment.name}-eval" / "summary.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return text, target
