"""What a judge that is coming up is doing now, from its InferenceService, its pods and their events."""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from components.judge.kserve.lookup import is_ready
from components.kube.cluster import Cluster
from components.kube.events import Event
from components.kube.trouble import Trouble, pod_trouble, refusal_trouble

Object = dict[str, Any]
Stage = Literal["setting up", "waiting for a node", "pulling the image", "fetching the weights", "loading", "ready"]

POD_LABEL: Final = "serving.kserve.io/inferenceservice"
"""KServe puts it on every pod of an InferenceService."""
_INVALID = "InvalidSpec"


@dataclasses.dataclass(frozen=True, slots=True)
class Look:
    """One look.

    Attributes:
        stage: how far it is.
        detail: the cluster's own words; "" where it has none.
        trouble: what keeps its pod from running, None where nothing does.
        refused: why KServe does not even try, None where it does.
        restarts: how often a container of the pod ended.
        pod: name of the pod, None where there is none.
    """

    stage: Stage
    detail: str = ""
    trouble: Trouble | None = None
    refused: str | None = None
    restarts: int = 0
    pod: str | None = None

    def line(self) -> str:
        """For people."""
        if self.trouble is not None:
            return f"{self.stage}: {self.trouble.kind}: {self.trouble.detail}"
        return f"{self.stage}: {self.detail}" if self.detail else self.stage


def look(cluster: Cluster, service: Object) -> Look:
    """Look at a judge; asks for its pods and events."""
    if is_ready(service):
        return Look("ready")
    name = service["metadata"]["name"]
    pods = [pod for pod in cluster.pods({POD_LABEL: name}) if not pod["metadata"].get("deletionTimestamp")]
    if not pods:
        return _without_pod(service, _refused(cluster, service))
    seen = [_pod(pod, cluster.events(pod["metadata"]["uid"])) for pod in pods]
    # One copy that gets on is enough, whatever becomes of the others.
    return min(seen, key=lambda each: (each.trouble is not None, -_ORDER[each.stage]))


def _refused(cluster: Cluster, service: Object) -> Event | None:
    """Why the newest of its pods was not let in. KServe copies of a Deployment's conditions only those that say that
    there is none."""
    metadata = service["metadata"]
    since = datetime.datetime.fromisoformat(str(metadata["creationTimestamp"]))
    found = cluster.refused_pods("ReplicaSet", f"{metadata['name']}-predictor-")
    return next((event for event in reversed(found) if event.time >= since), None)


def _without_pod(service: Object, refused: Event | None) -> Look:
    status = service.get("status") or {}
    model = status.get("modelStatus") or {}
    failure = model.get("lastFailureInfo") or {}
    words = ": ".join(str(failure[key]) for key in ("reason", "message") if failure.get(key))
    if model.get("transitionStatus") == _INVALID:
        return Look("setting up", refused=words or "the specification is not valid")
    if refused is not None:
        trouble = refusal_trouble(refused, "")
        return Look("waiting for a node" if trouble.kind == "unschedulable" else "setting up", trouble=trouble)
    for condition in status.get("conditions") or ():
        if condition.get("status") == "False" and condition.get("message"):
            told = f"{condition.get('reason') or condition.get('type')}: {condition['message']}"
            if condition.get("reason") in ("FailedCreate", "ReconcileFailed"):
                return Look("setting up", trouble=Trouble("config", told, ""))
            return Look("setting up", told)
    return Look("setting up", words)


def _pod(pod: Object, events: Sequence[Event]) -> Look:
    status: Mapping[str, Any] = pod.get("status") or {}
    containers = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    restarts = sum(int(each.get("restartCount") or 0) for each in containers)
    name = str(pod["metadata"]["name"])
    stage, detail = _stage(status, events)
    trouble = pod_trouble(pod, events)
    if trouble is not None and trouble.kind == "unschedulable":
        stage = "waiting for a node"
    return Look(stage, detail, trouble, None, restarts, name)


def _stage(status: Mapping[str, Any], events: Sequence[Event]) -> tuple[Stage, str]:
    conditions = {each.get("type"): each for each in status.get("conditions") or ()}
    scheduled = conditions.get("PodScheduled") or {}
    if scheduled.get("status") == "False":
        # SchedulingGated is Kueue's queue, Unschedulable the scheduler's.
        return "waiting for a node", str(scheduled.get("message") or scheduled.get("reason") or "")
    for each in status.get("initContainerStatuses") or ():
        state = each.get("state") or {}
        if state.get("running"):
            return "fetching the weights", ""
        if state.get("waiting") and not each.get("ready"):
            return "pulling the image", _pulling(events)
    states = [each.get("state") or {} for each in status.get("containerStatuses") or ()]
    if any(state.get("running") for state in states):
        return "loading", ""
    return "pulling the image", _pulling(events)


def _pulling(events: Sequence[Event]) -> str:
    told = [event.message for event in events if event.reason in ("Pulling", "Pulled")]
    return told[-1] if told else ""


_ORDER: Final[Mapping[Stage, int]] = {
    "setting up": 0,
    "waiting for a node": 1,
    "pulling the image": 2,
    "fetching the weights": 3,
    "loading": 4,
    "ready": 5,
}
