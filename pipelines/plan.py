"""The command plan: what experiments will ask for, in words, and a refusal of what cannot work."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from components.core.spec import Experiment, load_experiment
from components.core.spec.cluster import ClusterSpec
from components.core.spec.problems import config_error
from components.judge.kserve.sizing import start_seconds
from components.planning.assumptions import Assumptions
from components.planning.calls import canaries_of
from components.planning.memory import Need
from components.planning.nodes import Pod, gpus_text, placed
from components.planning.pace import assumed_text
from components.planning.pins import loose_models
from components.planning.plan import JudgePlan, Plan, RunPlan, clusters, make_plan
from components.planning.task_sets import answered, models_of
from components.planning.tokens import JudgeWork

_OVERRIDE: Final = re.compile(r"[a-z_]+(\.\w+)*=")
_UNKNOWN: Final = "unknown"


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Experiments, and overrides that each of them gets."""
    overrides = [argument for argument in arguments if _OVERRIDE.match(argument)]
    return [argument for argument in arguments if argument not in overrides], overrides


def plan_experiments(arguments: Sequence[str], assumed: Assumptions) -> None:
    """Print the plan of all experiments named.

    Raises:
        ConfigError: one of them is not valid, or they cannot work on their cluster; the plan is printed before.
    """
    names, overrides = split_arguments(arguments)
    plan = make_plan([load_experiment(name, overrides) for name in names], assumed)
    print("\n".join(lines_of(plan)))
    if plan.problems:
        raise config_error("the plan", plan.problems)


def lines_of(plan: Plan) -> list[str]:
    """The whole plan, line by line."""
    found: list[str] = []
    for run in plan.runs:
        found += [*_run(run), ""]
    for judge in plan.judges:
        found += [*_judge(judge), ""]
    for cluster in clusters(plan.runs).values():
        if cluster.kubernetes is not None:
            found += [*_cluster(cluster, plan), ""]
    return [*found, "assumed", *(f"  {line}" for line in assumed_text(plan.assumed))]


def _run(run: RunPlan) -> Iterable[str]:
    experiment = run.experiment
    training, cluster, data = experiment.training, experiment.cluster, experiment.data
    responses = training.steps * training.prompts_per_step * training.rollouts_per_prompt
    yield f"experiment {experiment.name} on cluster {cluster.name} ({cluster.placement}, {cluster.accelerator})"
    yield _line(
        "training",
        f"{training.steps} steps x {training.prompts_per_step} prompts x {training.rollouts_per_prompt} rollouts = "
        f"{responses:,} responses",
    )
    if (canaries := canaries_of(experiment)) and training.canaries is not None:
        told = f"{training.canaries.per_step} a step = {canaries:,} responses without content, judged beside them"
        yield _line("canaries", told)
    if data.mixture is None:
        samples = f"{data.heldout_rows} rows x {experiment.evaluation.samples} samples"
        yield _line("held out", f"{samples} x 2 models (before and after)")
    else:
        yield from _tests(experiment)
    yield from _place(run)
    for loose in loose_models(experiment):
        yield _line("note", loose)
    for need in run.needs:
        yield _line("memory", _need(need))
    for work in run.work:
        yield from _work(work)
    if not any(work.role == "judge" for work in run.work):
        yield _line("judge", "nobody is asked: rules decide")
        yield _line("  calls", "0")
    yield from _time(run)


def _tests(experiment: Experiment) -> Iterable[str]:
    found, models = answered(experiment), models_of(experiment)
    told = f"{found.tasks:,} tasks, {found.responses:,} responses of each of {models} model{'s' if models > 1 else ''}"
    yield _line("tests", f"{told}, by the official files' sizes")
    if found.unknown:
        yield _line("", f"only the files tell the rows of {', '.join(found.unknown)}; sums leave them out")


def _place(run: RunPlan) -> Iterable[str]:
    cluster = run.experiment.cluster
    if not run.pods:
        gpus = f"{gpus_text(cluster.gpus)}, " if cluster.gpus else ""
        yield _line("machine", f"{gpus}{cluster.memory_gib:g} GiB of memory, {cluster.disk_gib:g} GiB of disk free")
        return
    workers = [pod for pod in run.pods if pod == run.pods[0]]
    head = run.pods[len(workers)]
    yield _line("nodes", f"{len(workers)} x {_asked(workers[0])}, and a head with {_asked(head)}")
    if run.answering is not None and run.answering.gpus:
        where = (
            f"from queue {cluster.kubernetes.queue}" if run.answering.queued and cluster.kubernetes else "of one node"
        )
        yield _line("generation", f"{_asked(run.answering)} {where}, when the training's are free again")


def _work(work: JudgeWork) -> Iterable[str]:
    judge, expected = work.judge, work.expected
    yield _line(work.role, f"{judge.name} ({judge.serving})")
    scored = "tests with baselines" if work.role == "executor" else "held-out"
    parts = f"training {_count(work.training.calls)}, {scored} {_count(work.scoring.calls)}"
    yield _line("  calls", f"{_count(expected.calls)} expected ({parts}); at most {_count(work.most.calls)}")
    if expected.calls is None:
        yield _line("", "the rows bring their own criteria: say how many a row has, CRITERIA=5")
    read = f"{_count(expected.prompt)} read, {_count(expected.reply)} written"
    yield _line("  tokens", f"{_count(expected.tokens)} expected ({read}); at most {_count(work.most.tokens)}")
    cost = expected.cost(judge)
    if judge.price is None:
        served = {"external": f"{_UNKNOWN}: judge.price is not given", "kserve": "that of its pods, below"}
        yield _line("  cost", served.get(judge.serving, "this machine's"))
    else:
        most = work.most.cost(judge)
        yield _line("  cost", f"{_money(cost, judge.price.currency)} expected; at most {_money(most, '')}".rstrip())
    budget = {key: value for key, value in judge.budget.model_dump().items() if value is not None}
    if budget:
        yield _line("  budget", ", ".join(f"{key} {value:,}" for key, value in budget.items()))


def _time(run: RunPlan) -> Iterable[str]:
    hours = run.hours
    if hours is None:
        yield _line("time", f"{_UNKNOWN}: the measured run was on a GPU")
        yield _line("cost", _UNKNOWN)
        return
    parts = ", ".join(f"{name} {seconds:.1f}" for name, seconds in hours.step.items() if seconds)
    yield _line("a step", f"{sum(hours.step.values()):.1f} s without judging ({parts})")
    # What kind of GPU a pool has is not known.
    yield _line("", f"were the GPUs H100s at their peak, the trainer alone would need {hours.best:.1f} s: no less")
    yield _line("training", f"{_hours(hours.training)} with checkpoints and start")
    yield _line("judging", f"{_hours(hours.judging)} in training, {_hours(hours.scoring)} of held-out responses")
    if not hours.complete:
        yield _line(
            "", "set judge.deployment.tokens_per_second, or judge.limits of a server that has them; sums leave it out"
        )
    yield _line("generation", _hours(hours.generation))
    less = "" if hours.complete else " without judging"
    yield _line("together", f"{_hours(hours.known)}{less}")
    deadline = run.experiment.training.deadline_minutes * 60
    if hours.training + (hours.judging or 0.0) > deadline:
        yield _line(
            "", f"training.deadline_minutes ends the step after {_hours(deadline)}; raise it, or run again to go on"
        )
    gpu_hours = (run.gpu_seconds or 0.0) / 3600
    price = run.pool.gpu_hour_cost if run.pool is not None else None
    cost = f"{_UNKNOWN} (gpu_hour_cost of the pool is not given)" if price is None else f"{gpu_hours * price:,.2f}"
    yield _line("GPU hours", f"{gpu_hours:,.1f} of training and generation{less}; cost {cost}")


def _judge(plan: JudgePlan) -> Iterable[str]:
    judge, deployment = plan.judge, plan.judge.deployment
    yield f"judge {judge.name} (kserve, runtime {deployment.runtime}, pool {plan.pods[0].pool})"
    sleeps = "; sleeps when nobody asks" if deployment.min_replicas == 0 else ""
    yield _line(
        "copies", f"{len(plan.pods)} kept, up to {deployment.max_replicas}{sleeps}; each {_asked(plan.pods[0])}"
    )
    if plan.need is not None:
        yield _line("memory", _need(plan.need))
    elif deployment.needs_gpu:
        yield _line("memory", f"{_UNKNOWN}: neither parameters nor deployment.weight_gib is given")
    yield _line("start", f"up to {start_seconds(judge) / 60:.0f} min, image and weights fetched and loaded")
    gpus = sum(pod.gpus for pod in plan.pods)
    if not gpus:
        return
    if plan.seconds is None:
        yield _line("GPU hours", _UNKNOWN)
        return
    used = gpus * plan.seconds / 3600
    price = plan.pool.gpu_hour_cost if plan.pool is not None else None
    cost = _UNKNOWN if price is None else f"{used * price:,.2f}"
    yield _line("GPU hours", f"{used:,.1f}, kept as long as the longest run; cost {cost}")


def _cluster(cluster: ClusterSpec, plan: Plan) -> Iterable[str]:
    kubernetes = cluster.kubernetes
    if kubernetes is None:
        return
    pods = [pod for run in plan.runs if run.experiment.cluster.name == cluster.name for pod in run.pods]
    pods += [pod for judge in plan.judges if judge.cluster == cluster.name for pod in judge.pods]
    yield f"cluster {cluster.name}, everything at once"
    for name, pool in kubernetes.pools.items():
        here = [pod for pod in pods if pod.pool == name]
        sums = f"{sum(pod.gpus for pod in here)} of {gpus_text(pool.gpus * pool.nodes)}, "
        sums += f"{sum(pod.cpus for pod in here):g} of {pool.cpus * pool.nodes:g} CPUs, "
        sums += f"{sum(pod.memory_gib for pod in here):g} of {pool.memory_gib * pool.nodes:g} GiB"
        fits = {"yes": "fits", "no": "DOES NOT FIT", "unknown": "whether it fits is unknown"}[placed(here, pool)]
        yield _line(f"pool {name}", f"{sums}; {pool.nodes} node{'s' if pool.nodes > 1 else ''}: {fits}")
    if kubernetes.queue is None:
        yield _line("queue", "none: pods wait for nodes one by one, not as a whole")
        return
    queued = [pod for pod in pods if pod.queued]
    granted = _UNKNOWN if kubernetes.queue_gpus is None else str(kubernetes.queue_gpus)
    yield _line(
        "queue",
        f"{kubernetes.queue} has to grant {gpus_text(sum(pod.gpus for pod in queued))} (quota: {granted}), "
        f"{sum(pod.cpus for pod in queued):g} CPUs, {sum(pod.memory_gib for pod in queued):g} GiB",
    )


def _need(need: Need) -> str:
    parts = " + ".join(f"{name} {size:.1f}" for name, size in need.parts.items() if size)
    room = "of an unknown size" if need.room is None else f"of {need.room:.1f}"
    verdict = {"yes": f"the rest for {need.left}", "no": "DOES NOT FIT", "unknown": "whether it fits is unknown"}
    return f"{need.what}: {parts} = {need.total:.1f} GiB {room} on each GPU; {verdict[need.fits]}"


def _asked(pod: Pod) -> str:
    gpus = f"{gpus_text(pod.gpus)}, " if pod.gpus else ""
    return f"{gpus}{pod.cpus:g} CPUs, {pod.memory_gib:g} GiB"


def _line(head: str, text: str) -> str:
    return f"  {head:<12} {text}"


def _count(number: float | None) -> str:
    return _UNKNOWN if number is None else f"{round(number):,}"


def _money(amount: float | None, currency: str) -> str:
    return _UNKNOWN if amount is None else f"{amount:,.2f} {currency}".rstrip()


def _hours(seconds: float | None) -> str:
    return _UNKNOWN if seconds is None else f"{seconds / 3600:.1f} h"
