"""What cannot work: models too large, nodes too few, a queue or a budget too small, keys shared by too many."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from components.core.spec.judge import JudgeSpec
from components.core.spec.kubernetes import KubernetesSpec
from components.core.spec.places import Mark
from components.core.spec.problems import Problem
from components.planning.memory import Need
from components.planning.nodes import Pod, gpus_text, placed
from components.planning.tokens import JudgeWork

if TYPE_CHECKING:
    from components.core.spec import Experiment


_SHOWN = 12
"""Pods that a message names."""


def too_large(needs: Sequence[Need], experiment: "Experiment") -> Iterable[Problem]:
    """Models that do not fit into the memory of a GPU."""
    for need in needs:
        if need.fits == "no":
            parts = " + ".join(f"{name} {size:.1f}" for name, size in need.parts.items() if size)
            what = f"{need.what}: {parts} GiB on each GPU, of {need.room:.1f}, and nothing left for {need.left}"
            yield Problem(need.key, what, _mark(experiment), need.remedy)


def too_many_pods(pods: Sequence[Pod], kubernetes: KubernetesSpec, cluster: str) -> Iterable[Problem]:
    """Pods that do not find room on the nodes of their pool, or in the queue."""
    by_pool: dict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        by_pool[pod.pool].append(pod)
    for name, here in by_pool.items():
        pool = kubernetes.pools.get(name)
        if pool is None or placed(here, pool) != "no":
            continue
        asked = f"{gpus_text(sum(p.gpus for p in here))}, {sum(p.cpus for p in here):g} CPUs, "
        asked += f"{sum(p.memory_gib for p in here):g} GiB in {len(here)} pods"
        has = f"{pool.nodes} node{'s' if pool.nodes > 1 else ''} of {gpus_text(pool.gpus)}, {pool.cpus:g} CPUs, "
        has += f"{pool.memory_gib:g} GiB"
        owners = _some([pod.owner for pod in here])
        yield Problem(
            f"cluster.kubernetes.pools.{name}",
            f"{asked} do not find room on {has} ({owners})",
            Mark(f"cluster {cluster}"),
            "run fewer experiments at once, give them fewer GPUs, a smaller judge or another pool, or correct nodes",
        )
    queued = sum(pod.gpus for pod in pods if pod.queued)
    if kubernetes.queue_gpus is not None and queued > kubernetes.queue_gpus:
        yield Problem(
            "cluster.kubernetes.queue_gpus",
            f"{gpus_text(queued)} {'is' if queued == 1 else 'are'} asked for at once, "
            f"and queue {kubernetes.queue} grants {kubernetes.queue_gpus}",
            Mark(f"cluster {cluster}"),
            "run fewer experiments at once or with fewer GPUs, or have the ClusterQueue's quota raised",
        )


def _some(owners: Sequence[str]) -> str:
    names = list(dict.fromkeys(owners))
    more = len(names) - _SHOWN
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:_SHOWN])} and {more} more"


def over_budget(work: JudgeWork, experiment: "Experiment") -> Iterable[Problem]:
    """Budgets that end before the run does."""
    judge, expected = work.judge, work.expected
    for key, limit, need in (
        ("calls", judge.budget.calls, expected.calls),
        ("tokens", judge.budget.tokens, expected.tokens),
        ("cost", judge.budget.cost, expected.cost(judge)),
    ):
        if limit is not None and need is not None and need > limit:
            enough = f"{need:.2f}" if key == "cost" else str(math.ceil(need))
            yield Problem(
                f"{_key(judge, experiment)}.budget.{key}",
                f"{limit:,} for {work.role} {judge.name}, and {float(enough):,.10g} are expected",
                _mark(experiment),
                f"set it to {enough} or more, or take fewer steps, prompts, rollouts or held-out rows",
            )


def shared_keys(experiments: Sequence["Experiment"]) -> Iterable[Problem]:
    """Runs that together use more than one whole of a key, or of a server without keys."""
    users: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for experiment in experiments:
        for judge in experiment.served():
            names = [name for name in (judge.api_key_env, *judge.more_key_envs) if name]
            if not names and judge.serving == "external" and judge.endpoint:
                names = [judge.endpoint]
            for name in names:
                users[name].append((experiment.name, judge.limits.share))
    for name, found in users.items():
        total = math.fsum(share for _, share in found)
        if len(found) > 1 and total > 1 + 1e-9:
            shown = ", ".join(f"{experiment} {share:g}" for experiment, share in found)
            yield Problem(
                "judge.limits.share",
                f"{name} is used by {len(found)} judges of these runs with shares that sum to {total:g}: {shown}",
                Mark("all experiments together"),
                f"give each a part, such as judge.limits.share={math.floor(1000 / len(found)) / 1000:g}, or a key of "
                "its own",
            )


def differing_judges(experiments: Sequence["Experiment"]) -> Iterable[Problem]:
    """Judges of one name that would be two services."""
    first: dict[str, tuple[str, Mapping[str, object]]] = {}
    for experiment in experiments:
        for judge in experiment.served():
            if judge.serving != "kserve":
                continue
            service = judge.model_dump(
                mode="json", include={"source", "deployment", "model_name", "context_tokens", "serving"}
            )
            name, known = first.setdefault(judge.name, (experiment.name, service))
            if known != service:
                keys = ", ".join(sorted(key for key in service if service[key] != known[key]))
                yield Problem(
                    f"{_key(judge, experiment)}.name",
                    f"judge {judge.name} of {experiment.name} differs from that of {name} in {keys}",
                    _mark(experiment),
                    "give it a name of its own; one name is one service",
                )


def _key(judge: JudgeSpec, experiment: "Experiment") -> str:
    if experiment.workflow is not None and judge == experiment.workflow.executor:
        return "workflow.executor"
    place = list(experiment.judges()).index(judge)
    return "judge" if place == 0 else f"panel.members.{place - 1}"


def _mark(experiment: "Experiment") -> Mark:
    return Mark(f"experiment {experiment.name}")
