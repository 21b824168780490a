"""Looking into objects: their names, the pods that they make, and what those refer to."""

from collections.abc import Iterator, Mapping
from typing import Any

Object = dict[str, Any]

NAMESPACE = "gavel"
"""The namespace of the manifests."""


def title(item: Mapping[str, Any]) -> str:
    """Kind and name, as messages show them."""
    return f"{item['kind']} {item['metadata']['name']}"


def namespace(item: Mapping[str, Any]) -> str | None:
    """The namespace it says; None for what belongs to none."""
    found = item["metadata"].get("namespace")
    return str(found) if found else None


def group(item: Mapping[str, Any]) -> str:
    """The API group; empty for the core one."""
    found, slash, _ = str(item["apiVersion"]).partition("/")
    return found if slash else ""


def pod_specs(item: Object) -> Iterator[Object]:
    """The specification of each pod that the object makes: what has a list of containers, wherever it stands."""
    spec = item.get("spec")
    if isinstance(spec, dict):
        yield from _pod_specs(spec)


def _pod_specs(part: Object) -> Iterator[Object]:
    if isinstance(part.get("containers"), list):
        yield part
        return
    for value in part.values():
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                yield from _pod_specs(inner)


def containers(item: Object) -> Iterator[Object]:
    """All containers of the object's pods, those that run first included."""
    for spec in pod_specs(item):
        yield from spec.get("initContainers") or ()
        yield from spec["containers"]


def secret_names(item: Object) -> set[str]:
    """The Secrets that the object's pods refer to."""
    return set(_secret_names(item.get("spec")))


def _secret_names(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for key, value in part.items():
            if key in ("secretKeyRef", "secretRef") and isinstance(value, dict):
                yield str(value["name"])
            elif key == "secretName" and isinstance(value, str):
                yield value
            else:
                yield from _secret_names(value)
    elif isinstance(part, list):
        for value in part:
            yield from _secret_names(value)
