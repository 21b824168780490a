"""What the API server answers, taken for objects only where it is some: a proxy may answer in its place."""

import json
from typing import Any

from components.kube.errors import KubeError

Object = dict[str, Any]
Objects = list[Object]


def parsed(data: bytes) -> Any:
    """The JSON value, or None where it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def no_object(server: str) -> KubeError:
    """The error for an answer that no API server gives."""
    return KubeError(
        "the answer is no Kubernetes object",
        where=server,
        remedy="see what is at this address: a proxy or a login page, perhaps",
    )


def is_object(value: Any) -> bool:
    """Whether it has what every object has."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    return isinstance(metadata, dict) and isinstance(metadata.get("name"), str)


def items(answer: Object, server: str) -> Objects:
    """The objects of a list.

    Raises:
        KubeError: it is no list of objects.
    """
    found = answer.get("items")
    if not isinstance(found, list) or not all(map(is_object, found)):
        raise no_object(server)
    return found


def version(answer: Object, server: str) -> str:
    """The resourceVersion of a list, from which it can be watched on.

    Raises:
        KubeError: it has none.
    """
    metadata = answer.get("metadata")
    if not isinstance(metadata, dict) or "resourceVersion" not in metadata:
        raise no_object(server)
    return str(metadata["resourceVersion"])
