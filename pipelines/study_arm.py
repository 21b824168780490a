"""One arm of a study: the graph of judged-grpo, with looks at the policy while it trains."""

from typing import Any

from kfp import dsl

from components.checkpoint.component import merge_checkpoint
from components.data.component import prepare_data
from components.deploy_judge.component import deploy_judge
from components.generate.component import generate
from components.generate_drift.component import generate_drift
from components.probe_judge.component import probe_judge
from components.report.component import report
from components.score.component import score, score_stored
from components.study_arm.component import record_arm, resolve_arm
from components.teardown_judge.component import teardown_judge
from components.train.component import train_grpo
from pipelines.placing import Placing

NAME = "study-arm"
STEPS = (
    *("resolve-arm", "prepare-data", "deploy-judge", "probe-judge", "train-grpo", "merge-checkpoint"),
    *("generate", "score", "report", "generate-drift", "score-stored", "record-arm"),
)


def arm_tasks(placing: Placing, **asked: Any) -> None:
    """Add the tasks of one arm to the graph that is being made.

    Args:
        placing: sets on each task what it needs where it will run.
        asked: ``study``, ``arm``, ``store`` and ``code_version``.
    """
    place = placing.place
    found = place(resolve_arm(**asked), "resolve-arm")
    common = {
        "experiment": found.outputs["experiment"],
        "store": found.outputs["store"],
        "code_version": asked["code_version"],
    }
    data = place(prepare_data(**common), "prepare-data")
    up = place(deploy_judge(**common).after(data), "deploy-judge")
    probed = place(probe_judge(**common).after(up), "probe-judge")
    trained = place(train_grpo(**common, data=data.outputs["data"]).after(probed), "train-grpo")
    merged = place(merge_checkpoint(**common, training=trained.outputs["training"]), "merge-checkpoint")
    answers = place(generate(**common, data=data.outputs["data"], model=merged.outputs["model"]), "generate")
    evidence = {
        "data": data.outputs["data"],
        "training": trained.outputs["training"],
        "generations": answers.outputs["generations"],
    }
    scored = place(score(**common, **evidence), "score")
    evidence["scores"] = scored.outputs["scores"]
    place(report(**common, **evidence), "report")
    with dsl.If(found.outputs["drift"] == True, name="drift"):  # noqa: E712  (an expression of the graph)
        looks = place(
            generate_drift(**common, data=data.outputs["data"], training=trained.outputs["training"]), "generate-drift"
        )
        looked = place(
            score_stored(**common, data=data.outputs["data"], generations=looks.outputs["generations"]), "score-stored"
        )
        more = {"drift": looks.outputs["generations"], "drift_scores": looked.outputs["scores"]}
        place(record_arm(**asked, **evidence, **more), "record-arm")
    with dsl.Else(name="no-drift"):
        place(record_arm(**asked, **evidence), "record-arm")


def study_arm(placing: Placing) -> Any:
    """The graph of one arm as a KFP pipeline of its own.

    Args:
        placing: sets on each task what it needs where it will run.
    """

    @dsl.pipeline(name=NAME, description="One arm of a bias study: train, answer, score, and look on while it trains.")
    def graph(
        study: str,
        arm: str,
        experiment: str,
        store: str = placing.store,
        code_version: str = placing.code_version,
    ) -> None:
        """One arm of a bias study: train, answer, score, and look on while it trains.

        Args:
            study: YAML or JSON of a study, or a name in configs/studies of the image.
            arm: name of the arm.
            experiment: the arm's experiment as JSON, by which its judge is ended.
            store: root of the object store, as s3://bucket/prefix; empty takes the cluster's of the experiment.
            code_version: image digests or source hash; a new one makes KFP's own cache miss.
        """
        own = {"experiment": experiment, "judge": "", "seed": "", "start_from": ""}
        last = placing.place(teardown_judge(**own, store=store, code_version=code_version), "teardown-judge")
        with dsl.ExitHandler(last, name="with-judge"):
            arm_tasks(placing, study=study, arm=arm, store=store, code_version=code_version)

    return graph
