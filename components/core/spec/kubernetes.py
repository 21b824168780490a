"""The Kubernetes cluster: its node pools, and what the jobs of a run are named, given and allowed there."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from components.core.spec.base import Conflict, Count, Spec, Text

MODELS: Final = "/models"
"""Where the claim with model weights is mounted in every pod that has it; a model's folder is named from there."""
SUBDOMAIN: Final = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
LONG_LABEL: Final = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
_QUALIFIED: Final = (
    r"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
)
QUALIFIED: Final = f"^{_QUALIFIED}$"
_LABEL_VALUE: Final = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_POOL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# What steps and Ray set themselves; another value would send a run somewhere else.
_RESERVED: Final = ("GAVEL_", "AWS_", "RAY_")

ObjectName = Annotated[str, StringConstraints(pattern=SUBDOMAIN, max_length=253)]
LongLabel = Annotated[str, StringConstraints(pattern=LONG_LABEL)]
QualifiedName = Annotated[str, StringConstraints(pattern=QUALIFIED)]


class Toleration(Spec):
    """One taint of the pool's nodes that pods there tolerate."""

    key: QualifiedName
    """The taint's key. Unit: none. Required."""
    operator: Literal["Exists", "Equal"] = "Exists"
    """Exists tolerates every value of the key, Equal only ``value``. Unit: none. Default: "Exists"."""
    value: Text | None = None
    """The taint's value, for Equal alone. Unit: none. Default: null."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    """The taint's effect; null tolerates every one. Unit: none. Default: null."""

    def conflicts(self) -> Iterable[Conflict]:
        if (self.operator == "Equal") != (self.value is not None):
            yield Conflict("value", "Equal needs a value, and Exists has none", "set operator and value together")


class RdmaSpec(Spec):
    """The device of a pool's fast network between nodes."""

    resource: QualifiedName = "rdma/hca"
    """Resource that the nodes' device plugin offers. Unit: none. Default: "rdma/hca"."""
    count: Count = 1
    """How many a training pod asks for. Unit: devices. Default: 1."""


class PoolSpec(Spec):
    """Nodes of one kind, and what one of them has for pods."""

    selector: dict[str, str] = Field(default_factory=dict)
    """Labels that the nodes carry; with none, pods may land on any node. Unit: none. Default: {}."""
    tolerations: tuple[Toleration, ...] = ()
    """Taints of the nodes that pods tolerate. Unit: none. Default: []."""
    nodes: Count
    """How many there are. Unit: nodes. Required."""
    gpus: Annotated[int, Field(ge=0)] = 0
    """GPUs of one node. Unit: GPUs. Default: 0."""
    gpu_resource: QualifiedName = "nvidia.com/gpu"
    """Resource that the nodes' device plugin offers for a GPU. Unit: none. Default: "nvidia.com/gpu"."""
    gpu_memory_gib: Annotated[float, Field(gt=0)] | None = None
    """Memory of one GPU; null leaves out the check that models fit. Unit: GiB. Default: null."""
    cpus: Annotated[float, Field(gt=0)]
    """Of one node, for pods (allocatable). Unit: CPUs. Required."""
    memory_gib: Annotated[float, Field(gt=0)]
    """Of one node, for pods (allocatable). Unit: GiB. Required."""
    rdma: RdmaSpec | None = None
    """Fast network between the nodes; null for none. Unit: none. Default: null."""
    training_tflops: Annotated[float, Field(gt=0)] | None = None
    """What one GPU does in training, in 10^12 floating-point operations a second, as you measured it; null lets
    `make plan` scale a run of ours. Unit: TFLOPs. Default: null."""
    rollout_tokens_per_second: Annotated[float, Field(gt=0)] | None = None
    """What one GPU writes with the policy, all its responses together, as you measured it; null lets `make plan` scale
    a run of ours. Unit: tokens. Default: null."""
    gpu_hour_cost: Annotated[float, Field(ge=0)] | None = None
    """What an hour of one GPU costs, in the currency of the judge's price; null where it is not known. Unit: currency.
    Default: null."""

    def conflicts(self) -> Iterable[Conflict]:
        for key in ("gpu_memory_gib", "training_tflops", "rollout_tokens_per_second", "gpu_hour_cost"):
            if self.gpus == 0 and getattr(self, key) is not None:
                yield Conflict(
                    key, f"{getattr(self, key):g}, but the pool's nodes have no GPU", f"set gpus, or remove {key}"
                )
        yield from _labels(self.selector)


class KubernetesSpec(Spec):
    """Where the pods of a run go, and the objects of the namespace that they use. No result's identity depends on it.

    Nothing here is a secret: secrets, claims and queues are named, and made by the manifests.
    """

    namespace: LongLabel = "gavel"
    """Namespace of every object. Unit: none. Default: "gavel"."""
    queue: LongLabel | None = None
    """Kueue LocalQueue that admits training and judges; null for a cluster without Kueue. Unit: none.
    Default: null."""
    queue_gpus: Annotated[int, Field(ge=0)] | None = None
    """GPUs that the queue grants to all its jobs and judges together (the ClusterQueue's nominal quota); null where it
    is not known, and then the nodes alone are the limit. Unit: GPUs. Default: null."""
    priority: LongLabel | None = None
    """Kueue WorkloadPriorityClass of the training; null takes the queue's way. Unit: none. Default: null."""
    pools: Annotated[dict[str, PoolSpec], Field(min_length=1)]
    """Node pools by name (a DNS label, such as h800). Unit: none. Required."""
    training_pool: str
    """Pool of the training's pods. Unit: none. Required."""
    judge_pool: str
    """Pool of judges whose deployment names none. Unit: none. Required."""
    head_cpus: Annotated[float, Field(gt=0)] = 4.0
    """CPUs of the Ray cluster's head, which has no GPU. Unit: CPUs. Default: 4.0."""
    head_memory_gib: Annotated[float, Field(gt=0)] = 16.0
    """Memory of the Ray cluster's head. Unit: GiB. Default: 16.0."""
    store_secret: ObjectName = "gavel-store"
    """NAME of the Secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Unit: none. Default: "gavel-store"."""
    trainer_store_secret: ObjectName | None = None
    """NAME of the Secret with the same two keys for the training's pods, if their account in the store is not that of
    the steps; null for the same. Unit: none. Default: null."""
    judge_secret: ObjectName = "gavel-judge-keys"
    """NAME of the Secret with the keys of external judges, each under its variable's name (judge.api_key_env).
    Unit: none. Default: "gavel-judge-keys"."""
    work_claim: ObjectName = "gavel-work"
    """Volume claim of the pods of one training, for work that is not published yet. Unit: none.
    Default: "gavel-work"."""
    model_claim: ObjectName | None = "gavel-models"
    """Volume claim that keeps model weights between runs; null fetches them anew for every pod. Unit: none.
    Default: "gavel-models"."""
    shm_gib: Annotated[float, Field(gt=0)] = 64.0
    """Shared memory of a pod with GPUs (/dev/shm), counted as its memory. Unit: GiB. Default: 64.0."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Further variables of the training's pods, such as NCCL_SOCKET_IFNAME; numbers in quotes. Unit: none.
    Default: {}."""
    queue_minutes: Annotated[float, Field(gt=0)] | None = None
    """Longest wait for nodes or the queue's admission; null waits as long as it takes. Unit: minutes.
    Default: null."""
    lease_minutes: Annotated[float, Field(ge=5)] = 360.0
    """How long a run keeps its judges after it is gone, or between two steps that ask them; a step that asks renews the
    lease, and brings up again what ended meanwhile. Unit: minutes. Default: 360.0."""

    def pool(self, name: str | None) -> PoolSpec | None:
        """The pool of that name, None when there is none of it; without a name, the judges' one."""
        return self.pools.get(self.judge_pool if name is None else name)

    def conflicts(self) -> Iterable[Conflict]:
        for name in self.pools:
            if not _POOL.fullmatch(name):
                yield Conflict("pools", f"{name!r} is no DNS label", "use lower-case letters, digits and hyphens")
        for key in ("training_pool", "judge_pool"):
            if (name := getattr(self, key)) not in self.pools:
                yield unknown_pool(key, name, self.pools)
        for key in ("priority", "queue_gpus"):
            if self.queue is None and (value := getattr(self, key)) is not None:
                yield Conflict(
                    key, f"{value!r} is for Kueue alone, and queue is null", f"name the queue, or remove {key}"
                )
        for name in self.environment:
            if not _VARIABLE.fullmatch(name):
                yield Conflict("environment", f"{name!r} is no name of a variable", "letters, digits and underscores")
            elif name.startswith(_RESERVED):
                yield Conflict("environment", f"{name} is set by the step itself", f"remove {name}")


def unknown_pool(key: str, name: str, pools: Mapping[str, PoolSpec]) -> Conflict:
    """A key that names a pool that there is not."""
    return Conflict(key, f"there is no pool {name!r}", f"name one of {', '.join(pools)}, or add it to kubernetes.pools")


def _labels(selector: Mapping[str, str]) -> Iterable[Conflict]:
    for key, value in selector.items():
        if not re.fullmatch(_QUALIFIED, key) or not _LABEL_VALUE.fullmatch(value):
            yield Conflict(
                "selector", f"{key}: {value!r} is no label of a node", "copy it from `kubectl get nodes --show-labels`"
            )
