"""A cluster that is a dictionary."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from components.cluster_setup.definitions import PRODUCTS
from components.cluster_setup.kubectl import Kubectl, SetupError

Object = dict[str, Any]


class World(Kubectl):
    """Answers from ``there`` (kind, namespace, name); keeps what is changed, in order."""

    def __init__(self, overlay: list[Object]) -> None:
        super().__init__("none")
        self.overlay = overlay
        self.there: dict[tuple[str, str | None, str], Object] = {}
        self.changed: list[str] = []
        self.git_version = "v1.33.1"
        self.unserved: set[tuple[str, str]] = set()
        self.put("service", "default", "kubernetes", {"spec": {"clusterIP": "10.96.0.1", "ports": [{"port": 443}]}})
        self.put("namespace", None, "kubeflow", {})

    def put(self, kind: str, namespace: str | None, name: str, body: Object) -> None:
        self.there[kind, namespace, name] = {**body, "metadata": {"name": name, **body.get("metadata", {})}}

    def run(self, *arguments: str, given: str | None = None, seconds: float = 0) -> str:
        if arguments[:2] == ("get", "--raw"):
            version = arguments[2].removeprefix("/apis/").removeprefix("/api/")
            kinds = {item["kind"] for item in self.overlay if item["apiVersion"] == version}
            kinds |= {product.kind for product in PRODUCTS if product.version == version}
            kinds -= {kind for group, kind in self.unserved if group == version}
            if not kinds:
                raise SetupError("Error from server (NotFound): the server could not find the requested resource")
            return json.dumps({"resources": [{"kind": kind} for kind in sorted(kinds)]})
        if arguments[:2] == ("config", "current-context"):
            return "here\n"
        if arguments[0] == "version":
            return json.dumps({"serverVersion": {"gitVersion": self.git_version}})
        if arguments[0] == "annotate":
            self.changed.append(" ".join(arguments))
            return ""
        raise AssertionError(arguments)

    def get(self, kind: str, name: str, namespace: str | None = None) -> Object | None:
        return self.there.get((kind, namespace, name))

    def list(self, kind: str, namespace: str | None = None, *selection: str) -> Any:
        return [body for (found, space, _), body in self.there.items() if (found, space) == (kind, namespace)]

    def present(self, objects: Iterable[Mapping[str, Any]]) -> Any:
        keys = ((item["kind"].lower(), item["metadata"].get("namespace"), item["metadata"]["name"]) for item in objects)
        return [{"kind": key[0], **self.there[key]} for key in keys if key in self.there]

    def build(self, folder: Path) -> Any:
        return json.loads(json.dumps(self.overlay))

    def apply(self, objects: Iterable[Mapping[str, Any]]) -> Any:
        names = [f"{item['kind']}/{item['metadata']['name']}" for item in objects]
        self.changed += [f"apply {name}" for name in names]
        return names

    def delete(self, objects: Iterable[Mapping[str, Any]], seconds: float) -> Any:
        names = [f"{item['kind']}/{item['metadata']['name']}" for item in objects]
        self.changed += [f"delete {name}" for name in names]
        return names
