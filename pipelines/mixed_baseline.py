"""The mixed_baseline pipeline: train on a mixture of tasks whose answers are known, and score the official tests."""

from typing import Any

from kfp import dsl

from components.data.component import prepare_data
from components.deploy_judge.component import deploy_judge
from components.probe_judge.component import probe_judge
from components.resolve.component import resolve
from components.teardown_judge.component import teardown_judge
from pipelines.placing import Placing
from pipelines.task_graph import train_and_test

NAME = "mixed-baseline"


def mixed_baseline(placing: Placing) -> Any:
    """The graph as a KFP pipeline.

    Args:
        placing: sets on each task what it needs where it will run.
    """

    @dsl.pipeline(name=NAME, description="GRPO on a mixture of math, questions and code: train, merge, test, report.")
    def graph(
        experiment: str,
        judge: str = "",
        seed: str = "",
        start_from: str = "",
        store: str = placing.store,
        code_version: str = placing.code_version,
    ) -> None:
        """GRPO on a mixture of math, questions and code: train, merge, test, report.

        Args:
            experiment: YAML or JSON of an experiment whose data is a mixture, or a name in configs/experiments of the
                image.
            judge: a name in configs/judges, in place of the experiment's judge; empty keeps that. Nobody is asked
                where the reward is made of rules alone.
            seed: a number, in place of the experiment's seed; empty keeps that.
            start_from: s3:// URI of a model that training starts from, in place of the policy's; empty keeps that.
            store: root of the object store, as s3://bucket/prefix; empty takes the cluster's of the experiment.
            code_version: image digests or source hash; a new one makes KFP's own cache miss.
        """
        place = placing.place
        asked = {"experiment": experiment, "judge": judge, "seed": seed, "start_from": start_from}
        # An exit task stands outside of every condition; without a judge it finds nothing to end.
        last = place(teardown_judge(**asked, store=store, code_version=code_version), "teardown-judge")
        with dsl.ExitHandler(last, name="with-judge"):
            found = place(resolve(**asked, store=store, code_version=code_version), "resolve")
            common = {
                "experiment": found.outputs["experiment"],
                "store": found.outputs["store"],
                "code_version": code_version,
            }
            data = place(prepare_data(**common), "prepare-data")

            # What a condition made, nothing outside of it may wait for; so either branch has the rest of the graph.
            with dsl.If(found.outputs["judged"] == True, name="judged"):  # noqa: E712  (an expression of the graph)
                up = place(deploy_judge(**common).after(data), "deploy-judge")
                train_and_test(place, common, data, place(probe_judge(**common).after(up), "probe-judge"))
            with dsl.Else(name="rules-alone"):
                train_and_test(place, common, data)

    return graph
