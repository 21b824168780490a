"""Why a pod does not run, in the cluster's own words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from components.kube.events import Event

TroubleKind = Literal["image-pull", "unschedulable", "out-of-memory", "crash", "probe", "evicted", "config"]

_IMAGE = frozenset(
    {
        "ImagePullBackOff",
        "ErrImagePull",
        "InvalidImageName",
        "ErrImageNeverPull",
        "ImageInspectError",
        "RegistryUnavailable",
        "SignatureValidationFailed",
    }
)
_CONFIG = frozenset({"CreateContainerConfigError", "CreateContainerError", "RunContainerError"})
_EVICTED = frozenset({"Evicted", "Preempting", "Terminated", "NodeShutdown", "NodeLost", "NodeAffinity"})
_UNMOUNTED = frozenset({"FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox"})


@dataclass(frozen=True)
class Trouble:
    """What keeps a pod from running. Some of it may pass (a node comes, a registry is back): callers decide how long
    they wait."""

    kind: TroubleKind
    detail: str
    """The server's own words."""
    pod: str
    container: str | None = None


def pod_trouble(pod: Mapping[str, Any], events: Sequence[Event]) -> Trouble | None:
    """The trouble of one pod (its object, and the events on it), or None where it runs, ends well, or just waits.

    A container that died counts until it is ready again. A start-up probe that fails is no trouble before the kubelet
    kills the container for it: this is how a model being loaded looks.
    """
    name = str(pod["metadata"]["name"])
    status: Mapping[str, Any] = pod.get("status") or {}
    phase = status.get("phase")
    if phase == "Succeeded":
        return None
    conditions = {item["type"]: item for item in status.get("conditions") or ()}
    target = conditions.get("DisruptionTarget", {})
    if status.get("reason") in _EVICTED or target.get("status") == "True":
        words = _words(status) if status.get("reason") else _words(target)
        return Trouble("evicted", words, name)
    for container in _containers(status):
        found = _container_trouble(container, events)
        if found:
            return Trouble(found[0], found[1], name, str(container.get("name")))
    scheduled = conditions.get("PodScheduled", {})
    if scheduled.get("status") == "False" and scheduled.get("reason") == "Unschedulable":
        return Trouble("unschedulable", _words(scheduled), name)
    if phase == "Failed":
        return Trouble("crash", _words(status), name)
    if phase == "Pending" and scheduled.get("status") == "True" and not _pulling_since(events):
        unmounted = [item for item in events if item.reason in _UNMOUNTED]
        if unmounted:
            return Trouble("config", unmounted[-1].message, name)
    return None


def refusal_trouble(refused: Event, by: str) -> Trouble:
    """The trouble of a pod that could not be made. What a quota refuses may be there later, as a node may.

    Args:
        refused: what the cluster reported.
        by: kind and name of what makes the pod.
    """
    return Trouble("unschedulable" if "exceeded quota" in refused.message else "config", refused.message, by)


def _containers(status: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from status.get("initContainerStatuses") or ()
    yield from status.get("containerStatuses") or ()


def _container_trouble(container: Mapping[str, Any], events: Sequence[Event]) -> tuple[TroubleKind, str] | None:
    state: Mapping[str, Any] = container.get("state") or {}
    waiting: Mapping[str, Any] = state.get("waiting") or {}
    reason = waiting.get("reason")
    if reason in _IMAGE:
        # After the first failure the status says only "Back-off pulling image"; the cause is in an event.
        causes = [item.message for item in events if item.reason == "Failed" and "Failed to pull" in item.message]
        return "image-pull", causes[-1] if reason == "ImagePullBackOff" and causes else _words(waiting)
    if reason in _CONFIG:
        return "config", _words(waiting)
    ended: Mapping[str, Any] = state.get("terminated") or (container.get("lastState") or {}).get("terminated") or {}
    if container.get("ready") or not ended:
        return None
    if ended.get("reason") == "OOMKilled":
        return "out-of-memory", f"OOMKilled, exit code {ended.get('exitCode')}" + _tail(ended)
    killed = [item.message for item in events if item.reason == "Killing" and "probe" in item.message]
    if killed:
        failed = [item.message for item in events if item.reason == "Unhealthy"]
        return "probe", "; ".join([*failed[-1:], killed[-1]])
    if ended.get("exitCode") == 0 and reason != "CrashLoopBackOff":
        return None
    return "crash", f"{ended.get('reason', 'Error')}, exit code {ended.get('exitCode')}" + _tail(ended)


def _pulling_since(events: Sequence[Event]) -> bool:
    """Whether an image was pulled or a container made after the last failed mount: the mount is done then."""
    return any(item.reason in {"Pulling", "Pulled", "Created", "Started"} for item in events)


def _words(part: Mapping[str, Any]) -> str:
    return ": ".join(str(part[key]) for key in ("reason", "message") if part.get(key)) or "no reason given"


def _tail(ended: Mapping[str, Any]) -> str:
    return f": {str(ended['message']).strip()}" if ended.get("message") else ""
