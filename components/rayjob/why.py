"""Why a RayJob failed, or does not start: KubeRay's words, its pods' troubles, the last lines of the driver."""

from collections.abc import Mapping
from typing import Any

from components.core.errors import StepError
from components.kube.cluster import Cluster
from components.kube.errors import KubeError
from components.kube.trouble import Trouble, pod_trouble, refusal_trouble
from components.rayjob.names import LABEL_CLUSTER, LABEL_NODE, LABEL_SUBMITTER

_LINES = 8
_WIDTH = 300


def troubles(cluster: Cluster, job: Mapping[str, Any]) -> list[Trouble]:
    """What is wrong with the pods of a job, submitter included, or keeps them from being made; [] where it cannot be
    read."""
    ray, name = (job.get("status") or {}).get("rayClusterName"), str(job["metadata"]["name"])
    try:
        pods = cluster.pods({LABEL_CLUSTER: str(ray)}) if ray else []
        submitters = cluster.pods({LABEL_SUBMITTER: name})
        found = [pod_trouble(pod, cluster.events(str(pod["metadata"]["uid"]))) for pod in [*pods, *submitters]]
        found += _refused(cluster, "RayCluster", str(ray), _missing(job, pods)) if ray else []
        found += [] if submitters else _refused(cluster, "Job", name, {"FailedCreate"})
    except KubeError as error:
        if error.status == 403:
            return []
        raise
    return [trouble for trouble in found if trouble is not None]


def _refused(cluster: Cluster, owner: str, name: str, reasons: set[str]) -> list[Trouble]:
    """Why pods that are not there could not be made. (The events of those that are there by now stay for an hour.)"""
    if not reasons:
        return []
    found = [event for event in cluster.refused_pods(owner, name) if event.reason in reasons]
    return [refusal_trouble(found[-1], f"{owner} {name}")] if found else []


def _missing(job: Mapping[str, Any], pods: list[dict[str, Any]]) -> set[str]:
    """KubeRay's reasons for the pods that a Ray cluster lacks."""
    spec = (job.get("spec") or {}).get("rayClusterSpec") or {}
    wanted = sum(int(group.get("replicas") or 0) for group in spec.get("workerGroupSpecs") or ())
    heads = sum((pod["metadata"].get("labels") or {}).get(LABEL_NODE) == "head" for pod in pods)
    return {
        *(() if heads else ("FailedToCreateHeadPod",)),
        *(() if len(pods) - heads >= wanted else ("FailedToCreateWorkerPod",)),
    }


def trouble_text(trouble: Trouble) -> str:
    """One trouble for people."""
    place = f"{trouble.pod}/{trouble.container}" if trouble.container else trouble.pod
    return f"{trouble.kind} in {place}: {trouble.detail}"


def driver_lines(cluster: Cluster, job: Mapping[str, Any], lines: int = _LINES) -> list[str]:
    """The last lines that the driver wrote, from the submitter's pod; [] where none can be read."""
    try:
        pods = cluster.pods({LABEL_SUBMITTER: str(job["metadata"]["name"])})
        for pod in sorted(pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp")), reverse=True):
            text = cluster.log(str(pod["metadata"]["name"]), lines=lines)
            if text.strip():
                return [line[:_WIDTH] for line in text.strip().splitlines()[-lines:]]
    except KubeError as error:
        if error.status != 403:
            raise
    return []


def failure(cluster: Cluster, job: Mapping[str, Any]) -> StepError:
    """The error for a failed job whose driver left no word of its own."""
    name = str(job["metadata"]["name"])
    status: Mapping[str, Any] = job.get("status") or {}
    parts = []
    if status.get("reason"):
        parts.append(str(status["reason"]))
    wrong = troubles(cluster, job)
    parts += [trouble_text(trouble) for trouble in wrong]
    message = str(status.get("message") or "").strip()
    lines = driver_lines(cluster, job)
    if message:
        parts += [line[:_WIDTH] for line in message.splitlines()[-_LINES:]]
    if lines:
        parts.append("the driver's last lines: " + " | ".join(line.strip() for line in lines))
    return StepError(
        f"the training's job failed: {'; '.join(parts) or 'no reason is given'}",
        where=f"RayJob {cluster.namespace}/{name}",
        remedy=_remedy(wrong, str(status.get("reason") or "")),
    )


def _remedy(wrong: list[Trouble], reason: str) -> str:
    kinds = {trouble.kind for trouble in wrong}
    again = "then run again: training resumes from its last checkpoint"
    if "out-of-memory" in kinds:
        return f"raise cluster.memory_gib or cluster.kubernetes.head_memory_gib, {again}"
    if "evicted" in kinds:
        return f"see why the pod was evicted, {again}"
    if reason == "DeadlineExceeded":
        return f"raise training.deadline_minutes, {again}"
    return f"mend the cause, {again}"
