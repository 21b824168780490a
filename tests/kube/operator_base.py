"""What the pretended operators share: a thread that looks at all objects of a kind again and again, and acts on each.

They use the official ``kubernetes`` client and not ours, so that the one is checked by the other.
"""

import contextlib
import datetime
import re
import threading
import time
from typing import Any, Self

import urllib3
from api_double import ApiDouble, event_object
from kube_fixture import Api
from kubernetes import client
from pod_states import PodState

from components.kube.kinds import PODS, Kind

Object = dict[str, Any]
_TICK = 0.03


def rfc3339() -> str:
    """The present moment."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Operator:
    """Looks every few hundredths of a second. Also plays the garbage collector for what it makes. Its requests meet no
    faults of the double; while the server is away it waits."""

    kind: Kind

    def __init__(self, api: Api) -> None:
        self.api = api
        self.failures: list[str] = []
        """Refusals it met, other than conflicts and missing objects; a test that ends with some has found a fault."""
        configuration = client.Configuration()
        if isinstance(api.server, ApiDouble):
            configuration.host, token = api.server.url, api.server.operator
        else:
            configuration.host, token = api.server.url, api.server.tokens["admin"]
            configuration.ssl_ca_cert = str(api.server.ca)
        configuration.api_key = {"authorization": f"Bearer {token}"}
        configuration.retries = False
        self._client = client.ApiClient(configuration)
        self._custom = client.CustomObjectsApi(self._client)
        self._core = client.CoreV1Api(self._client)
        self._stop = threading.Event()
        self._since: dict[tuple[str, str], float] = {}
        self._pod_states: dict[str, PodState] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._close()

    def _close(self) -> None:
        """End what the operator runs outside of the API."""

    def reconcile(self, body: Object) -> None:
        """Bring the world a step nearer to what one object asks for."""
        raise NotImplementedError

    def removed(self, uid: str) -> None:
        """An object that was there is gone."""

    def _run(self) -> None:
        known: set[str] = set()
        while not self._stop.wait(_TICK):
            try:
                found = self._objects(self.kind)
                for body in found:
                    if "foregroundDeletion" in body["metadata"].get("finalizers", ()):
                        self._finalise(body)
                    elif not body["metadata"].get("deletionTimestamp"):
                        self.reconcile(body)
                present = {body["metadata"]["uid"] for body in found}
                for uid in known - present:
                    self.removed(uid)
                    self._collect(uid)
                known = present
            except client.ApiException as error:
                if error.status not in {404, 409}:
                    self.failures.append(f"{error.status} {error.body!r}")
            except (urllib3.exceptions.HTTPError, OSError):
                continue

    def elapsed(self, body: Object, phase: str) -> float:
        """Seconds since this was first asked for this object and phase."""
        return time.monotonic() - self._since.setdefault((body["metadata"]["uid"], phase), time.monotonic())

    def forget(self, body: Object, *phases: str) -> None:
        """Start the time of phases anew."""
        for phase in phases:
            self._since.pop((body["metadata"]["uid"], phase), None)

    def _objects(self, kind: Kind, labels: str = "") -> list[Object]:
        listed = self._custom.list_namespaced_custom_object(
            kind.group, kind.version, self.api.namespace, kind.plural, label_selector=labels
        )
        return list(listed["items"])

    def set_status(self, body: Object, status: Object) -> None:
        """Merge into the status, where that changes anything."""
        old = body.get("status") or {}
        if any(old.get(key) != value for key, value in status.items()):
            kind, name = self.kind, body["metadata"]["name"]
            self._custom.patch_namespaced_custom_object_status(
                kind.group, kind.version, self.api.namespace, kind.plural, name, {"status": status}
            )

    def put_pod(self, owner: Object, name: str, labels: Object, spec: Object, state: PodState) -> None:
        """Make the pod if it is not there, and bring it to ``state``, with its events and logs."""
        key = f"{owner['metadata']['uid']}/{name}"
        if self._pod_states.get(key) == state:
            return
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "labels": labels, "ownerReferences": [reference(owner)]},
            "spec": _placeless(spec),
        }
        with contextlib.suppress(client.ApiException):
            self._core.create_namespaced_pod(self.api.namespace, body)
        patched = self._core.patch_namespaced_pod_status(name, self.api.namespace, {"status": state.status})
        pod = {**self._client.sanitize_for_serialization(patched), "apiVersion": "v1", "kind": "Pod"}
        for kind, reason, message, count in state.events:
            self._core.create_namespaced_event(self.api.namespace, event_object(pod, reason, message, kind, count))
        for text, previous in ((state.log, False), (state.previous_log, True)):
            if text is not None:
                self.api.set_log(name, text, previous=previous)
        self._pod_states[key] = state

    def drop_pods(self, labels: str) -> None:
        """Delete the pods with these labels."""
        for pod in self._core.list_namespaced_pod(self.api.namespace, label_selector=labels).items:
            self._core.delete_namespaced_pod(pod.metadata.name, self.api.namespace, grace_period_seconds=0)
            for owner in pod.metadata.owner_references or ():
                self._pod_states.pop(f"{owner.uid}/{pod.metadata.name}", None)

    def _collect(self, uid: str) -> None:
        """Delete the pods of an owner that is gone: a real server leaves it to a controller that does not run here."""
        for pod in self._core.list_namespaced_pod(self.api.namespace).items:
            if any(owner.uid == uid for owner in pod.metadata.owner_references or ()):
                with contextlib.suppress(client.ApiException):
                    self._core.delete_namespaced_pod(pod.metadata.name, self.api.namespace, grace_period_seconds=0)

    def _finalise(self, body: Object) -> None:
        self._collect(body["metadata"]["uid"])
        kind, name = self.kind, body["metadata"]["name"]
        left = [item for item in body["metadata"]["finalizers"] if item != "foregroundDeletion"]
        self._custom.patch_namespaced_custom_object(
            kind.group, kind.version, self.api.namespace, kind.plural, name, {"metadata": {"finalizers": left}}
        )


def reference(owner: Object) -> Object:
    """An owner reference to an object."""
    metadata = owner["metadata"]
    head = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"], "uid": metadata["uid"]}
    return {**head, "controller": True, "blockOwnerDeletion": True}


def _placeless(spec: Object) -> Object:
    """A pod's specification without fields that are newer than the real server of the tests, or that it would refuse
    for want of what they name."""
    dropped = {"priorityClassName", "schedulingGates", "nodeName"}
    containers = [{"image": "registry.invalid/none", **item} for item in spec["containers"]]
    for item in containers:
        item["name"] = re.sub(r"[^a-z0-9-]", "-", item.get("name") or "main")
    return {**{key: value for key, value in spec.items() if key not in dropped}, "containers": containers}


__all__ = ["PODS", "Operator", "reference", "rfc3339"]
