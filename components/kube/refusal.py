"""A refusal of the API server as an error that says what to do."""

from collections.abc import Mapping
from typing import Any

from components.kube.answers import parsed
from components.kube.errors import (
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    GoneError,
    KubeError,
    UnauthorisedError,
)
from components.kube.kinds import Kind


def status_of(data: bytes) -> dict[str, Any]:
    """The Status object of an answer; {} where it is none (a proxy's page, or "404 page not found")."""
    body = parsed(data)
    return body if isinstance(body, dict) and body.get("kind") == "Status" else {}


def is_missing_object(body: Mapping[str, Any]) -> bool:
    """Whether a 404 means that one object is not there; else the kind itself is unknown to the server."""
    details = body.get("details")
    return isinstance(details, dict) and bool(details.get("name"))


def refusal(
    status: int, data: bytes, verb: str, kind: Kind, namespace: str, name: str, subresource: str, server: str
) -> KubeError:
    """The error for an answer of ``status`` to ``verb`` (RBAC's word) on an object, a part of it, or a collection."""
    resource = f"{kind.resource}/{subresource}" if subresource else kind.resource
    body = status_of(data)
    said = str(body.get("message") or data[:300].decode("utf-8", "replace").strip() or f"HTTP {status}")
    place = f" in namespace {namespace}" if kind.namespaced else ""
    where = f"{resource}{f' {name}' if name else ''}{place}, {server}"
    if status == 401:
        remedy = "log in again, or use another context of the kubeconfig"
        return UnauthorisedError(
            "the API server does not accept our credentials", where=where, remedy=remedy, status=status, body=body
        )
    if status == 403 and (f"cannot {verb} " in said or not body):
        what = f"our account may not {verb} {resource}{place}: {said}"
        remedy = f"allow the verb {verb} on {resource} in the account's Role (manifests/), or use another account"
        return ForbiddenError(what, where=where, remedy=remedy, status=status, body=body)
    if status == 404 and not is_missing_object(body):
        what = f"the cluster does not know {kind.resource} in version {kind.version}"
        remedy = "install the operator that brings this kind (docs/cluster.md)"
        return KubeError(what, where=where, remedy=remedy, status=status, body=body)
    kinds: dict[int, type[KubeError]] = {403: ForbiddenError, 409: ConflictError, 410: GoneError}
    error = kinds.get(status, KubeError)
    if status == 409 and body.get("reason") == "AlreadyExists":
        error = AlreadyExistsError
    remedy = "correct what the server's words name" if status in {400, 422} else ""
    return error(f"{verb} refused ({status}): {said}", where=where, remedy=remedy, status=status, body=body)
