"""The judge_study pipeline: judges are probed, train policies side by side, score each other's, and a report tells."""

from typing import Any

from kfp import dsl

from components.collect_study.component import study_report
from components.cross_judge.component import cross_judge
from components.deploy_judge.component import deploy_judge
from components.probe_bias.component import probe_bias
from components.study_arm.component import resolve_arm, study_arms
from components.teardown_judge.component import teardown_study
from pipelines.placing import Placing
from pipelines.study_arm import arm_tasks

NAME = "judge-study"


def judge_study(placing: Placing) -> Any:
    """The graph as a KFP pipeline.

    Its judges stay up from the first probe to the last score, under one lease of the run, since arms share them: an
    arm that ended would otherwise take the judge from the others. How many arms train at once is for the queue to say.
    A failed arm fails its own tasks alone; what the others left is scored and reported.

    Args:
        placing: sets on each task what it needs where it will run.
    """

    probes, arms, crosses = _probes(placing), _arms(placing), _crosses(placing)

    @dsl.pipeline(name=NAME, description="A bias study: what judges are biased by, and what that does to policies.")
    def graph(
        study: str,
        store: str = placing.store,
        code_version: str = placing.code_version,
    ) -> None:
        """A bias study: what judges are biased by, and what that does to policies.

        Args:
            study: YAML or JSON of a study, or a name in configs/studies of the image.
            store: root of the object store, as s3://bucket/prefix; empty takes the cluster's of the experiment.
            code_version: image digests or source hash; a new one makes KFP's own cache miss.
        """
        place = placing.place
        last = place(teardown_study(study=study, store=store, code_version=code_version), "teardown-study")
        with dsl.ExitHandler(last, name="with-judges"):
            found = place(study_arms(study=study, store=store, code_version=code_version), "study-arms")
            common = {"study": study, "code_version": code_version, "store": found.outputs["store"]}
            probed = probes(**common, scorers=found.outputs["scorers"])
            trained = arms(**common, arms=found.outputs["arms"]).after(probed).ignore_upstream_failure()
            crossed = crosses(**common, scorers=found.outputs["scorers"]).after(trained).ignore_upstream_failure()
            own = {"study": study, "store": store, "code_version": code_version}
            place(study_report(**own).after(crossed).ignore_upstream_failure(), "study-report")

    return graph


# Loops are pipelines of their own, so that what follows can wait for all of them whether they failed or not. KFP takes
# no such wait for inputs without a default.


def _probes(placing: Placing) -> Any:
    @dsl.pipeline(name="study-probes", description="Probe every judge.")
    def probes(study: str, store: str, code_version: str, scorers: list) -> None:  # type: ignore[type-arg]
        # One after the other, so that a judge which several protocols share comes up once.
        with dsl.ParallelFor(scorers, name="judges", parallelism=1) as scorer:
            common = {"study": study, "store": store, "code_version": code_version}
            found = placing.place(resolve_arm(**common, arm=scorer), "resolve-arm")
            own = {"experiment": found.outputs["experiment"], "store": found.outputs["store"]}
            up = placing.place(deploy_judge(**own, code_version=code_version), "deploy-judge")
            placing.place(probe_bias(**common, scorer=scorer).after(up), "probe-bias")

    return probes


def _arms(placing: Placing) -> Any:
    @dsl.pipeline(name="study-arms-trained", description="Train every arm.")
    def trained(
        study: str = "",
        store: str = "",
        code_version: str = "",
        arms: list = [],  # type: ignore[type-arg]  # noqa: B006  (an expression of the graph)
    ) -> None:
        with dsl.ParallelFor(arms, name="arms") as arm:
            arm_tasks(placing, study=study, arm=arm, store=store, code_version=code_version)

    return trained


def _crosses(placing: Placing) -> Any:
    @dsl.pipeline(name="study-crosses", description="Score every policy by every judge.")
    def crosses(
        study: str = "",
        store: str = "",
        code_version: str = "",
        scorers: list = [],  # type: ignore[type-arg]  # noqa: B006  (an expression of the graph)
    ) -> None:
        with dsl.ParallelFor(scorers, name="judges") as scorer:
            common = {"study": study, "store": store, "code_version": code_version}
            placing.place(cross_judge(**common, scorer=scorer), "cross-judge")

    return crosses
