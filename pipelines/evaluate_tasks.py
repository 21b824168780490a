"""The evaluate-tasks pipeline: a model or checkpoint that lies anywhere answers the test sets, and their own metrics
score it."""

from typing import Any

from kfp import dsl

from components.resolve.component import resolve
from components.score_tasks.component import score_tasks
from pipelines.placing import Placing
from pipelines.task_graph import answer_by_given

NAME = "evaluate-tasks"


def evaluate_tasks(placing: Placing) -> Any:
    """The graph as a KFP pipeline.

    Args:
        placing: sets on each task what it needs where it will run.
    """

    @dsl.pipeline(name=NAME, description="Merge a checkpoint, answer the test sets, score by their own metrics.")
    def graph(
        experiment: str,
        checkpoint: str,
        judge: str = "",
        seed: str = "",
        start_from: str = "",
        base: str = "",
        store: str = placing.store,
        code_version: str = placing.code_version,
    ) -> None:
        """Merge a checkpoint, answer the test sets, score by their own metrics. No judge is asked.

        Args:
            experiment: YAML or JSON of an experiment whose data is a mixture, or a name in configs/experiments of the
                image; its training settings are not used.
            checkpoint: URI of a checkpoint, a published training or model, or a Hugging Face folder.
            judge: a name in configs/judges; it changes no figure.
            seed: a number, in place of the experiment's seed; empty keeps that.
            start_from: s3:// URI of the model before training, in place of the policy's; empty keeps that.
            base: 1 to have the policy before training answer as well.
            store: root of the object store, as s3://bucket/prefix; empty takes the cluster's of the experiment.
            code_version: image digests or source hash; a new one makes KFP's own cache miss.
        """
        place = placing.place
        asked = {"experiment": experiment, "judge": judge, "seed": seed, "start_from": start_from}
        found = place(resolve(**asked, store=store, code_version=code_version, base=base), "resolve")
        common = {
            "experiment": found.outputs["experiment"],
            "store": found.outputs["store"],
            "code_version": code_version,
        }
        _, given = answer_by_given(place, common, checkpoint=checkpoint, base=found.outputs["base"])
        place(score_tasks(**common, **given), "score-tasks")

    return graph
