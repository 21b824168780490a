"""Waiting until what was applied runs, and saying why it does not."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from components.cluster_setup.kubectl import Kubectl, SetupError
from components.cluster_setup.objects import Object, namespace, title
from components.kube.events import event
from components.kube.trouble import pod_trouble

_WAITED = ("StatefulSet", "Deployment", "Job")


@dataclass(frozen=True)
class Progress:
    """How far an object is: ready, failed for good (with the reason), or neither yet."""

    ready: bool
    failed: str | None = None


def progress_of(item: Mapping[str, Any]) -> Progress:
    """Read the status of a StatefulSet, Deployment or Job."""
    status: Mapping[str, Any] = item.get("status") or {}
    if item["kind"] == "Job":
        for condition in status.get("conditions") or ():
            if condition["type"] == "Failed" and condition["status"] == "True":
                return Progress(False, f"{condition.get('reason')}: {condition.get('message')}")
        return Progress(bool(status.get("succeeded")))
    wanted = int(item["spec"].get("replicas", 1))
    # Before the controller has seen the newest specification, its numbers are those of the old pods.
    fresh = int(status.get("observedGeneration") or 0) >= int(item["metadata"].get("generation") or 0)
    updated = int(status.get("updatedReplicas") or 0)
    return Progress(fresh and updated >= wanted and int(status.get("readyReplicas") or 0) >= wanted)


def wait(
    kubectl: Kubectl,
    objects: Iterable[Object],
    seconds: float,
    *,
    say: Callable[[str], None] = print,
    sleep: Callable[[float], None] = time.sleep,
    pause: float = 2.0,
) -> None:
    """Return once the store and its bucket are there.

    Args:
        kubectl: the cluster.
        objects: what was applied; its StatefulSets, Deployments and Jobs are waited for, in this order.
        seconds: how long, all together.
        say: gets a line whenever something changes.
        sleep: for tests.
        pause: between two looks, in seconds.

    Raises:
        SetupError: one failed, or time is up; with the reason of its pods.
    """
    end = time.monotonic() + seconds
    waited = sorted((item for item in objects if item["kind"] in _WAITED), key=lambda item: _WAITED.index(item["kind"]))
    for item in waited:
        said = ""
        while True:
            now = kubectl.get(item["kind"].lower(), item["metadata"]["name"], namespace(item))
            found = progress_of(now) if now else Progress(False, "it is gone")
            if found.ready:
                say(f"{title(item)}: ready")
                break
            why = _why(kubectl, item)
            if found.failed or time.monotonic() + pause >= end:
                raise SetupError(
                    f"{title(item)} {'failed: ' + found.failed if found.failed else 'is not ready'}" + _because(why),
                    where=f"namespace {namespace(item)}",
                    remedy=f"kubectl describe pods -n {namespace(item)}; `make deploy` again goes on from here",
                )
            line = f"{title(item)}: waiting{_because(why)}"
            if line != said:
                say(line)
                said = line
            sleep(pause)


def _why(kubectl: Kubectl, item: Object) -> list[str]:
    """What keeps the object's pods, in the cluster's own words; what the controller says where there is no pod."""
    space = namespace(item)
    labels = item["spec"]["template"]["metadata"]["labels"]
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    lines = []
    pods = kubectl.list("pods", space, "-l", selector)
    for pod in pods:
        trouble = pod_trouble(pod, [event(each) for each in _events(kubectl, pod["metadata"]["uid"], space)])
        if trouble:
            lines.append(f"{trouble.pod}: {trouble.kind}: {trouble.detail}")
        elif pod.get("status", {}).get("phase") == "Pending":
            lines.extend(_unbound(kubectl, pod, space))
    if not pods:
        now = kubectl.get(item["kind"].lower(), item["metadata"]["name"], space)
        found = _events(kubectl, now["metadata"]["uid"], space) if now else []
        lines += [event(each).message for each in found[-1:]]
    return lines


def _unbound(kubectl: Kubectl, pod: Object, space: str | None) -> Iterable[str]:
    for volume in pod["spec"].get("volumes") or ():
        name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        claim = kubectl.get("persistentvolumeclaim", name, space) if name else None
        if claim and claim.get("status", {}).get("phase") == "Pending":
            words = [event(each).message for each in _events(kubectl, claim["metadata"]["uid"], space)]
            yield f"claim {name} has no volume" + (f": {words[-1]}" if words else "")


def _events(kubectl: Kubectl, uid: str, space: str | None) -> list[Object]:
    found = kubectl.list("events", space, "--field-selector", f"involvedObject.uid={uid}")
    return sorted(found, key=lambda each: event(each).time)


def _because(why: Iterable[str]) -> str:
    text = "; ".join(why)
    return f" ({text})" if text else ""
