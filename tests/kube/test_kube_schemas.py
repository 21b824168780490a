"""The strict check refuses what a server would drop in silence."""

from typing import Any

import pytest
from schemas import SchemaError, strict
from test_kube_cluster import pod, ray_job
from test_kube_operators import service

from components.kube.kinds import INFERENCE_SERVICES, PODS, RAY_JOBS, Kind

Object = dict[str, Any]


def whole(kind: Kind, body: Object) -> Object:
    return {"apiVersion": kind.api_version, "kind": kind.kind, **body}


@pytest.mark.parametrize("body", [whole(RAY_JOBS, ray_job()), whole(INFERENCE_SERVICES, service()), whole(PODS, pod())])
def test_a_right_object_passes(body: Object) -> None:
    strict(body)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("spec", "shutdownAfterJobFinish"), True, "shutdownAfterJobFinish"),
        (("spec", "activeDeadlineSeconds"), "600", "activeDeadlineSeconds"),
        (("spec", "rayClusterSpec", "headGroupSpec", "template", "spec", "hostNetworks"), True, "hostNetworks"),
        (("spec", "rayClusterSpec", "headGroupSpec", "serviceType"), 3, "serviceType"),
    ],
)
def test_a_wrong_field_is_named(path: tuple[str, ...], value: object, words: str) -> None:
    body = whole(RAY_JOBS, ray_job())
    inner = body
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    with pytest.raises(SchemaError, match=words):
        strict(body)


def test_a_field_of_a_pod_that_does_not_exist_is_refused() -> None:
    body = whole(PODS, pod())
    body["spec"]["containers"][0]["resource"] = {}
    with pytest.raises(SchemaError, match="resource"):
        strict(body)


def test_a_version_that_no_crd_has_is_refused() -> None:
    with pytest.raises(SchemaError, match="no CRD"):
        strict({**whole(RAY_JOBS, ray_job()), "apiVersion": "ray.io/v7"})
