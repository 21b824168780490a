"""The workflow_rl pipeline: a policy learns to write workflows, which an executor model runs beside it."""

from typing import Any

from kfp import dsl

from components.data.component import prepare_data
from components.deploy_judge.component import deploy_judge
from components.probe_judge.component import probe_judge
from components.resolve.component import resolve
from components.teardown_judge.component import teardown_judge
from pipelines.placing import Placing
from pipelines.task_graph import train_and_test

NAME = "workflow-rl"


def workflow_rl(placing: Placing) -> Any:
    """The graph as a KFP pipeline.

    Args:
        placing: sets on each task what it needs where it will run.
    """

    @dsl.pipeline(name=NAME, description="GRPO on workflows that an executor model runs: train, merge, test, report.")
    def graph(
        experiment: str,
        judge: str = "",
        seed: str = "",
        start_from: str = "",
        store: str = placing.store,
        code_version: str = placing.code_version,
    ) -> None:
        """GRPO on workflows that an executor model runs: train, merge, test, report.

        Args:
            experiment: YAML or JSON of an experiment with the part workflow, or a name in configs/experiments of the
                image.
            judge: a name in configs/judges, in place of the experiment's judge; empty keeps that. Nobody asks one
                where workflow.correctness is gold. The executor model stays the experiment's.
            seed: a number, in place of the experiment's seed; empty keeps that.
            start_from: s3:// URI of a model that training starts from, in place of the policy's; empty keeps that.
            store: root of the object store, as s3://bucket/prefix; empty takes the cluster's of the experiment.
            code_version: image digests or source hash; a new one makes KFP's own cache miss.
        """
        place = placing.place
        asked = {"experiment": experiment, "judge": judge, "seed": seed, "start_from": start_from}
        last = place(teardown_judge(**asked, store=store, code_version=code_version), "teardown-judge")
        with dsl.ExitHandler(last, name="with-executor"):
            found = place(resolve(**asked, store=store, code_version=code_version), "resolve")
            common = {
                "experiment": found.outputs["experiment"],
                "store": found.outputs["store"],
                "code_version": code_version,
            }
            data = place(prepare_data(**common), "prepare-data")
            up = place(deploy_judge(**common).after(data), "deploy-judge")
            # Training and scoring both execute workflows, and the model stays up until the end.
            train_and_test(place, common, data, place(probe_judge(**common).after(up), "probe-judge"))

    return graph
