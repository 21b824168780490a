"""The InferenceService of a judge, from its specification and that of the cluster (KServe 0.21).

Deployment modes: with ``min_replicas`` of 1 and more it is Standard (plain Deployment and Service, nothing but KServe
is needed). Standard cannot sleep: its HorizontalPodAutoscaler keeps one copy, and KEDA has no metric that would wake a
server which isn't there. ``min_replicas: 0`` is therefore Knative, whose activator holds the first call until a copy is
up; the cluster needs Knative with the features for node selectors, tolerations, claims and security contexts.
The annotation must say Standard, not RawDeployment: KServe's webhook refuses every later change of an object whose
status and annotation spell the mode differently.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from components.core.errors import ConfigError
from components.core.identity import digest
from components.core.images import USER as FILES
from components.judge.kserve.server import OURS, arguments, probes
from components.judge.kserve.sizing import load_seconds, memory_gib, size_label
from components.judge.kserve.source import storage_uri
from components.kube.kinds import INFERENCE_SERVICES
from components.kube.labels import (
    ANNOTATION_SPEC,
    LABEL_EXPERIMENT,
    LABEL_FAMILY,
    LABEL_JUDGE,
    LABEL_QUEUE,
    LABEL_SIZE,
    MANAGED_BY,
)
from components.kube.names import label_value, object_name

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec
    from components.core.spec.kubernetes import KubernetesSpec, PoolSpec

ANNOTATION_LEASES: Final = "gavel.dev/leases"
"""Who uses the judge until when; see :mod:`components.judge.leases.record`."""
ANNOTATION_MODEL: Final = "gavel.dev/model"
"""sha256 of what is served: judges with the same one can stand in for each other."""
SERVICE_ACCOUNT: Final = "gavel-judge"
USER: Final = 1000
"""Numeric, since runAsNonRoot cannot check a name; that of KServe's storage initializer, which writes the weights."""
_MODE = "serving.kserve.io/deploymentMode"
_AUTOSCALER = "serving.kserve.io/autoscalerClass"
_SHARED_GIB = 16.0
"""Of /dev/shm for copies that span GPUs; NCCL and vLLM's workers need a few GiB."""
_SCRATCH = "/scratch"
_SUFFIX = 8


def inference_service(
    spec: "JudgeSpec", kubernetes: "KubernetesSpec", experiment: str, *, weights: str | None = None
) -> dict[str, Any]:
    """The object, without leases.

    Its name is the judge's with a hash of what is asked for, so that experiments with different settings of one judge
    live side by side, and those with the same settings share one. The label ``gavel.dev/experiment`` says which
    experiment brought it up; others that share it are in the annotation of leases. It never changes afterwards, since
    KServe copies labels to the pods and would replace them.

    Args:
        spec: the judge, with serving kserve.
        kubernetes: pools, queue and names.
        experiment: name of the experiment that brings it up.
        weights: URL of the very folder with the weights, where the source tells less (see
            :func:`components.judge.kserve.source.located`).

    Raises:
        ConfigError: pool, weights or name are not possible.
    """
    annotations = {**_mode(spec), ANNOTATION_MODEL: served_model(spec)}
    predictor = _predictor(spec, kubernetes, weights)
    asked = digest({"annotations": annotations, "predictor": predictor, "queue": kubernetes.queue})
    labels = {
        **MANAGED_BY,
        LABEL_JUDGE: label_value(spec.name),
        LABEL_FAMILY: label_value(spec.family),
        LABEL_SIZE: label_value(size_label(spec.parameters)),
        LABEL_EXPERIMENT: label_value(experiment),
        **({LABEL_QUEUE: kubernetes.queue} if kubernetes.queue else {}),
    }
    name = service_name(spec.name, asked, kubernetes.namespace, knative=spec.deployment.min_replicas == 0)
    return {
        "apiVersion": INFERENCE_SERVICES.api_version,
        "kind": INFERENCE_SERVICES.kind,
        "metadata": {
            "name": name,
            "namespace": kubernetes.namespace,
            "labels": labels,
            "annotations": {**annotations, ANNOTATION_SPEC: asked},
        },
        "spec": {"predictor": predictor},
    }


def served_model(spec: "JudgeSpec") -> str:
    """sha256 over the weights, their name and the longest text; not over how the judge is asked."""
    source = spec.source.identity() if spec.source else None
    return digest({"source": source, "model_name": spec.model_name, "context_tokens": spec.context_tokens})


def service_name(judge: str, asked: str, namespace: str, *, knative: bool = False) -> str:
    """The judge's name and eight digits of the hash of what is asked for, as long as the names made from it allow.

    KServe makes the label ``isvc.NAME-predictor`` and the host ``NAME-predictor-NAMESPACE``, Knative the service
    ``NAME-predictor-00001-private``; each has at most 63 characters. A name must begin with a letter.

    Raises:
        ConfigError: the namespace's name leaves no room.
    """
    room = 63 - max(len("isvc.-predictor"), len(f"-predictor-{namespace}"))
    if knative:
        room = min(room, 63 - len("-predictor-00001-private"))
    if room < 2 * _SUFFIX + 4:
        raise ConfigError(
            f"the name {namespace!r} leaves {room} of a host name's 63 characters for judges",
            where="cluster.kubernetes.namespace",
            remedy="take a namespace with a name of at most 32 characters",
        )
    # A name that has to be cut ends in a hash of its whole text instead, which is as different.
    return object_name(judge, asked[:_SUFFIX], limit=room)


def _mode(spec: "JudgeSpec") -> dict[str, str]:
    deployment = spec.deployment
    if deployment.min_replicas == 0:
        return {
            _MODE: "Knative",
            "serving.knative.dev/progress-deadline": f"{math.ceil(load_seconds(spec)) + 600}s",
            # A training's steps may be minutes apart.
            "autoscaling.knative.dev/scale-to-zero-pod-retention-period": "15m",
        }
    fixed = deployment.min_replicas == deployment.max_replicas
    return {_MODE: "Standard", _AUTOSCALER: "none" if fixed else "hpa"}


def _pool(spec: "JudgeSpec", kubernetes: "KubernetesSpec") -> "PoolSpec":
    pool = kubernetes.pool(spec.deployment.pool)
    if pool is None:
        raise ConfigError(
            f"there is no node pool {spec.deployment.pool!r}",
            where=f"judge {spec.name}: deployment.pool",
            remedy=f"name one of {', '.join(kubernetes.pools)}, or add it to cluster.kubernetes.pools",
        )
    if spec.deployment.gpus > pool.gpus:
        raise ConfigError(
            f"a copy asks for {spec.deployment.gpus} GPUs of one node, and the pool's nodes have {pool.gpus}",
            where=f"judge {spec.name}: deployment.tensor_parallel",
            remedy="choose a pool with GPUs, lower tensor_parallel, or serve a small judge by runtime gavel-cpu",
        )
    return pool


def _predictor(spec: "JudgeSpec", kubernetes: "KubernetesSpec", weights: str | None) -> dict[str, Any]:
    deployment, pool = spec.deployment, _pool(spec, kubernetes)
    shared = min(_SHARED_GIB, kubernetes.shm_gib) if deployment.gpus > 1 else 0.0
    made: dict[str, Any] = {
        "minReplicas": deployment.min_replicas,
        "maxReplicas": deployment.max_replicas,
        # KServe copies annotations to the pods, and those given here come last: a constant in place of the leases, so
        # that taking or renewing one does not replace the running server.
        "annotations": {ANNOTATION_LEASES: "see the InferenceService"},
        "serviceAccountName": SERVICE_ACCOUNT,
        "automountServiceAccountToken": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            # Of every pod that mounts the models' claim, or they would take the files from each other.
            "fsGroup": FILES,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumes": [*_scratch(spec, {"emptyDir": {"sizeLimit": "50Gi"}}), *_shared_volume(shared)],
        "model": _model(spec, weights or storage_uri(spec, kubernetes.model_claim), pool, shared),
    }
    if deployment.min_replicas > 0:
        # A second copy beside the first would need GPUs that nobody has.
        made["deploymentStrategy"] = {"type": "Recreate"}
        if deployment.max_replicas > deployment.min_replicas:
            made |= {"scaleMetric": "cpu", "scaleTarget": 70}
    if pool.selector:
        made["nodeSelector"] = dict(pool.selector)
    if pool.tolerations:
        made["tolerations"] = [toleration.model_dump(exclude_none=True) for toleration in pool.tolerations]
    return made


def _model(spec: "JudgeSpec", storage: str | None, pool: "PoolSpec", shared: float) -> dict[str, Any]:
    deployment = spec.deployment
    made: dict[str, Any] = {
        # A runtime of ours takes its own format alone, so that KServe never chooses it for somebody else's model.
        "modelFormat": {"name": deployment.runtime if deployment.runtime in OURS else "huggingface"},
        "runtime": deployment.runtime,
        "args": arguments(spec, storage),
        # A user without an entry in /etc/passwd has no home to write caches to.
        "env": [{"name": "HOME", "value": _SCRATCH}, {"name": "GAVEL_STATE", "value": f"{_SCRATCH}/gavel"}],
        "resources": _resources(spec, pool, shared),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "runAsNonRoot": True,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": [*_scratch(spec, {"mountPath": _SCRATCH}), *_shared_mount(shared)],
        **probes(spec),
    }
    if storage is not None:
        made["storageUri"] = storage
    return made


def _resources(spec: "JudgeSpec", pool: "PoolSpec", shared: float) -> dict[str, Any]:
    """Requests equal limits: a limit that is missing would get KServe's default of one CPU, below the request."""
    wanted: Mapping[str, str] = {
        "cpu": f"{spec.deployment.cpus:g}",
        "memory": f"{memory_gib(spec, shared)}Gi",
        **({pool.gpu_resource: str(spec.deployment.gpus)} if spec.deployment.gpus else {}),
    }
    return {"requests": dict(wanted), "limits": dict(wanted)}


def _scratch(spec: "JudgeSpec", rest: dict[str, Any]) -> list[dict[str, Any]]:
    """Room for what a server of others writes; the runtimes of ours bring theirs."""
    return [] if spec.deployment.runtime in OURS else [{"name": "scratch", **rest}]


def _shared_volume(shared: float) -> list[dict[str, Any]]:
    if not shared:
        return []
    return [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": f"{math.ceil(shared * 1024)}Mi"}}]


def _shared_mount(shared: float) -> list[dict[str, Any]]:
    return [{"name": "shm", "mountPath": "/dev/shm"}] if shared else []
