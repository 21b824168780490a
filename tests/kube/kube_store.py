"""Objects of a pretended API server, with the versions, refusals and history of a real one."""

import copy
import datetime
import re
import threading
import uuid
from typing import Any

from kube_merge import applied, merge, owned

from components.kube.kinds import Kind

Object = dict[str, Any]
Key = tuple[Kind, str, str]
_WITHOUT_STATUS = frozenset({"events", "secrets", "configmaps", "servingruntimes", "serviceaccounts"})
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_KEPT = ("uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields")
_FOREGROUND = "foregroundDeletion"


class RefusedError(Exception):
    """An answer other than success: a Status object."""

    def __init__(self, code: int, reason: str, message: str, details: Object | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.body: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason,
            "details": {key: value for key, value in (details or {}).items() if value},
            "code": code,
        }


def now() -> str:
    """The present second, as in creationTimestamp."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Store:
    """The objects. All methods lock; ``changed`` is notified at each change."""

    def __init__(self) -> None:
        self.changed = threading.Condition(threading.RLock())
        self.version = 100
        self.oldest = 100
        """History before this version is compacted: a watch from there gets 410."""
        self.history: list[tuple[int, str, Key, Object, Object | None]] = []
        """(version, ADDED|MODIFIED|DELETED, key, the object, the object before)."""
        self._objects: dict[Key, Object] = {}
        self._owners: dict[Key, dict[str, set[tuple[str, ...]]]] = {}

    def find(self, kind: Kind, namespace: str = "") -> list[Object]:
        """All objects of a kind, of one namespace or of all."""
        with self.changed:
            found = [value for key, value in self._objects.items() if key[0] == kind and namespace in {"", key[1]}]
            return copy.deepcopy(found)

    def get(self, kind: Kind, namespace: str, name: str) -> Object:
        """One object; RefusedError 404."""
        with self.changed:
            return copy.deepcopy(self._held((kind, namespace, name)))

    def create(self, kind: Kind, namespace: str, body: Object, manager: str) -> Object:
        """POST."""
        with self.changed:
            body = copy.deepcopy(body)
            metadata = body.setdefault("metadata", {})
            if not metadata.get("name") and metadata.get("generateName"):
                metadata["name"] = metadata["generateName"] + uuid.uuid4().hex[:5]
            name = self._checked(kind, namespace, body)
            key = (kind, namespace, name)
            if key in self._objects:
                details = {"name": name, "group": kind.group, "kind": kind.plural}
                raise RefusedError(409, "AlreadyExists", f'{kind.resource} "{name}" already exists', details)
            body.pop("status", None) if kind.plural not in _WITHOUT_STATUS else None
            metadata.update(uid=str(uuid.uuid4()), creationTimestamp=now())
            if kind.group:
                metadata["generation"] = 1
            if kind.plural == "pods":
                body["status"] = {"phase": "Pending", "qosClass": "BestEffort"}
            self._owners[key] = {manager: set(owned(body))}
            return self._write(key, body, None)

    def replace(self, kind: Kind, namespace: str, name: str, body: Object, manager: str, status: bool) -> Object:
        """PUT of an object, or of its status alone."""
        with self.changed:
            key = (kind, namespace, name)
            old = self._held(key)
            given = body.get("metadata") or {}
            if self._checked(kind, namespace, body) != name:
                message = f"the name of the object ({given.get('name')}) does not match the name on the URL ({name})"
                raise RefusedError(400, "BadRequest", message)
            if kind.group and not given.get("resourceVersion"):
                message = "metadata.resourceVersion: Invalid value: 0x0: must be specified for an update"
                raise self._invalid(kind, name, message)
            return self._update(key, old, copy.deepcopy(body), manager, status)

    def patch(
        self, kind: Kind, namespace: str, name: str, change: Object, manager: str, status: bool, strategic: bool
    ) -> Object:
        """PATCH by merge."""
        with self.changed:
            key = (kind, namespace, name)
            old = self._held(key)
            body = merge(old, change, strategic)
            if not (change.get("metadata") or {}).get("resourceVersion"):
                body["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
            return self._update(key, old, body, manager, status)

    def apply(
        self, kind: Kind, namespace: str, name: str, body: Object, manager: str, force: bool, status: bool
    ) -> tuple[Object, bool]:
        """PATCH by server-side apply. Also whether the object was made by it."""
        with self.changed:
            if self._checked(kind, namespace, body) != name:
                raise RefusedError(400, "BadRequest", "the name of the object does not match the name on the URL")
            if body["metadata"].get("managedFields"):
                raise RefusedError(400, "BadRequest", "metadata.managedFields must be nil")
            key = (kind, namespace, name)
            old = self._objects.get(key)
            if old is None:
                return self.create(kind, namespace, body, manager), True
            owners = self._owners[key]
            mine = owned(body)
            held = owned(old)
            clashes = sorted(
                (other, ".".join(path))
                for other, paths in owners.items()
                for path in paths
                if other != manager and path in mine and held.get(path) != mine[path]
            )
            if clashes and not force:
                other, path = clashes[0][0].removeprefix("apply:"), clashes[0][1]
                message = f'Apply failed with {len(clashes)} conflict: conflict with "{other}": .{path}'
                raise RefusedError(409, "Conflict", message)
            others = set().union(*(paths for other, paths in owners.items() if other != manager))
            wanted = applied(old, body, owners.get(manager, set()), others)
            result = self._update(key, old, wanted, manager, status)
            owners[manager] = set(mine)
            return result, False

    def delete(self, kind: Kind, namespace: str, name: str, options: Object) -> Object:
        """DELETE: at once, or marked while finalizers hold it. What it owned goes too, unless orphaned."""
        with self.changed:
            key = (kind, namespace, name)
            old = self._held(key)
            for field, value in (options.get("preconditions") or {}).items():
                if value and old["metadata"].get(field) != value:
                    message = (
                        f'Operation cannot be fulfilled on {kind.resource} "{name}": Precondition failed: '
                        f"{field.upper()} in precondition: {value}, {field.upper()} in object meta: "
                        f"{old['metadata'].get(field)}"
                    )
                    raise RefusedError(409, "Conflict", message, {"name": name, "kind": kind.plural})
            policy = options.get("propagationPolicy", "Background")
            body = copy.deepcopy(old)
            if policy == "Foreground":
                body["metadata"]["finalizers"] = sorted({*body["metadata"].get("finalizers", ()), _FOREGROUND})
            if body["metadata"].get("finalizers"):
                body["metadata"].setdefault("deletionTimestamp", now())
                body = self._write(key, body, old)
            else:
                self._remove(key)
            if policy != "Orphan":
                for (child, space, called), item in list(self._objects.items()):
                    owner_uids = {owner["uid"] for owner in item["metadata"].get("ownerReferences", ())}
                    if old["metadata"]["uid"] in owner_uids and (child, space, called) in self._objects:
                        self.delete(child, space, called, {"propagationPolicy": policy})
            self._collect(key)
            return body

    def _collect(self, key: Key) -> None:
        """End a foreground deletion once nothing that the object owned is left."""
        held = self._objects.get(key)
        if held is None or _FOREGROUND not in held["metadata"].get("finalizers", ()):
            return
        uid = held["metadata"]["uid"]
        if any(uid == owner["uid"] for item in self._objects.values() for owner in _owner_references(item)):
            return
        body = copy.deepcopy(held)
        body["metadata"]["finalizers"].remove(_FOREGROUND)
        self._settle(key, body, held)

    def _settle(self, key: Key, body: Object, old: Object) -> Object:
        """Write, or remove where the last finalizer of a deleted object went."""
        if not body["metadata"].get("finalizers") and body["metadata"].get("deletionTimestamp"):
            self._remove(key)
            return body
        return self._write(key, body, old)

    def _held(self, key: Key) -> Object:
        if key not in self._objects:
            kind, _, name = key
            details = {"name": name, "group": kind.group, "kind": kind.plural}
            raise RefusedError(404, "NotFound", f'{kind.resource} "{name}" not found', details)
        return self._objects[key]

    def _update(self, key: Key, old: Object, body: Object, manager: str, status: bool) -> Object:
        kind, _, name = key
        for field, value in (("resourceVersion", "object has been modified"), ("uid", "UID in precondition")):
            given = body["metadata"].get(field)
            if given and given != old["metadata"][field]:
                message = (
                    f'Operation cannot be fulfilled on {kind.resource} "{name}": the {value}; please apply your '
                    "changes to the latest version and try again"
                )
                raise RefusedError(409, "Conflict", message, {"name": name, "group": kind.group, "kind": kind.plural})
        if status:
            body = {**copy.deepcopy(old), "status": body.get("status", {})}
        elif kind.plural not in _WITHOUT_STATUS:
            body.pop("status", None)
            body.update({"status": old["status"]} if "status" in old else {})
        for field in _KEPT:
            body["metadata"].pop(field, None)
            if field in old["metadata"]:
                body["metadata"][field] = old["metadata"][field]
        body["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
        if _content(body) != _content(old) and kind.group and not status:
            body["metadata"]["generation"] = old["metadata"]["generation"] + 1
        if body == old:
            return copy.deepcopy(old)
        before, after = owned(old), owned(body)
        touched = {path for path in {*before, *after} if before.get(path) != after.get(path)}
        for other, paths in self._owners[key].items():
            if other != manager:
                paths.difference_update(touched)
        self._owners[key].setdefault(manager, set()).update(touched & set(after))
        return self._settle(key, body, old)

    def _checked(self, kind: Kind, namespace: str, body: Object) -> str:
        """The object's name; RefusedError where its head is wrong."""
        metadata = body.get("metadata") or {}
        name = metadata.get("name") or ""
        if (body.get("apiVersion", kind.api_version), body.get("kind", kind.kind)) != (kind.api_version, kind.kind):
            message = (
                f"the API version in the data ({body.get('apiVersion')}, {body.get('kind')}) does not match the URL"
            )
            raise RefusedError(400, "BadRequest", message)
        body.update(apiVersion=kind.api_version, kind=kind.kind)
        if not name:
            raise self._invalid(kind, "", "metadata.name: Required value: name or generateName is required")
        if len(name) > 253 or not _DNS_SUBDOMAIN.fullmatch(name):
            raise self._invalid(
                kind, name, f'metadata.name: Invalid value: "{name}": a lowercase RFC 1123 subdomain must consist of '
                "lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
            )  # fmt: skip
        for key, value in (metadata.get("labels") or {}).items():
            if not isinstance(value, str) or not re.fullmatch(r"(([A-Za-z0-9][-\w.]{0,61})?[A-Za-z0-9])?", value):
                raise self._invalid(kind, name, f'metadata.labels: Invalid value: "{value}": a valid label ({key})')
        if metadata.get("namespace", namespace) != namespace:
            raise RefusedError(400, "BadRequest", "the namespace of the object does not match the namespace of the URL")
        if kind.namespaced:
            metadata["namespace"] = namespace
        return str(name)

    def _invalid(self, kind: Kind, name: str, message: str) -> RefusedError:
        text = f'{kind.kind}{"." + kind.group if kind.group else ""} "{name}" is invalid: {message}'
        return RefusedError(422, "Invalid", text, {"name": name, "group": kind.group, "kind": kind.kind})

    def _write(self, key: Key, body: Object, old: Object | None) -> Object:
        self.version += 1
        body["metadata"]["resourceVersion"] = str(self.version)
        self._objects[key] = body
        self.history.append((self.version, "MODIFIED" if old else "ADDED", key, copy.deepcopy(body), old))
        self.changed.notify_all()
        return copy.deepcopy(body)

    def _remove(self, key: Key) -> None:
        self.version += 1
        body = self._objects.pop(key)
        last = merge(body, {"metadata": {"resourceVersion": str(self.version)}})
        self.history.append((self.version, "DELETED", key, last, body))
        self._owners.pop(key, None)
        self.changed.notify_all()
        for owner in _owner_references(body):
            for parent, item in list(self._objects.items()):
                if item["metadata"]["uid"] == owner["uid"]:
                    self._collect(parent)


def _content(body: Object) -> Object:
    return {key: value for key, value in body.items() if key not in {"metadata", "status"}}


def _owner_references(body: Object) -> list[Object]:
    return list(body["metadata"].get("ownerReferences") or ())
