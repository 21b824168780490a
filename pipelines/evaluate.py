"""The evaluate pipeline: a checkpoint that lies anywhere answers the held-out prompts, and the judge scores it."""

from typing import Any

from kfp import dsl

from components.checkpoint.component import import_model
from components.data.component import prepare_data
from components.deploy_judge.component import deploy_judge
from components.generate.component import generate
from components.generate_ifeval.component import generate_ifeval
from components.ifeval.component import ifeval as score_ifeval
from components.probe_judge.component import probe_judge
from components.resolve.component import resolve
from components.score.component import score_generations
from components.teardown_judge.component import teardown_judge
from pipelines.placing import Placing

NAME = "evaluate"


def evaluate(placing: Placing) -> Any:
    """The graph as a KFP pipeline.

    Args:
        placing: sets on each task what it needs where it will run.
    """

    @dsl.pipeline(name=NAME, description="Merge a checkpoint, generate, score by the judge, and by IFEval if asked.")
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
        """Merge a checkpoint, generate, score by the judge, and by IFEval if asked.

        Args:
            experiment: YAML or JSON of an experiment, or a name in configs/experiments of the image; its training
                settings are not used.
            checkpoint: URI of a checkpoint, a published training or model, or a Hugging Face folder.
            judge: a name in configs/judges, in place of the experiment's judge; empty keeps that.
            seed: a number, in place of the experiment's seed; empty keeps that.
            start_from: s3:// URI of the model before training, in place of the policy's; empty keeps that.
            base: 1 to have the policy before training answer the held-out prompts as well.
            store: root of the object store, as s3://bucket/prefix; empty takes the cluster's of the experiment.
            code_version: image digests or source hash; a new one makes KFP's own cache miss.
        """
        place = placing.place
        asked = {"experiment": experiment, "judge": judge, "seed": seed, "start_from": start_from}
        last = place(teardown_judge(**asked, store=store, code_version=code_version), "teardown-judge")
        with dsl.ExitHandler(last, name="with-judge"):
            found = place(resolve(**asked, store=store, code_version=code_version, base=base), "resolve")
            common = {
                "experiment": found.outputs["experiment"],
                "store": found.outputs["store"],
                "code_version": code_version,
            }
            # A checkpoint that is not whole is found out before anything is started for it. What lies under a URI may
            # change; the step itself knows whether it did.
            model = place(import_model(**common, checkpoint=checkpoint), "import-model")
            data = place(prepare_data(**common).after(model), "prepare-data")
            answers = place(
                generate(
                    **common,
                    data=data.outputs["data"],
                    model=model.outputs["model"],
                    base=found.outputs["base"],
                ),
                "generate",
            )
            up = place(deploy_judge(**common).after(answers), "deploy-judge")
            probed = place(probe_judge(**common).after(up), "probe-judge")
            given = {"data": data.outputs["data"], "generations": answers.outputs["generations"]}
            place(score_generations(**common, **given).after(probed), "score")
            with dsl.If(found.outputs["ifeval"] == True, name="ifeval"):  # noqa: E712  (an expression of the graph)
                asked_ifeval = place(generate_ifeval(**common, model=model.outputs["model"]), "generate-ifeval")
                place(score_ifeval(**common, generations=asked_ifeval.outputs["generations"]), "ifeval")

    return graph
