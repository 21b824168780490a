"""The evaluate-workflows pipeline: a model or checkpoint that lies anywhere writes workflows for the test sets, an
executor model runs them, and the sets' own metrics score what they answer."""

from typing import Any

from kfp import dsl

from components.deploy_judge.component import deploy_judge
from components.probe_judge.component import probe_judge
from components.resolve.component import resolve
from components.score_tasks.component import score_tasks
from components.teardown_judge.component import teardown_judge
from pipelines.placing import Placing
from pipelines.task_graph import answer_by_given

NAME = "evaluate-workflows"


def evaluate_workflows(placing: Placing) -> Any:
    """The graph as a KFP pipeline.

    Args:
        placing: sets on each task what it needs where it will run.
    """

    @dsl.pipeline(name=NAME, description="Merge a checkpoint, have it write workflows, run them, score their answers.")
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
        """Merge a checkpoint, have it write workflows, run them beside the baselines', score their answers.

        Args:
            experiment: YAML or JSON of an experiment with the part workflow, or a name in configs/experiments of the
                image; its training settings are not used.
            checkpoint: URI of a checkpoint, a published training or model, or a Hugging Face folder.
            judge: a name in configs/judges, in place of the experiment's judge; it changes no figure, since tests are
                scored by their own metrics. The executor model stays the experiment's.
            seed: a number, in place of the experiment's seed; empty keeps that.
            start_from: s3:// URI of the model before training, in place of the policy's; empty keeps that.
            base: 1 to have the policy before training write workflows as well.
            store: root of the object store, as s3://bucket/prefix; empty takes the cluster's of the experiment.
            code_version: image digests or source hash; a new one makes KFP's own cache miss.
        """
        place = placing.place
        asked = {"experiment": experiment, "judge": judge, "seed": seed, "start_from": start_from}
        last = place(teardown_judge(**asked, store=store, code_version=code_version), "teardown-judge")
        with dsl.ExitHandler(last, name="with-executor"):
            found = place(resolve(**asked, store=store, code_version=code_version, base=base), "resolve")
            common = {
                "experiment": found.outputs["experiment"],
                "store": found.outputs["store"],
                "code_version": code_version,
            }
            answers, given = answer_by_given(place, common, checkpoint=checkpoint, base=found.outputs["base"])
            # Writing asks nobody: until all workflows are written, the executor model would only hold its GPUs.
            up = place(deploy_judge(**common).after(answers), "deploy-judge")
            probed = place(probe_judge(**common).after(up), "probe-judge")
            place(score_tasks(**common, **given).after(probed), "score-tasks")

    return graph
