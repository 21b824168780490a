"""The judged_grpo pipeline: train a policy against a judge, and report what came of it."""

from kfp import dsl

from components.checkpoint.component import merge_checkpoint
from components.data.component import prepare_data
from components.deploy_judge.component import deploy_judge
from components.generate.component import generate
from components.generate_ifeval.component import generate_ifeval
from components.ifeval.component import ifeval as score_ifeval
from components.probe_judge.component import probe_judge
from components.report.component import report
from components.score.component import score
from components.teardown_judge.component import teardown_judge
from components.train.component import train_grpo

NAME = "judged-grpo"


def _never_cached(task: dsl.PipelineTask, display_name: str) -> None:
    """For tasks that act on the world: a hit in KFP's cache would leave the judge undeployed, or running."""
    task.set_caching_options(False)
    task.set_display_name(display_name)


@dsl.pipeline(name=NAME, description="GRPO against an LLM judge: train, merge, generate, score, report.")
def judged_grpo(experiment: str, store: str, code_version: str, ifeval: bool = False) -> None:
    """The graph.

    Args:
        experiment: the resolved experiment as JSON (``python -m pipelines show --json EXPERIMENT``).
        store: root of the object store, as ``s3://bucket/prefix`` or ``file:///folder``.
        code_version: image digest or source hash; a new one makes KFP's own cache miss.
        ifeval: whether the experiment has ``evaluation.ifeval``; without it no step of IFEval is started.
    """
    common = {"experiment": experiment, "store": store, "code_version": code_version}
    last = teardown_judge(**common)
    _never_cached(last, "tear down the judge")
    with dsl.ExitHandler(last, name="with-judge"):
        data = prepare_data(**common)
        data.set_display_name("prepare data")
        # Data that cannot be prepared is found out in seconds, and no judge needs to be started for it.
        up = deploy_judge(**common).after(data)
        _never_cached(up, "judge up")
        probed = probe_judge(**common).after(up)
        _never_cached(probed, "probe the judge")
        trained = train_grpo(**common, data=data.outputs["data"]).after(probed)
        merged = merge_checkpoint(**common, training=trained.outputs["training"])
        answers = generate(**common, data=data.outputs["data"], model=merged.outputs["model"])
        scored = score(
            **common,
            data=data.outputs["data"],
            training=trained.outputs["training"],
            generations=answers.outputs["generations"],
        )
        evidence = {
            "data": data.outputs["data"],
            "training": trained.outputs["training"],
            "generations": answers.outputs["generations"],
            "scores": scored.outputs["scores"],
        }
        with dsl.If(ifeval == True, name="ifeval"):  # noqa: E712  (an expression of the graph)
            asked = generate_ifeval(**common, model=merged.outputs["model"])
            asked.set_display_name("answer IFEval")
            checked = score_ifeval(**common, generations=asked.outputs["generations"])
            report(**common, **evidence, ifeval=checked.outputs["results"])
        with dsl.Else(name="no-ifeval"):
            report(**common, **evidence)
