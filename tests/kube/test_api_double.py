"""The double answers as the real server does: each test runs on both."""

import json
from typing import Any

import pytest
from kube_fixture import Api
from test_kube_cluster import config_map, pod, ray_job

from components.kube.kinds import CONFIG_MAPS, INFERENCE_SERVICES, PODS, RAY_JOBS, SECRETS, Kind

Object = dict[str, Any]
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"


def whole(kind: Kind, body: Object) -> Object:
    return {"apiVersion": kind.api_version, "kind": kind.kind, **body}


def path(api: Api, kind: Kind, name: str = "", **query: str) -> str:
    return kind.path(api.namespace, name) + "?" + "&".join(f"{key}={value}" for key, value in query.items())


def make(api: Api, kind: Kind, body: Object) -> Object:
    code, made = api.call("POST", path(api, kind), whole(kind, body))
    assert code == 201, made
    return made


def changes(api: Api, kind: Kind, version: str, **query: str) -> list[Object]:
    """What a watch of one second shows."""
    code, text = api.call("GET", path(api, kind, watch="true", resourceVersion=version, timeoutSeconds="1", **query))
    assert code == 200, text
    return [text] if isinstance(text, dict) else [json.loads(line) for line in text.splitlines()]


def test_a_stale_version_is_a_conflict(api: Api) -> None:
    old = make(api, RAY_JOBS, ray_job())
    code, new = api.call("PATCH", path(api, RAY_JOBS, "job"), {"spec": {"suspend": True}}, MERGE)
    assert (code, new["metadata"]["generation"]) == (200, 2)
    code, refused = api.call("PUT", path(api, RAY_JOBS, "job"), old)
    assert (code, refused["reason"], refused["kind"]) == (409, "Conflict", "Status")
    stale = {"metadata": {"resourceVersion": old["metadata"]["resourceVersion"]}, "spec": {"suspend": False}}
    assert api.call("PATCH", path(api, RAY_JOBS, "job"), stale, MERGE)[0] == 409


def test_a_custom_resource_is_not_replaced_without_its_version(api: Api) -> None:
    made = make(api, RAY_JOBS, ray_job())
    del made["metadata"]["resourceVersion"]
    code, refused = api.call("PUT", path(api, RAY_JOBS, "job"), made)
    assert (code, refused["reason"]) == (422, "Invalid")
    plain = make(api, CONFIG_MAPS, config_map())
    del plain["metadata"]["resourceVersion"]
    assert api.call("PUT", path(api, CONFIG_MAPS, "one"), plain)[0] == 200


def test_the_name_is_that_of_the_url(api: Api) -> None:
    made = make(api, RAY_JOBS, ray_job())
    made["metadata"]["name"] = "other"
    assert api.call("PUT", path(api, RAY_JOBS, "job"), made)[0] == 400


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (config_map("UPPER"), 422),
        (config_map("a" * 254), 422),
        ({"metadata": {}}, 422),
        ({"metadata": {"name": "one", "labels": {"a": "not a label"}}}, 422),
        ({"metadata": {"name": "one", "labels": {"a": "x" * 64}}}, 422),
        ({"metadata": {"name": "one", "namespace": "elsewhere"}}, 400),
        ({"apiVersion": "v2", "metadata": {"name": "one"}}, 400),
    ],
    ids=["upper", "long", "nameless", "label", "long label", "namespace", "version"],
)
def test_a_wrong_head_is_refused(api: Api, body: Object, code: int) -> None:
    assert api.call("POST", path(api, CONFIG_MAPS), {**whole(CONFIG_MAPS, body), **body})[0] == code


def test_a_name_can_be_generated(api: Api) -> None:
    made = make(api, CONFIG_MAPS, {"metadata": {"generateName": "run-"}})
    assert made["metadata"]["name"].startswith("run-")
    assert len(made["metadata"]["name"]) > 4


def test_merge_patch_removes_nulls_and_replaces_lists(api: Api) -> None:
    make(api, RAY_JOBS, ray_job())
    patch = {"metadata": {"labels": {"a": "1", "b": "2"}, "finalizers": ["x.dev/a", "x.dev/b"]}}
    api.call("PATCH", path(api, RAY_JOBS, "job"), patch, MERGE)
    patch = {"metadata": {"labels": {"a": None}, "finalizers": ["x.dev/b"]}}
    _, found = api.call("PATCH", path(api, RAY_JOBS, "job"), patch, MERGE)
    assert (found["metadata"]["labels"], found["metadata"]["finalizers"]) == ({"b": "2"}, ["x.dev/b"])


def test_a_write_that_changes_nothing_makes_no_version(api: Api) -> None:
    made = make(api, RAY_JOBS, ray_job())
    code, same = api.call("PUT", path(api, RAY_JOBS, "job"), made)
    assert (code, same["metadata"]["resourceVersion"]) == (200, made["metadata"]["resourceVersion"])
    code, same = api.call("PATCH", path(api, RAY_JOBS, "job"), {}, MERGE)
    assert (code, same["metadata"]["resourceVersion"]) == (200, made["metadata"]["resourceVersion"])


def test_apply_respects_what_another_manager_gave_unless_forced(api: Api) -> None:
    body = whole(CONFIG_MAPS, config_map(x="1"))
    assert api.call("PATCH", path(api, CONFIG_MAPS, "one", fieldManager="a"), body, APPLY)[0] == 201
    body["data"] = {"x": "2"}
    code, refused = api.call("PATCH", path(api, CONFIG_MAPS, "one", fieldManager="b"), body, APPLY)
    assert (code, refused["reason"]) == (409, "Conflict")
    assert 'conflict with "a"' in refused["message"]
    code, found = api.call("PATCH", path(api, CONFIG_MAPS, "one", fieldManager="b", force="true"), body, APPLY)
    assert (code, found["data"]) == (200, {"x": "2"})
    # It is the second one's now: the first no longer removes it.
    code, found = api.call(
        "PATCH", path(api, CONFIG_MAPS, "one", fieldManager="a"), whole(CONFIG_MAPS, config_map()), APPLY
    )
    assert (code, found["data"]) == (200, {"x": "2"})
    assert api.call("PATCH", path(api, CONFIG_MAPS, "one"), body, APPLY)[0] in {400, 422}


def test_delete_checks_its_preconditions(api: Api) -> None:
    made = make(api, CONFIG_MAPS, config_map())
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": "another"}}
    code, refused = api.call("DELETE", path(api, CONFIG_MAPS, "one"), options)
    assert (code, refused["reason"]) == (409, "Conflict")
    options["preconditions"] = {"uid": made["metadata"]["uid"]}
    code, done = api.call("DELETE", path(api, CONFIG_MAPS, "one"), options)
    assert (code, done["kind"], done["status"]) == (200, "Status", "Success")
    code, refused = api.call("DELETE", path(api, CONFIG_MAPS, "one"))
    assert (code, refused["reason"], refused["details"]["name"]) == (404, "NotFound", "one")


def test_a_finalizer_holds_what_is_deleted(api: Api) -> None:
    make(api, RAY_JOBS, {**ray_job(), "metadata": {"name": "job", "finalizers": ["x.dev/a"]}})
    code, held = api.call("DELETE", path(api, RAY_JOBS, "job"))
    assert (code, held["kind"]) == (200, "RayJob")
    assert held["metadata"]["deletionTimestamp"]
    api.call("PATCH", path(api, RAY_JOBS, "job"), {"metadata": {"finalizers": None}}, MERGE)
    assert api.call("GET", path(api, RAY_JOBS, "job"))[0] == 404


def test_collections_are_deleted_by_label(api: Api) -> None:
    for name in ("one", "two"):
        make(api, CONFIG_MAPS, config_map(name))
    assert api.call("DELETE", path(api, CONFIG_MAPS, labelSelector="a%3Done"))[0] == 200
    assert api.call("GET", path(api, CONFIG_MAPS, "one"))[0] == 404
    assert api.call("GET", path(api, CONFIG_MAPS, "two"))[0] == 200


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("a=1", ["one"]),
        ("a==1,b=x", []),
        ("a!=1", ["three", "two"]),
        ("a in (1,2)", ["one", "two"]),
        ("a notin (1)", ["three", "two"]),
        ("b", ["two"]),
        ("!b", ["one", "three"]),
        ("a in (1, 2),b", ["two"]),
    ],
)
def test_label_selectors(api: Api, selector: str, found: list[str]) -> None:
    from urllib.parse import quote

    for name, labels in (("one", {"a": "1"}), ("two", {"a": "2", "b": "x"}), ("three", {})):
        make(api, SECRETS, {"metadata": {"name": name, "labels": {**labels, "mine": "y"}}})
    _, listed = api.call("GET", path(api, SECRETS, labelSelector=quote(f"mine=y,{selector}")))
    assert sorted(item["metadata"]["name"] for item in listed["items"]) == found


def test_items_of_own_kinds_come_without_their_head(api: Api) -> None:
    make(api, PODS, pod())
    make(api, RAY_JOBS, ray_job())
    _, pods = api.call("GET", path(api, PODS))
    _, jobs = api.call("GET", path(api, RAY_JOBS))
    assert (pods["kind"], jobs["kind"]) == ("PodList", "RayJobList")
    assert "kind" not in pods["items"][0]
    assert jobs["items"][0]["kind"] == "RayJob"


def test_a_watch_goes_on_from_a_version(api: Api) -> None:
    first = make(api, RAY_JOBS, ray_job("first"))
    make(api, RAY_JOBS, ray_job("second"))
    api.call("PATCH", path(api, RAY_JOBS, "first"), {"spec": {"suspend": True}}, MERGE)
    api.call("DELETE", path(api, RAY_JOBS, "second"))
    seen = changes(api, RAY_JOBS, first["metadata"]["resourceVersion"])
    assert [(item["type"], item["object"]["metadata"]["name"]) for item in seen] == [
        ("ADDED", "second"),
        ("MODIFIED", "first"),
        ("DELETED", "second"),
    ]


def test_a_watch_by_label_shows_what_comes_and_goes(api: Api) -> None:
    first = make(api, INFERENCE_SERVICES, service_named("one"))
    for label in ("1", "2"):
        api.call("PATCH", path(api, INFERENCE_SERVICES, "one"), {"metadata": {"labels": {"a": label}}}, MERGE)
    seen = changes(api, INFERENCE_SERVICES, first["metadata"]["resourceVersion"], labelSelector="a%3D1")
    assert [item["type"] for item in seen] == ["ADDED", "DELETED"]


def service_named(name: str) -> Object:
    return {"metadata": {"name": name}, "spec": {"predictor": {"model": {"modelFormat": {"name": "vllm"}}}}}


def test_a_watch_from_before_the_history_is_told_so(api: Api) -> None:
    make(api, RAY_JOBS, ray_job())
    [told] = changes(api, RAY_JOBS, "1")
    assert (told["type"], told["object"]["code"], told["object"]["reason"]) == ("ERROR", 410, "Expired")


def test_a_watch_without_a_version_begins_with_what_is_there(api: Api) -> None:
    make(api, RAY_JOBS, ray_job())
    assert [item["type"] for item in changes(api, RAY_JOBS, "0")] == ["ADDED"]


def test_events_are_found_by_whom_they_are_about(api: Api) -> None:
    first, second = make(api, PODS, pod("p1")), make(api, PODS, pod("p2"))
    api.report(first, "Failed", "no such image")
    api.report(second, "Killing", "stopping")
    from components.kube.kinds import EVENTS

    _, found = api.call("GET", path(api, EVENTS, fieldSelector=f"involvedObject.uid%3D{first['metadata']['uid']}"))
    assert [item["reason"] for item in found["items"]] == ["Failed"]


def test_what_is_unknown_is_told_apart(api: Api) -> None:
    code, refused = api.call("GET", path(api, CONFIG_MAPS, "none"))
    assert (code, refused["details"]) == (404, {"name": "none", "kind": "configmaps"})
    code, refused = api.call("GET", path(api, RAY_JOBS, "none"))
    assert (code, refused["details"]) == (404, {"name": "none", "group": "ray.io", "kind": "rayjobs"})
    code, text = api.call("GET", "/apis/nowhere.invalid/v1/namespaces/x/things")
    assert (code, text) == (404, "404 page not found\n")
