"""Pods of a training: what they are given, and what they may do (pod security "restricted")."""

import dataclasses
import json
import math
from collections.abc import Collection, Mapping
from typing import Any

from components.core.errors import ConfigError
from components.core.images import USER, image
from components.core.spec.experiment import Experiment
from components.core.spec.kubernetes import MODELS, KubernetesSpec, PoolSpec
from components.core.step.execute import INSIDE_VARIABLE
from components.engine.trackers import SECRETS
from components.judge.endpoint import ENDPOINTS_VARIABLE
from components.rayjob.messages import ATTEMPT_VARIABLE

SERVICE_ACCOUNT = "gavel-trainer"
"""Without a right in the API."""

WORK, HOME = "/gavel/work", "/home/gavel"
"""Where the work claim and an empty home are mounted."""

_RAY_VARIABLES = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # As in a training on one machine: see components.engine.environment. Ray's own processes read them from here.
    "RAY_worker_niceness": "0",
    "RAY_prestart_worker_first_driver": "0",
    "RAY_enable_worker_prestart": "0",
    "RAY_DEDUP_LOGS": "0",
}
_SMALL_SHARE = 0.4
"""Of a pod's memory, for /dev/shm of a pod without GPUs: Ray's object store takes 0.3."""


@dataclasses.dataclass(frozen=True)
class Training:
    """One attempt at a training, as its pods need to know it."""

    experiment: Experiment
    name: str
    """Of the RayJob."""
    endpoints: Mapping[str, str]
    """Base URLs of the judges by name."""
    region: str | None = None
    """Of the S3 store; None for the client's default."""

    @property
    def kubernetes(self) -> KubernetesSpec:
        """The cluster.

        Raises:
            ConfigError: the experiment has none.
        """
        found = self.experiment.cluster.kubernetes
        if found is None:
            raise ConfigError(
                "a RayJob needs a Kubernetes cluster", where="cluster.kubernetes", remedy="use configs/clusters/h800"
            )
        return found

    @property
    def pool(self) -> PoolSpec:
        """Nodes of the training."""
        return self.kubernetes.pools[self.kubernetes.training_pool]

    @property
    def on_gpu(self) -> bool:
        """Whether GPUs train."""
        return self.experiment.cluster.accelerator == "gpu"

    @property
    def workers(self) -> int:
        """Worker pods, one a node: as many as the GPUs fill."""
        cluster = self.experiment.cluster
        return math.ceil(cluster.gpus / cluster.gpus_per_node) if self.on_gpu else 1

    @property
    def gpus(self) -> int:
        """GPUs of one worker pod."""
        cluster = self.experiment.cluster
        return min(cluster.gpus, cluster.gpus_per_node) if self.on_gpu else 0


def head_template(training: Training, labels: Mapping[str, str]) -> dict[str, Any]:
    """Pod template of Ray's head, where the driver runs. It has no GPU."""
    spec = training.kubernetes
    ports = [
        {"containerPort": port, "name": name}
        for name, port in (("gcs-server", 6379), ("dashboard", 8265), ("client", 10001))
    ]
    resources = {"cpu": _number(spec.head_cpus), "memory": _memory(spec.head_memory_gib)}
    shared = _SMALL_SHARE * spec.head_memory_gib
    return _template(training, labels, _ray_container(training, "ray-head", resources, ports), shared)


def worker_template(training: Training, labels: Mapping[str, str]) -> dict[str, Any]:
    """Pod template of the workers, which hold the policy."""
    cluster, pool = training.experiment.cluster, training.pool
    resources = {"cpu": _number(cluster.cpu_threads), "memory": _memory(cluster.memory_gib)}
    if training.gpus:
        resources[pool.gpu_resource] = str(training.gpus)
    if pool.rdma is not None and training.workers > 1:
        resources[pool.rdma.resource] = str(pool.rdma.count)
    shared = training.kubernetes.shm_gib if training.gpus else _SMALL_SHARE * cluster.memory_gib
    return _template(training, labels, _ray_container(training, "ray-worker", resources), shared)


def submitter_template(training: Training, labels: Mapping[str, str]) -> dict[str, Any]:
    """Pod template of the job that hands the entrypoint to Ray and shows the driver's log.

    KubeRay's own lacks what pod security "restricted" wants.
    """
    container = {
        "name": "ray-job-submitter",
        "image": image("trainer"),
        "imagePullPolicy": "IfNotPresent",
        "env": _variables({"HOME": HOME, **_RAY_VARIABLES}),
        "resources": {
            "requests": {"cpu": "500m", "memory": "512Mi"},
            "limits": {"cpu": "1", "memory": "1Gi"},
        },
        "securityContext": _restricted(),
        "volumeMounts": [{"name": "home", "mountPath": HOME}, {"name": "temporary", "mountPath": "/tmp"}],
    }
    pod = _pod(training, container)
    pod["volumes"] = [{"name": "home", "emptyDir": {}}, {"name": "temporary", "emptyDir": {}}]
    return {"metadata": {"labels": dict(labels)}, "spec": pod}


def _template(
    training: Training, labels: Mapping[str, str], container: dict[str, Any], shared_gib: float
) -> dict[str, Any]:
    spec = training.kubernetes
    pod = _pod(training, container)
    pod["volumes"] = [
        {"name": "work", "persistentVolumeClaim": {"claimName": spec.work_claim}},
        {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": _memory(shared_gib)}},
        {"name": "home", "emptyDir": {}},
        {"name": "temporary", "emptyDir": {}},
    ]
    if spec.model_claim is not None:
        pod["volumes"].append({"name": "models", "persistentVolumeClaim": {"claimName": spec.model_claim}})
    return {"metadata": {"labels": dict(labels)}, "spec": pod}


def _pod(training: Training, container: dict[str, Any]) -> dict[str, Any]:
    pool = training.pool
    pod: dict[str, Any] = {
        "serviceAccountName": SERVICE_ACCOUNT,
        "automountServiceAccountToken": False,
        # A container that died leaves its reason; KubeRay replaces workers, and a lost head ends the attempt.
        "restartPolicy": "Never",
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
    }
    if pool.selector:
        pod["nodeSelector"] = dict(pool.selector)
    if pool.tolerations:
        pod["tolerations"] = [item.model_dump(exclude_none=True) for item in pool.tolerations]
    return pod


def _ray_container(
    training: Training, name: str, resources: dict[str, str], ports: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    mounts = [
        {"name": "work", "mountPath": WORK},
        {"name": "shared-memory", "mountPath": "/dev/shm"},
        {"name": "home", "mountPath": HOME},
        {"name": "temporary", "mountPath": "/tmp"},
    ]
    if training.kubernetes.model_claim is not None:
        mounts.append({"name": "models", "mountPath": MODELS})
    container: dict[str, Any] = {
        "name": name,
        "image": image("trainer"),
        "imagePullPolicy": "IfNotPresent",
        "env": environment(training),
        "resources": {"requests": dict(resources), "limits": dict(resources)},
        "securityContext": _restricted(),
        "volumeMounts": mounts,
    }
    if ports:
        container["ports"] = ports
    return container


def environment(training: Training) -> list[dict[str, Any]]:
    """Environment of Ray's pods; every process of the training inherits it. Secrets are references."""
    spec, store = training.kubernetes, training.experiment.cluster.store
    models = MODELS if spec.model_claim is not None else f"{WORK}/models"
    variables = {
        **_RAY_VARIABLES,
        **spec.environment,
        INSIDE_VARIABLE: "1",
        ATTEMPT_VARIABLE: training.name,
        "GAVEL_RUN_ID": training.name,
        "GAVEL_STATE": WORK,
        "GAVEL_CACHE": f"{models}/converted",
        "HF_HOME": f"{models}/huggingface",
        "HOME": HOME,
        "GAVEL_S3_ENDPOINT": store.endpoint or "",
        ENDPOINTS_VARIABLE: json.dumps(dict(sorted(training.endpoints.items()))),
        # The pods of an attempt that was ended are gone before the next one begins.
        "GAVEL_LOCK_WAIT": "600",
    }
    if training.region:
        variables["AWS_REGION"] = training.region
    account = spec.trainer_store_secret or spec.store_secret
    references = {name: (account, name) for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
    for judge in (*training.experiment.judges(), *training.experiment.served()):
        for name in filter(None, (judge.api_key_env, *judge.more_key_envs)):
            references[name] = (spec.judge_secret, name)
    return [
        *_variables(variables),
        *(
            {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}
            for name, (secret, key) in sorted(references.items())
        ),
        *_trackers_keys(training, references),
    ]


def _trackers_keys(training: Training, taken: Collection[str]) -> list[dict[str, Any]]:
    """Those that the Secret has. Not every server wants all; the step itself refuses where one is missing."""
    names = {name for tracker in training.experiment.training.trackers for name in SECRETS[tracker]}
    secret = training.kubernetes.judge_secret
    return [
        {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": name, "optional": True}}}
        for name in sorted(names - set(taken))
    ]


def _variables(values: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"name": name, "value": value} for name, value in sorted(values.items()) if value]


def _restricted() -> dict[str, Any]:
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "runAsUser": USER,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def _number(value: float) -> str:
    """A quantity in its shortest form, to a thousandth."""
    return str(int(value)) if value == int(value) else f"{math.ceil(value * 1000)}m"


def _memory(gib: float) -> str:
    return f"{int(gib)}Gi" if gib == int(gib) else f"{math.floor(gib * 1024)}Mi"
