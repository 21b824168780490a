"""The real CustomResourceDefinitions, where a copy of them is at hand."""

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from components.kube.cluster import Cluster
from components.kube.errors import AlreadyExistsError
from components.kube.kinds import Kind

Object = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]
CRDS = Kind("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False)
_NEEDED = ("InferenceService", "ServingRuntime", "RayJob", "RayCluster", "Workload", "LocalQueue")
_NEEDED += ("ClusterQueue", "ResourceFlavor", "WorkloadPriorityClass")
_ONLY = {"RayJob": "v1", "RayCluster": "v1", "Workload": "v1beta2"}
"""Of the largest only the version in use is installed: a server takes a minute to digest them all."""


def folder() -> Path | None:
    """$GAVEL_CRDS, else shared/crds beside the checkout; None if it is not there."""
    found = Path(os.environ.get("GAVEL_CRDS") or ROOT.parent / "shared" / "crds")
    return found if found.is_dir() else None


@cache
def definition(kind: str) -> Object | None:
    """The CustomResourceDefinition of a kind; None where it is not at hand. Only its own (large) file is read."""
    place = folder()
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for file in sorted(place.glob("k*.yaml")) if place else ():
        text = file.read_text(encoding="utf-8")
        if re.search(rf"^    kind: {kind}$", text, re.MULTILINE):
            for item in yaml.load_all(text, loader):
                if item and item.get("kind") == "CustomResourceDefinition" and item["spec"]["names"]["kind"] == kind:
                    return item
    return None


def stripped(kinds: tuple[str, ...] = _NEEDED) -> list[Object]:
    """The definitions as Kubernetes 1.20 takes them: without CEL rules and selectable fields, which it does not know,
    without descriptions, which make them exceed what etcd takes, and
    without conversion, which only their operators' webhooks serve."""
    return [_strip_definition(item) for item in map(definition, kinds) if item]


def _strip_definition(item: Object) -> Object:
    only = _ONLY.get(item["spec"]["names"]["kind"])
    used = [dict(version) for version in item["spec"]["versions"] if only in {None, version["name"]}]
    spec = {**item["spec"], "versions": used}
    spec.pop("conversion", None)
    for version in used:
        version["storage"] = version is used[0] if only else version["storage"]
        version.pop("selectableFields", None)
        version["schema"] = _strip(version["schema"])
    return {
        "apiVersion": item["apiVersion"],
        "kind": item["kind"],
        "metadata": {"name": item["metadata"]["name"]},
        "spec": spec,
    }


def _strip(node: Any) -> Any:
    if isinstance(node, list):
        return [_strip(item) for item in node]
    if not isinstance(node, dict):
        return node
    # A property may itself be called "description": only text is prose.
    return {
        key: _strip(value)
        for key, value in node.items()
        if key != "x-kubernetes-validations" and not (key == "description" and isinstance(value, str))
    }


def install(cluster: Cluster, items: list[Object]) -> None:
    """Create the definitions and wait until the server serves them."""
    for item in items:
        try:
            cluster.create(CRDS, item)
        except AlreadyExistsError:
            continue
    for item in items:
        for found in cluster.watch(CRDS, item["metadata"]["name"], poll=1.0):
            # A definition that the server has not looked at yet has a status of nulls.
            parts = ((found or {}).get("status") or {}).get("conditions") or ()
            conditions = {part["type"]: part["status"] for part in parts}
            if conditions.get("Established") == "True":
                break
