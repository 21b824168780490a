"""What a RayJob's status means. KubeRay fills it; Kueue only sets ``spec.suspend``."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Final, Literal

from components.kube.cluster import Cluster
from components.kube.errors import KubeError
from components.kube.kinds import WORKLOADS
from components.kube.labels import LABEL_QUEUE

Phase = Literal["queued", "starting", "running", "succeeded", "failed"]

LABEL_WORKLOAD_OWNER = "kueue.x-k8s.io/job-uid"
"""Kueue's, on the workload that it makes for a job."""

_NO_WORKLOAD: Final = "Kueue has made no Workload for the job"

_ENDED_BADLY = frozenset({"FAILED", "STOPPED"})


def phase(job: Mapping[str, Any]) -> Phase:
    """Where a RayJob stands."""
    status: Mapping[str, Any] = job.get("status") or {}
    deployment, of_ray = status.get("jobDeploymentStatus") or "", status.get("jobStatus") or ""
    if of_ray == "SUCCEEDED":
        return "succeeded"
    if deployment in ("Failed", "ValidationFailed") or of_ray in _ENDED_BADLY:
        return "failed"
    if deployment == "Complete":
        return "succeeded"
    if deployment in ("Suspended", "Suspending") or (not deployment and (job.get("spec") or {}).get("suspend")):
        return "queued"
    return "running" if deployment == "Running" else "starting"


def ended(job: Mapping[str, Any]) -> bool:
    """Whether it will run no more."""
    return phase(job) in ("succeeded", "failed")


@dataclasses.dataclass(frozen=True, slots=True)
class Queued:
    """A suspended job.

    Attributes:
        text: why it waits, in Kueue's words where they can be read.
        unknown: why it seems that Kueue knows nothing of it; "" where it does, and where that cannot be seen.
    """

    text: str
    unknown: str = ""


def queued(cluster: Cluster, job: Mapping[str, Any]) -> Queued:
    """What a suspended job waits for."""
    queue = (job["metadata"].get("labels") or {}).get(LABEL_QUEUE)
    if queue is None:
        return Queued("suspended by hand: no queue manages it (spec.suspend)")
    waits = f"waiting in queue {queue}"
    try:
        found = cluster.list(WORKLOADS, {LABEL_WORKLOAD_OWNER: str(job["metadata"]["uid"])})
    except KubeError as error:
        if error.status == 403:
            return Queued(f"{waits} (our account may not list Kueue's workloads, so that the reason is not seen)")
        if error.status == 404:
            unknown = f"there is no Kueue in this cluster, or one that does not serve {WORKLOADS.api_version}"
            return Queued(f"{waits}: {unknown}", unknown)
        raise
    if not found:
        return Queued(f"{waits}: {_NO_WORKLOAD}", _NO_WORKLOAD)
    told = [
        str(condition.get("message"))
        for workload in found
        for condition in (workload.get("status") or {}).get("conditions") or ()
        if condition.get("type") in ("QuotaReserved", "Admitted", "Evicted")
        and (condition.get("status") == "False") != (condition.get("type") == "Evicted")
        and condition.get("message")
    ]
    return Queued(waits + (f": {'; '.join(dict.fromkeys(told))}" if told else ""))
