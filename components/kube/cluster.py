"""One namespace of a cluster: objects as plain dictionaries."""

import copy
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal

from components.kube.answers import is_object, items, no_object
from components.kube.connect import connection
from components.kube.errors import ConflictError, KubeError
from components.kube.events import Event, event
from components.kube.kinds import EVENTS, PODS, Kind
from components.kube.labels import selector
from components.kube.refusal import is_missing_object
from components.kube.transport import Request, Transport
from components.kube.watch import watch

Object = dict[str, Any]
Objects = list[Object]
Events = list[Event]
# Named here: in the class ``list`` is the method.
_MANAGER = "gavel"
_NO_POD = frozenset({"FailedCreate", "FailedToCreateHeadPod", "FailedToCreateWorkerPod", "FailedToCreatePod"})


class Cluster:
    """The API server, seen from one namespace.

    Each request is repeated while the server is overloaded (429, with its Retry-After), failing (5xx) or away, for at
    most the patience. After a lost answer a repeated ``create`` may meet its own object and raise AlreadyExistsError:
    callers compare ``ANNOTATION_SPEC`` and adopt. Every method raises KubeError.
    """

    def __init__(self, transport: Transport, namespace: str) -> None:
        self._transport = transport
        self.namespace = namespace

    @classmethod
    def connect(cls, namespace: str | None = None, *, patience: float = 120.0) -> "Cluster":
        """In a pod its service account, else $KUBECONFIG or ~/.kube/config. Sends nothing yet.

        Args:
            namespace: None for that of the pod or of the kubeconfig's context.
            patience: how long one request is repeated before it counts as failed, in seconds.

        Raises:
            KubeError: there is no configuration, or it cannot be read.
        """
        found = connection()
        return cls(Transport(found, patience), namespace or found.namespace)

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return self._transport.connection.server

    def get(self, kind: Kind, name: str) -> Object | None:
        """The object, or None if there is none of this name."""
        try:
            return self._request("GET", "get", kind, name)
        except KubeError as error:
            if _absent(error):
                return None
            raise

    def list(self, kind: Kind, labels: dict[str, str] | None = None) -> Objects:
        """All objects with these labels, by name."""
        query = {"labelSelector": selector(labels)} if labels else {}
        return self._items(kind, query)

    def create(self, kind: Kind, body: Object) -> Object:
        """Make the object.

        Raises:
            AlreadyExistsError: there is one of this name.
        """
        return self._request("POST", "create", kind, body=self._whole(kind, body))

    def apply(self, kind: Kind, body: Object) -> Object:
        """Server-side apply as field manager "gavel": make the object or bring our fields to what is given. Fields that
        we applied before and no longer give are removed; those of others stay."""
        whole = self._whole(kind, body)
        query = {"fieldManager": _MANAGER, "force": "true"}
        name = whole["metadata"]["name"]
        return self._request("PATCH", "patch", kind, name, query, whole, "application/apply-patch+yaml")

    def edit(self, kind: Kind, name: str, change: Callable[[Object], Object | None]) -> Object | None:
        """Read, change and write the object, again for as long as others write in between.

        Args:
            change: gets a copy and returns the object to write, or None where there is nothing to do. It may be called
                many times, and once more after a write whose answer was lost.

        Returns:
            The object as it is now; None if it is gone.
        """
        end = time.monotonic() + self._transport.patience
        repeat = 0
        while (now := self.get(kind, name)) is not None:
            wanted = change(copy.deepcopy(now))
            if wanted is None:
                return now
            try:
                return self._request("PUT", "update", kind, name, body=wanted)
            except ConflictError:
                wait = self._transport.pause(min(repeat, 2))
                if time.monotonic() + wait >= end:
                    raise
            except KubeError as error:
                if _absent(error):
                    return None
                raise
            time.sleep(wait)
            repeat += 1
        return None

    def delete(
        self,
        kind: Kind,
        name: str,
        *,
        uid: str | None = None,
        cascade: Literal["background", "foreground"] = "background",
    ) -> bool:
        """Delete the object. With ``uid`` only that very object, not a later one of the same name.

        Returns:
            False if it was not there.
        """
        options: Object = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": cascade.capitalize()}
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        try:
            self._request("DELETE", "delete", kind, name, body=options)
        except ConflictError:
            if uid is None:
                raise
            return False
        except KubeError as error:
            if _absent(error):
                return False
            raise
        return True

    def watch(self, kind: Kind, name: str, *, poll: float = 15.0) -> Iterator[Object | None]:
        """The object now and after each change, and at least every ``poll`` seconds as it is then; None while there is
        none. Never ends by itself. Changes that follow each other closely may come as one.

        Raises:
            UnreachableError: the server was away for longer than the patience.
        """
        return watch(self._transport, kind, self.namespace, name, poll)

    def events(self, uid: str) -> Events:
        """What the cluster reported on the object with this uid, oldest first."""
        found = self._items(EVENTS, {"fieldSelector": f"involvedObject.uid={uid}"})
        return self._events(found)

    def refused_pods(self, owner: str, name: str) -> Events:
        """Why pods of an object cannot be made, oldest first: a missing account, a quota, an admission rule. Such a
        refusal stands in the events of what makes the pods (which we may not read) and nowhere else.

        Args:
            owner: kind of what makes the pods, such as ReplicaSet.
            name: its name, or with a hyphen at the end what its name begins with.
        """
        found = self._items(EVENTS, {"fieldSelector": f"involvedObject.kind={owner},type=Warning"})
        about = [
            item
            for item in found
            if str(item.get("reason")) in _NO_POD and _called(str((item.get("involvedObject") or {}).get("name")), name)
        ]
        return self._events(about)

    def _events(self, found: Objects) -> Events:
        try:
            # Their times are whole seconds: of two in one second the one seen more often tells more.
            return sorted((event(item) for item in found), key=lambda item: (item.time, item.count))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise no_object(self.server) from error

    def pods(self, labels: dict[str, str]) -> Objects:
        """All pods with these labels, by name."""
        return self.list(PODS, labels)

    def log(self, pod: str, container: str | None = None, lines: int = 50, previous: bool = False) -> str:
        """The last ``lines`` of a container's output; with ``previous`` those of its run before the last restart.

        Returns:
            "" if the pod is gone or the container has not started (so that there is nothing to read).
        """
        query = {"tailLines": str(lines)}
        if container:
            query["container"] = container
        if previous:
            query["previous"] = "true"
        request = Request("GET", "get", PODS, self.namespace, pod, "log", query)
        try:
            return self._transport.send(request).decode("utf-8", "replace")
        except KubeError as error:
            if error.status == 400 or _absent(error):
                return ""
            raise

    def _whole(self, kind: Kind, body: Object) -> Object:
        metadata = {**body["metadata"], **({"namespace": self.namespace} if kind.namespaced else {})}
        return {**body, "apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}

    def _items(self, kind: Kind, query: dict[str, str]) -> Objects:
        answer = self._request("GET", "list", kind, query=query)
        head = {"apiVersion": kind.api_version, "kind": kind.kind}
        found = items(answer, self.server)
        return sorted(({**head, **item} for item in found), key=lambda item: str(item["metadata"]["name"]))

    def _request(
        self,
        method: str,
        verb: str,
        kind: Kind,
        name: str = "",
        query: dict[str, str] | None = None,
        body: Object | None = None,
        content: str = "application/json",
    ) -> Object:
        request = Request(method, verb, kind, self.namespace, name, "", query or {}, body, content)
        answer = self._transport.send_object(request)
        # Deleting is answered by a Status, too.
        if verb not in ("list", "delete") and not is_object(answer):
            raise no_object(self.server)
        return answer


def _called(found: str, name: str) -> bool:
    return found == name or (name.endswith("-") and found.startswith(name))


def _absent(error: KubeError) -> bool:
    return error.status == 404 and is_missing_object(error.body)
