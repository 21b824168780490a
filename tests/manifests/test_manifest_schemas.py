"""Every object of the manifests against the schemas of Kubernetes and of the real CRDs, unknown fields refused."""

import json

import pytest
from manifest_objects import ALL, MANIFESTS, OTHERS, OVERLAYS, Object, objects
from schemas import SchemaError, strict

from components.cluster_setup.objects import group

_checked: set[str] = set()
CUSTOM = {"serving.kserve.io", "kueue.x-k8s.io"}


def check(item: Object) -> None:
    """As ``strict``, once for each object: most are the same in all overlays, and one takes a third of a second."""
    text = json.dumps(item, sort_keys=True)
    if text not in _checked:
        strict(item)
        _checked.add(text)


@pytest.mark.parametrize("overlay", ALL)
def test_objects_of_kubernetes_itself(overlay: str) -> None:
    plain = [item for item in objects(overlay) if group(item) not in CUSTOM]
    for item in plain:
        check(item)
    assert len(plain) >= 25


@pytest.mark.parametrize("overlay", ALL)
def test_objects_of_kserve_and_kueue(overlay: str) -> None:
    custom = [item for item in objects(overlay) if group(item) in CUSTOM]
    for item in custom:
        check(item)
    assert {item["kind"] for item in custom} >= ({"ClusterQueue", "ServingRuntime"} if overlay == "h800" else set())


def test_the_check_refuses_a_field_that_no_schema_knows() -> None:
    wrong = next(item for item in objects("dev") if item["kind"] == "StatefulSet")
    wrong["spec"]["template"]["spec"]["containers"][0]["securityContext"]["runAsUsers"] = 1
    with pytest.raises(SchemaError, match="runAsUsers"):
        strict(wrong)


@pytest.mark.parametrize("overlay", ALL)
def test_nothing_is_there_twice(overlay: str) -> None:
    keys = [(item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]) for item in objects(overlay)]
    assert len(keys) == len(set(keys))


def test_every_component_is_in_some_overlay_of_these_tests() -> None:
    used = {name for names in OTHERS.values() for name in names}
    for overlay in OVERLAYS:
        text = (MANIFESTS / "overlays" / overlay / "kustomization.yaml").read_text()
        used |= {line.rpartition("/")[2] for line in text.splitlines() if "../../components/" in line}
    assert used == {item.name for item in (MANIFESTS / "components").iterdir()}
