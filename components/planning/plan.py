"""The plan of one or more experiments that run at the same time."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.core.spec.cluster import ClusterSpec
from components.core.spec.judge import JudgeSpec
from components.core.spec.kubernetes import KubernetesSpec, PoolSpec
from components.core.spec.places import Mark
from components.core.spec.problems import Problem
from components.planning import refusals
from components.planning.assumptions import Assumptions
from components.planning.memory import Need, judge_need, policy_needs
from components.planning.nodes import Pod, answering_pod, judge_pods, training_pods
from components.planning.pace import Hours, hours_of
from components.planning.tokens import JudgeWork, work_of
from components.planning.workflows import executor_work

if TYPE_CHECKING:
    from components.core.spec import Experiment


@dataclasses.dataclass(frozen=True, slots=True)
class RunPlan:
    """One experiment.

    Attributes:
        experiment: what is run.
        work: what each judge is asked, and the executor model of workflows.
        hours: the time on GPUs; None where nothing comparable was measured.
        needs: memory of its GPUs.
        pods: of its training; none on a local cluster.
        answering: the pod of its generation, which comes after the training; None on a local cluster.
        pool: nodes of the training; None on a local cluster.
    """

    experiment: "Experiment"
    work: list[JudgeWork]
    hours: Hours | None
    needs: list[Need]
    pods: list[Pod]
    answering: Pod | None
    pool: PoolSpec | None

    @property
    def gpu_seconds(self) -> float | None:
        """GPUs of training and generation times their seconds, without what is not known."""
        if self.hours is None:
            return None
        cluster = self.experiment.cluster
        training = self.hours.training + (self.hours.judging or 0.0)
        return training * cluster.gpus + self.hours.generation * cluster.tensor_parallel


@dataclasses.dataclass(frozen=True, slots=True)
class JudgePlan:
    """One judge that is deployed, shared by the experiments that name it.

    Attributes:
        cluster: name of the one that it is deployed on.
        judge: which.
        pods: of all its copies.
        need: memory of one of its GPUs; None without GPUs or where its size is not known.
        pool: its nodes.
        seconds: how long it is kept: as long as the longest of its runs; None where that is not known.
    """

    cluster: str
    judge: JudgeSpec
    pods: list[Pod]
    need: Need | None
    pool: PoolSpec | None
    seconds: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """All experiments together.

    Attributes:
        runs: one each.
        judges: those that are deployed on a cluster.
        problems: why it cannot work; empty when nothing is known against it.
        assumed: what the figures rest on.
    """

    runs: list[RunPlan]
    judges: list[JudgePlan]
    problems: list[Problem]
    assumed: Assumptions


def make_plan(experiments: Sequence["Experiment"], assumed: Assumptions, *, queued: bool = False) -> Plan:
    """What the experiments ask for when they run at the same time; looks at nothing but their specification.

    Args:
        experiments: to run.
        assumed: what the figures rest on.
        queued: trainings may wait for one another, as the arms of a study do; their judges are all up meanwhile.
    """
    runs = [_run(experiment, assumed) for experiment in experiments]
    judges = _judges(runs)
    asking = [experiment for experiment in experiments if experiment.served()]
    problems = [*refusals.differing_judges(asking), *refusals.shared_keys(asking), *_same_cluster(runs)]
    for run in runs:
        problems += refusals.too_large(run.needs, run.experiment)
        for work in run.work:
            problems += refusals.over_budget(work, run.experiment)
    for plan in judges:
        if plan.need is not None:
            first = next(run.experiment for run in runs if plan.judge in run.experiment.served())
            problems += refusals.too_large([plan.need], first)
    for name, cluster in clusters(runs).items():
        if cluster.kubernetes is not None:
            here = [run for run in runs if run.experiment.cluster.name == name]
            kept = [pod for plan in judges if plan.cluster == name for pod in plan.pods]
            trainings = [run.pods for run in here] if queued else [[pod for run in here for pod in run.pods]]
            # Generation of one run may wait for that of another, but not for the judges.
            answering = [[run.answering] for run in here if run.answering is not None]
            for pods in (*trainings, *answering):
                found = list(refusals.too_many_pods([*pods, *kept], cluster.kubernetes, name))
                problems += found
                if found:
                    break
    return Plan(runs, judges, problems, assumed)


def clusters(runs: Sequence[RunPlan]) -> dict[str, ClusterSpec]:
    """The clusters by name."""
    found: dict[str, ClusterSpec] = {}
    for run in runs:
        found.setdefault(run.experiment.cluster.name, run.experiment.cluster)
    return found


def _run(experiment: "Experiment", assumed: Assumptions) -> RunPlan:
    cluster = experiment.cluster
    kubernetes = cluster.kubernetes
    pool = kubernetes.pool(kubernetes.training_pool) if kubernetes is not None else None
    work = [work_of(experiment, judge, assumed) for judge in _asked(experiment)]
    executor = executor_work(experiment, assumed)
    work += [] if executor is None else [executor]
    needs = (
        policy_needs(experiment, pool.gpu_memory_gib if pool is not None else None)
        if cluster.accelerator == "gpu"
        else []
    )
    pods = training_pods(experiment, kubernetes) if kubernetes is not None else []
    answering = answering_pod(experiment, kubernetes) if kubernetes is not None else None
    return RunPlan(experiment, work, hours_of(experiment, work, pool), needs, pods, answering, pool)


def _asked(experiment: "Experiment") -> Sequence[JudgeSpec]:
    return experiment.judges() if experiment.asks_judge else ()


def _judges(runs: Sequence[RunPlan]) -> list[JudgePlan]:
    found: dict[tuple[str, str], JudgePlan] = {}
    for run in runs:
        kubernetes = run.experiment.cluster.kubernetes
        for judge in run.experiment.served():
            if judge.serving == "kserve" and kubernetes is not None:
                key = (run.experiment.cluster.name, judge.name)
                former = found.get(key)
                found[key] = _judge(former.judge if former else judge, kubernetes, run, former)
    return list(found.values())


def _judge(judge: JudgeSpec, kubernetes: KubernetesSpec, run: RunPlan, former: JudgePlan | None) -> JudgePlan:
    pool = kubernetes.pool(judge.deployment.pool)
    need = judge_need(judge, pool.gpu_memory_gib if pool is not None else None)
    seconds = run.hours.known if run.hours is not None else None
    if former is not None:
        seconds = None if seconds is None or former.seconds is None else max(seconds, former.seconds)
    return JudgePlan(run.experiment.cluster.name, judge, judge_pods(judge, kubernetes), need, pool, seconds)


def _same_cluster(runs: Sequence[RunPlan]) -> list[Problem]:
    """One name with two descriptions of its nodes would make every sum over them wrong."""
    found = []
    known = clusters(runs)
    for run in runs:
        cluster = run.experiment.cluster
        if cluster.kubernetes != known[cluster.name].kubernetes:
            found.append(
                Problem(
                    "cluster.kubernetes",
                    f"cluster {cluster.name} of {run.experiment.name} is described otherwise than that of another run",
                    Mark(f"experiment {run.experiment.name}"),
                    "give both the same cluster, or another cluster.name to plan them apart",
                )
            )
    return found
