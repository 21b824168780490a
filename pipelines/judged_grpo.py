"""The judged_grpo pipeline: train a policy against a judge, and report what came of it."""

from typing import Any

from kfp import dsl

from components.checkpoint.component import merge_checkpoint
from components.data.component import prepare_data
from components.deploy_judge.component import deploy_judge
from components.generate.component import generate
from components.generate_ifeval.component import generate_ifeval
from components.ifeval.component import ifeval as score_ifeval
from components.probe_judge.component import probe_judge
from components.report.component import report
from components.resolve.component import resolve
from components.score.component import score
from components.teardown_judge.component import teardown_judge
from components.train.component import train_grpo
from pipelines.placing import Placing

NAME = "judged-grpo"


def judged_grpo(placing: Placing) -> Any:
    """The graph as a KFP pipeline.

    Args:
        placing: sets on each task what it needs where it will run.
    """

    @dsl.pipeline(name=NAME, description="GRPO against an LLM judge: train, merge, generate, score, report.")
    def graph(
        experiment: str,
        judge: str = "",
        seed: str = "",
        start_from: str = "",
        store: str = placing.store,
        code_version: str = placing.code_version,
    ) -> None:
        """GRPO against an LLM judge: train, merge, generate, score, report.

        Args:
            experiment: YAML or JSON of an experiment, or a name in configs/experiments of the image.
            judge: a name in configs/judges, in place of the experiment's judge; empty keeps that.
            seed: a number, in place of the experiment's seed; empty keeps that.
            start_from: s3:// URI of a model that training starts from, in place of the policy's; empty keeps that.
            store: root of the object store, as s3://bucket/prefix; empty takes the cluster's of the experiment.
            code_version: image digests or source hash; a new one makes KFP's own cache miss.
        """
        place = placing.place
        asked = {"experiment": experiment, "judge": judge, "seed": seed, "start_from": start_from}
        last = place(teardown_judge(**asked, store=store, code_version=code_version), "teardown-judge")
        with dsl.ExitHandler(last, name="with-judge"):
            found = place(resolve(**asked, store=store, code_version=code_version), "resolve")
            common = {
                "experiment": found.outputs["experiment"],
                "store": found.outputs["store"],
                "code_version": code_version,
            }
            data = place(prepare_data(**common), "prepare-data")
            # Data that cannot be prepared is found out in seconds, and no judge needs to be started for it.
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
            with dsl.If(found.outputs["ifeval"] == True, name="ifeval"):  # noqa: E712  (an expression of the graph)
                asked_ifeval = place(generate_ifeval(**common, model=merged.outputs["model"]), "generate-ifeval")
                checked = place(score_ifeval(**common, generations=asked_ifeval.outputs["generations"]), "ifeval")
                place(report(**common, **evidence, ifeval=checked.outputs["results"]), "report")
            with dsl.Else(name="no-ifeval"):
                place(report(**common, **evidence), "report")

    return graph
