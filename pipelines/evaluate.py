"""The evaluate pipeline: a checkpoint that lies anywhere answers the held-out prompts, and the judge scores it."""

from kfp import dsl

from components.checkpoint.component import import_model
from components.data.component import prepare_data
from components.deploy_judge.component import deploy_judge
from components.generate.component import generate
from components.generate_ifeval.component import generate_ifeval
from components.ifeval.component import ifeval as score_ifeval
from components.probe_judge.component import probe_judge
from components.score.component import score_generations
from components.teardown_judge.component import teardown_judge

NAME = "evaluate"


@dsl.pipeline(name=NAME, description="Merge a checkpoint, generate, score by the judge, and by IFEval if asked.")
def evaluate(
    experiment: str, store: str, code_version: str, checkpoint: str, base: bool = False, ifeval: bool = False
) -> None:
    """The graph.

    Args:
        experiment: the resolved experiment as JSON; its training settings are not used.
        store: root of the object store, as ``s3://bucket/prefix`` or ``file:///folder``.
        code_version: image digest or source hash; a new one makes KFP's own cache miss.
        checkpoint: URI of a checkpoint, a published training or model, or a Hugging Face folder.
        base: whether the policy before training answers the held-out prompts as well.
        ifeval: whether the experiment has ``evaluation.ifeval``.
    """
    common = {"experiment": experiment, "store": store, "code_version": code_version}
    last = teardown_judge(**common)
    last.set_caching_options(False)
    last.set_display_name("tear down the judge")
    with dsl.ExitHandler(last, name="with-judge"):
        # A checkpoint that is not whole is found out before anything is started for it.
        model = import_model(**common, checkpoint=checkpoint)
        # What lies under a URI may change; the step itself knows whether it did.
        model.set_caching_options(False)
        data = prepare_data(**common).after(model)
        answers = generate(**common, data=data.outputs["data"], model=model.outputs["model"], base=base)
        up = deploy_judge(**common).after(answers)
        up.set_caching_options(False)
        up.set_display_name("judge up")
        probed = probe_judge(**common).after(up)
        probed.set_caching_options(False)
        probed.set_display_name("probe the judge")
        score_generations(**common, data=data.outputs["data"], generations=answers.outputs["generations"]).after(probed)
        with dsl.If(ifeval == True, name="ifeval"):  # noqa: E712  (an expression of the graph)
            asked = generate_ifeval(**common, model=model.outputs["model"])
            score_ifeval(**common, generations=asked.outputs["generations"])
