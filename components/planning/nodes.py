"""Whether pods find room on the nodes of a pool, all of them at once."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

from components.core.spec.judge import JudgeSpec
from components.core.spec.kubernetes import KubernetesSpec, PoolSpec
from components.judge.kserve.sizing import memory_gib

if TYPE_CHECKING:
    from components.core.spec import Experiment

_TRIES: Final = 20_000
"""Placements looked at before the question is left open."""


@dataclasses.dataclass(frozen=True, slots=True)
class Pod:
    """What one pod asks for; it lies on one node.

    Attributes:
        owner: for whom it works.
        pool: where it goes.
        gpus: GPUs.
        cpus: CPUs.
        memory_gib: main memory, shared memory included.
        queued: whether Kueue counts it.
    """

    owner: str
    pool: str
    gpus: int
    cpus: float
    memory_gib: float
    queued: bool


def gpus_text(count: int) -> str:
    """A number of GPUs in words."""
    return f"{count} GPU{'' if count == 1 else 's'}"


SUBMITTER: Final = (0.5, 0.5)
"""CPUs and GiB of the pod that hands the job to Ray (components/rayjob/pods.py)."""
FOLLOWER: Final = (0.5, 4.0)
"""CPUs and GiB of the step that follows the job (pipelines/needs.py)."""
STEPS: Final = "steps"
"""Pool of such steps, where there is one of that name; otherwise they go to any node."""


def training_pods(experiment: "Experiment", kubernetes: KubernetesSpec) -> list[Pod]:
    """Ray's workers, then its head, the pod that hands the job over, and the step that follows it, where it is known to
    lie on nodes of a pool."""
    cluster, owner, pool = experiment.cluster, f"training {experiment.name}", kubernetes.training_pool
    queued = kubernetes.queue is not None
    worker = Pod(owner, pool, cluster.pod_gpus, cluster.cpu_threads, cluster.memory_gib, queued)
    head = Pod(f"{owner} (head)", pool, 0, kubernetes.head_cpus, kubernetes.head_memory_gib, queued)
    submitter = Pod(f"{owner} (submitter)", pool, 0, *SUBMITTER, queued)
    pods = [*[worker] * cluster.training_nodes, head, submitter]
    here = STEPS if STEPS in kubernetes.pools else pool if not kubernetes.pools[pool].selector else None
    return pods if here is None else [*pods, Pod(f"step of {experiment.name}", here, 0, *FOLLOWER, False)]


def answering_pod(experiment: "Experiment", kubernetes: KubernetesSpec) -> Pod:
    """The step that answers prompts after the training, when that one's pods are gone. Kueue counts it if it has GPUs
    (pipelines/on_cluster.py)."""
    cluster = experiment.cluster
    gpus = cluster.tensor_parallel if cluster.accelerator == "gpu" else 0
    queued = gpus > 0 and kubernetes.queue is not None
    owner = f"generation of {experiment.name}"
    return Pod(owner, kubernetes.training_pool, gpus, cluster.cpu_threads, cluster.memory_gib, queued)


def judge_pods(judge: JudgeSpec, kubernetes: KubernetesSpec) -> list[Pod]:
    """One a copy: as many as are kept, at least one."""
    deployment = judge.deployment
    pod = Pod(
        f"judge {judge.name}",
        deployment.pool or kubernetes.judge_pool,
        deployment.gpus,
        deployment.cpus,
        memory_gib(judge, kubernetes.shm_gib if deployment.needs_gpu else 0.0),
        kubernetes.queue is not None,
    )
    return [pod] * max(1, deployment.min_replicas)


def placed(pods: Sequence[Pod], pool: PoolSpec) -> Literal["yes", "no", "unknown"]:
    """Whether the pods of one pool fit onto its nodes together; unknown where too many ways would have to be tried."""
    order = sorted(pods, key=lambda pod: (pod.gpus, pod.memory_gib, pod.cpus), reverse=True)
    wanted = (sum(pod.gpus for pod in order), sum(pod.cpus for pod in order), sum(pod.memory_gib for pod in order))
    there = (pool.gpus * pool.nodes, pool.cpus * pool.nodes, pool.memory_gib * pool.nodes)
    if any(need > has for need, has in zip(wanted, there, strict=True)):
        return "no"
    nodes = [(float(pool.gpus), pool.cpus, pool.memory_gib)] * min(pool.nodes, len(order))
    tries = _TRIES

    def place(number: int) -> bool:
        nonlocal tries
        if number == len(order):
            return True
        pod = order[number]
        # Nodes with the same room are one choice.
        for room in dict.fromkeys(nodes):
            tries -= 1
            if tries < 0:
                return False
            if pod.gpus <= room[0] and pod.cpus <= room[1] and pod.memory_gib <= room[2]:
                index = nodes.index(room)
                nodes[index] = (room[0] - pod.gpus, room[1] - pod.cpus, room[2] - pod.memory_gib)
                if place(number + 1):
                    return True
                nodes[index] = room
        return False

    return "yes" if place(0) else "no" if tries >= 0 else "unknown"
