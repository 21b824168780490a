"""An HTTP double of the Kubernetes API server, for tests without one.

Objects live in ``kube_store``, patches in ``kube_merge``, faults in ``kube_faults``. The tests in this folder run
against it and against a real server, so that it cannot drift from what a real one does.
"""

import contextlib
import json
import re
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import kube_merge
from kube_faults import Fault, Faults
from kube_store import RefusedError, Store, now

from components.kube import kinds
from components.kube.kinds import Kind

Object = dict[str, Any]
_ROUTE = re.compile(
    r"/(?:api|apis/(?P<group>[^/]+))/(?P<version>v[^/]+)(?:/namespaces/(?P<namespace>[^/]+))?"
    r"/(?P<plural>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<sub>[^/]+))?)?"
)
_NAMESPACE = re.compile(r"/api/(?P<version>v1)/(?P<plural>namespaces)/(?P<name>[^/]+)(?:/(?P<sub>status))?")
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_BOOKMARK_SECONDS = 5.0


class ApiDouble:
    """The server. ``kinds`` are the kinds it knows: remove one to play a cluster without that operator."""

    def __init__(self) -> None:
        self.store = Store()
        self.faults = Faults()
        self.kinds = {value for value in vars(kinds).values() if isinstance(value, Kind)}
        self.kinds.add(Kind("", "v1", "serviceaccounts", "ServiceAccount"))
        self.logs: dict[tuple[str, bool], str] = {}
        """(pod, of its previous run): what its container printed."""
        self.tokens: dict[str, tuple[str, list[Object] | None]] = {}
        """Token: the account's name, and its RBAC rules (None: it may do anything)."""
        self.requests: list[str] = []
        """"VERB PATH?QUERY" of every request, in order."""
        self.admin, self.nobody = self.account("admin", None), self.account("nobody", [])
        self.operator = self.account("operator", None)
        """The account that meets no faults."""
        self._port = 0
        self._server: ThreadingHTTPServer | None = None
        self._open: set[socket.socket] = set()
        self.start()

    @property
    def url(self) -> str:
        """The base URL; it stays the same over an outage."""
        return f"http://127.0.0.1:{self._port}"

    def account(self, name: str, rules: list[Object] | None) -> str:
        """Add an account; returns its token."""
        token = secrets.token_hex(16)
        self.tokens[token] = (name, rules)
        return token

    def start(self) -> None:
        """Listen (again)."""
        handler = type("Handler", (_Handler,), {"double": self})
        ThreadingHTTPServer.allow_reuse_address = True
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), handler)
        self._server.daemon_threads = True
        self._port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Go away, with every open connection. What is stored stays."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
        self.drop_connections()

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        """Be away during the block."""
        self.stop()
        yield
        self.start()

    def drop_connections(self) -> None:
        """Cut every open connection: watches, and those that wait to be used again."""
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        with self.store.changed:
            self.store.changed.notify_all()

    def compact(self) -> None:
        """Forget the history: a watch from before gets 410."""
        with self.store.changed:
            self.store.version += 1
            self.store.oldest = self.store.version
            self.store.history.clear()

    def kind(self, group: str, version: str, plural: str) -> Kind | None:
        """The known kind of a URL."""
        wanted = (group, version, plural)
        return next((kind for kind in self.kinds if (kind.group, kind.version, kind.plural) == wanted), None)


class _Handler(BaseHTTPRequestHandler):
    double: ApiDouble
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.double._open.add(self.connection)

    def finish(self) -> None:
        self.double._open.discard(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        with contextlib.suppress(ConnectionError):
            self._serve()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

    def _serve(self) -> None:
        url = urlsplit(self.path)
        self.query = dict(parse_qsl(url.query, keep_blank_values=True))
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if url.path in {"/readyz", "/healthz", "/livez"}:
            return self._send(200, b"ok", "text/plain")
        route = _NAMESPACE.fullmatch(url.path) or _ROUTE.fullmatch(url.path)
        found = {key: unquote(value or "") for key, value in route.groupdict().items()} if route else {}
        kind = self.double.kind(found.get("group", ""), found["version"], found["plural"]) if found else None
        self.namespace, self.name, self.sub = (found.get(part, "") for part in ("namespace", "name", "sub"))
        watching = self.query.get("watch") in {"true", "1"}
        verb = _VERBS.get(self.command) or ("get" if self.name else "watch" if watching else "list")
        verb = "deletecollection" if verb == "delete" and not self.name else verb
        line = f"{verb} {self.path}"
        spared = self.headers.get("Authorization", "").endswith(self.double.operator)
        if not spared:
            self.double.requests.append(line)
        fault = (None if spared else self.double.faults.take(line)) or Fault("", 0)
        time.sleep(fault.delay)
        if fault.reset:
            self.close_connection = True
            return None
        try:
            self._authorise(verb, found)
            if "dryRun" in self.query:
                raise RefusedError(400, "BadRequest", "the double plays no dry run")
            if fault.status:
                reasons = {409: "Conflict", 410: "Expired", 403: "Forbidden", 429: "TooManyRequests"}
                reason = fault.reason or reasons.get(fault.status, "InternalError")
                details = {"name": self.name} if reason == "NotFound" else None
                raise RefusedError(fault.status, reason, f"fault {fault.status} of the test", details)
            if kind is None:
                return self._send(404, b"404 page not found\n", "text/plain")
            if verb == "watch":
                return self._watch(kind, fault)
            status, answer = self._answer(kind, verb, json.loads(raw) if raw else {})
        except RefusedError as refused:
            after = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
            return self._send(refused.code, json.dumps(refused.body).encode(), headers=after)
        if fault.lost:
            self.close_connection = True
            return None
        text = isinstance(answer, str)
        return self._send(status, (answer if text else json.dumps(answer)).encode(), "text/plain" if text else "")

    def _authorise(self, verb: str, found: dict[str, str]) -> None:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in self.double.tokens:
            raise RefusedError(401, "Unauthorized", "Unauthorized")
        account, rules = self.double.tokens[token]
        group, plural = found.get("group", ""), found.get("plural", "")
        resource = f"{plural}/{self.sub}" if self.sub else plural
        if rules is None or any(_allows(rule, verb, group, resource, self.name) for rule in rules):
            return
        head = f"{plural}.{group}" if group else plural
        called = f' "{self.name}"' if self.name else ""
        place = f' in the namespace "{self.namespace}"' if self.namespace else " at the cluster scope"
        message = (
            f'{head}{called} is forbidden: User "{account}" cannot {verb} resource "{resource}" '
            f'in API group "{group}"{place}'
        )
        raise RefusedError(403, "Forbidden", message, {"name": self.name, "group": group, "kind": plural})

    def _answer(self, kind: Kind, verb: str, body: Object) -> tuple[int, Any]:
        store, space, name, status = self.double.store, self.namespace, self.name, self.sub == "status"
        manager = self.query.get("fieldManager") or self.headers.get("User-Agent", "unknown").split("/")[0]
        if verb == "get":
            found = store.get(kind, space, name)
            return (200, self._log(found)) if self.sub == "log" else (200, found)
        if verb == "list":
            with store.changed:
                items = self._selected(store.find(kind, space))
                head = {"kind": f"{kind.kind}List", "apiVersion": kind.api_version}
                version = {"resourceVersion": str(store.version)}
            if not kind.group:  # A real server leaves the head off the items of its own kinds.
                items = [{key: item[key] for key in item if key not in {"kind", "apiVersion"}} for item in items]
            return 200, {**head, "metadata": version, "items": items}
        if verb == "create":
            if kind.namespaced:
                self._namespace(space)
            return 201, store.create(kind, space, body, manager)
        if verb == "update":
            return 200, store.replace(kind, space, name, body, manager, status)
        if verb == "patch":
            content = self.headers.get("Content-Type", "")
            if content == "application/apply-patch+yaml":
                if not self.query.get("fieldManager"):
                    raise RefusedError(400, "BadRequest", "PatchOptions.meta.k8s.io is invalid: fieldManager: Required")
                self._namespace(space) if kind.namespaced else None
                force = self.query.get("force") == "true"
                result, made = store.apply(kind, space, name, body, f"apply:{manager}", force, status)
                return (201 if made else 200), result
            if content not in {"application/merge-patch+json", "application/strategic-merge-patch+json"} or (
                kind.group and "strategic" in content
            ):
                raise RefusedError(
                    415, "UnsupportedMediaType", f"the body of the request was in an unknown format: {content}"
                )
            return 200, store.patch(kind, space, name, body, manager, status, "strategic" in content)
        if verb == "deletecollection":
            for item in self._selected(store.find(kind, space)):
                store.delete(kind, space, item["metadata"]["name"], body)
            return 200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
        policy = {"propagationPolicy": self.query["propagationPolicy"]} if "propagationPolicy" in self.query else {}
        gone = store.delete(kind, space, name, {**policy, **body})
        if gone["metadata"].get("finalizers"):
            return 200, gone
        details = {"name": name, "group": kind.group, "kind": kind.plural, "uid": gone["metadata"]["uid"]}
        return 200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}

    def _namespace(self, space: str) -> None:
        found = self.double.store.get(kinds.NAMESPACES, "", space)
        if found["metadata"].get("deletionTimestamp"):
            message = f"unable to create new content in namespace {space} because it is being terminated"
            raise RefusedError(403, "Forbidden", message, {"causes": [{"reason": "NamespaceTerminating"}]})

    def _selected(self, items: list[Object]) -> list[Object]:
        return [item for item in items if self._matches(item)]

    def _matches(self, item: Object | None) -> bool:
        return (
            item is not None
            and kube_merge.matches_labels(self.query.get("labelSelector", ""), item["metadata"].get("labels") or {})
            and kube_merge.matches_fields(self.query.get("fieldSelector", ""), item)
        )

    def _log(self, pod: Object) -> str:
        previous = self.query.get("previous") == "true"
        text = self.double.logs.get((self.name, previous))
        if text is None:
            container = self.query.get("container") or pod["spec"]["containers"][0]["name"]
            message = f'container "{container}" in pod "{self.name}" is waiting to start: ContainerCreating'
            if previous:
                message = f'previous terminated container "{container}" in pod "{self.name}" not found'
            raise RefusedError(400, "BadRequest", message)
        lines = text.splitlines(keepends=True)
        count = int(self.query.get("tailLines") or len(lines))
        return "".join(lines[-count:] if count else [])

    def _watch(self, kind: Kind, fault: Fault) -> None:
        store = self.double.store
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        begun = time.monotonic()
        end = begun + float(self.query.get("timeoutSeconds") or 1800)
        cut = begun + fault.drop_seconds if fault.drop_seconds is not None else end
        start = self.query.get("resourceVersion") or "0"
        with store.changed:
            seen = int(start) or store.version
            if seen < store.oldest:
                message = f"too old resource version: {seen} ({store.oldest})"
                self._event("ERROR", RefusedError(410, "Expired", message).body)
                return self._chunk(b"")
            if start == "0":
                for item in self._selected(store.find(kind, self.namespace)):
                    self._event("ADDED", item)
        sent, marked = 0, time.monotonic()
        while time.monotonic() < min(end, cut) and self.double._server is not None:
            if fault.drop_after is not None and sent >= fault.drop_after:
                break
            with store.changed:
                news = [change for change in store.history if change[0] > seen]
                if not news:
                    store.changed.wait(max(0.0, min(end, cut, time.monotonic() + 0.5) - time.monotonic()))
                    news = [change for change in store.history if change[0] > seen]
                seen = news[-1][0] if news else seen
            for _, change, (of, space, _name), body, before in news:
                if of != kind or self.namespace not in {"", space} or fault.hang:
                    continue
                was, is_now = self._matches(before), change != "DELETED" and self._matches(body)
                if was or is_now:
                    self._event("DELETED" if not is_now else "MODIFIED" if was else "ADDED", body)
                    sent += 1
                    if fault.drop_after is not None and sent >= fault.drop_after:
                        break
            if self.query.get("allowWatchBookmarks") == "true" and time.monotonic() - marked > _BOOKMARK_SECONDS:
                marked = time.monotonic()
                head = {"kind": kind.kind, "apiVersion": kind.api_version}
                self._event("BOOKMARK", {**head, "metadata": {"resourceVersion": str(seen)}})
        if time.monotonic() >= end:
            return self._chunk(b"")
        self.close_connection = True
        return None

    def _event(self, change: str, body: Object) -> None:
        self._chunk(json.dumps({"type": change, "object": body}).encode() + b"\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _send(self, status: int, data: bytes, content: str = "", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for key, value in {"Content-Type": content or "application/json", **(headers or {})}.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _allows(rule: Object, verb: str, group: str, resource: str, name: str) -> bool:
    def among(field: str, value: str) -> bool:
        return bool({"*", value} & set(rule.get(field, ())))

    named = not rule.get("resourceNames") or name in rule["resourceNames"]
    return among("verbs", verb) and among("apiGroups", group) and among("resources", resource) and named


def namespace_object(name: str) -> Object:
    """A Namespace to create."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def event_object(about: Object, reason: str, message: str, kind: str, count: int = 1) -> Object:
    """An Event about an object, as a kubelet or controller reports it."""
    metadata = about["metadata"]
    keys = ("name", "namespace", "uid", "resourceVersion")
    involved = {"apiVersion": about["apiVersion"], "kind": about["kind"], **{key: metadata[key] for key in keys}}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{metadata['name']}.", "namespace": metadata["namespace"]},
        "involvedObject": involved,
        "reason": reason,
        "message": message,
        "type": kind,
        "count": count,
        "firstTimestamp": now(),
        "lastTimestamp": now(),
        "source": {"component": "test"},
    }
