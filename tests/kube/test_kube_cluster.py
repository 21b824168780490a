"""What the client promises, against the double and against a real API server."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from kube_fixture import Api
from real_api import RealApi, write_kubeconfig

from components.kube.cluster import Cluster
from components.kube.errors import AlreadyExistsError, KubeError, UnreachableError
from components.kube.kinds import CONFIG_MAPS, INFERENCE_SERVICES, PODS, RAY_JOBS, SERVING_RUNTIMES

Object = dict[str, Any]


def config_map(name: str = "one", **data: str) -> Object:
    return {"metadata": {"name": name, "labels": {"a": name}}, "data": data}


def pod(name: str = "p", **metadata: object) -> Object:
    return {
        "metadata": {"name": name, **metadata},
        "spec": {"containers": [{"name": "main", "image": "registry.invalid/none"}], "restartPolicy": "Never"},
    }


def ray_job(name: str = "job") -> Object:
    container = {"name": "head", "image": "registry.invalid/none"}
    group = {"rayStartParams": {}, "template": {"spec": {"containers": [container]}}}
    return {"metadata": {"name": name}, "spec": {"entrypoint": "true", "rayClusterSpec": {"headGroupSpec": group}}}


def test_an_object_is_made_found_and_deleted(api: Api) -> None:
    cluster = api.cluster()
    assert cluster.get(CONFIG_MAPS, "one") is None
    made = cluster.create(CONFIG_MAPS, config_map(x="1"))
    assert cluster.get(CONFIG_MAPS, "one") == made
    assert made["metadata"]["namespace"] == api.namespace
    with pytest.raises(AlreadyExistsError) as error:
        cluster.create(CONFIG_MAPS, config_map(x="2"))
    assert error.value.status == 409
    assert cluster.delete(CONFIG_MAPS, "one")
    assert not cluster.delete(CONFIG_MAPS, "one")


def test_lists_select_by_label_and_carry_kinds(api: Api) -> None:
    cluster = api.cluster()
    for name in ("two", "one"):
        cluster.create(CONFIG_MAPS, config_map(name))
    ours = [
        item["metadata"]["name"] for item in cluster.list(CONFIG_MAPS) if item["metadata"]["name"] in {"one", "two"}
    ]
    assert ours == ["one", "two"]
    [found] = cluster.list(CONFIG_MAPS, {"a": "two"})
    assert (found["kind"], found["apiVersion"], found["metadata"]["name"]) == ("ConfigMap", "v1", "two")


def test_a_malformed_name_is_refused_with_the_servers_words(api: Api) -> None:
    with pytest.raises(KubeError, match="RFC 1123") as error:
        api.cluster().create(CONFIG_MAPS, config_map("Not_A_Name"))
    assert error.value.status == 422


def test_a_namespace_that_is_not_there_is_named(api: Api) -> None:
    with pytest.raises(KubeError, match="nowhere") as error:
        Cluster.connect("nowhere").create(CONFIG_MAPS, config_map())
    assert error.value.status == 404


def test_apply_makes_changes_and_takes_back_only_its_own_fields(api: Api) -> None:
    cluster = api.cluster()
    first = cluster.apply(CONFIG_MAPS, config_map(x="1", y="2"))
    assert (
        cluster.apply(CONFIG_MAPS, config_map(x="1", y="2"))["metadata"]["resourceVersion"]
        == (first["metadata"]["resourceVersion"])
    )
    cluster.edit(CONFIG_MAPS, "one", lambda body: {**body, "data": {**body["data"], "z": "theirs"}})
    applied = cluster.apply(CONFIG_MAPS, config_map(x="3"))
    assert applied["data"] == {"x": "3", "z": "theirs"}
    assert applied["metadata"]["uid"] == first["metadata"]["uid"]


def test_edit_counts_right_when_many_write_at_once(api: Api) -> None:
    api.cluster().create(CONFIG_MAPS, config_map(count="0"))

    def add() -> None:
        cluster = api.cluster()
        for _ in range(5):
            cluster.edit(
                CONFIG_MAPS, "one", lambda body: {**body, "data": {"count": str(int(body["data"]["count"]) + 1)}}
            )

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (api.cluster().get(CONFIG_MAPS, "one") or {})["data"] == {"count": "20"}


def test_edit_does_nothing_when_told_so_and_nothing_to_what_is_gone(api: Api) -> None:
    cluster = api.cluster()
    assert cluster.edit(CONFIG_MAPS, "one", lambda body: body) is None
    made = cluster.create(CONFIG_MAPS, config_map(x="1"))
    assert cluster.edit(CONFIG_MAPS, "one", lambda body: None) == made

    def vanish(body: Object) -> Object:
        cluster.delete(CONFIG_MAPS, "one")
        return {**body, "data": {"x": "2"}}

    assert cluster.edit(CONFIG_MAPS, "one", vanish) is None


def test_delete_spares_another_object_of_the_same_name(api: Api) -> None:
    cluster = api.cluster()
    old = cluster.create(CONFIG_MAPS, config_map())
    cluster.delete(CONFIG_MAPS, "one")
    new = cluster.create(CONFIG_MAPS, config_map())
    assert not cluster.delete(CONFIG_MAPS, "one", uid=old["metadata"]["uid"])
    assert cluster.get(CONFIG_MAPS, "one") is not None
    assert cluster.delete(CONFIG_MAPS, "one", uid=new["metadata"]["uid"])


def test_status_and_specification_are_written_apart(api: Api) -> None:
    cluster = api.cluster()
    made = cluster.create(RAY_JOBS, {**ray_job(), "status": {"jobStatus": "SUCCEEDED"}})
    assert "jobStatus" not in made.get("status", {})
    assert made["metadata"]["generation"] == 1
    api.set_status(RAY_JOBS, "job", {"jobStatus": "RUNNING"})
    edited = cluster.edit(
        RAY_JOBS,
        "job",
        lambda body: {**body, "spec": {**body["spec"], "suspend": True}, "status": {"jobStatus": "FAILED"}},
    )
    assert edited is not None
    assert edited["status"]["jobStatus"] == "RUNNING"
    assert (edited["spec"]["suspend"], edited["metadata"]["generation"]) == (True, 2)


def test_a_foreground_deletion_waits_for_what_the_object_owns(api: Api) -> None:
    cluster = api.cluster()
    owner = cluster.create(RAY_JOBS, ray_job())
    reference = {"apiVersion": "ray.io/v1", "kind": "RayJob", "name": "job", "uid": owner["metadata"]["uid"]}
    held = {**reference, "blockOwnerDeletion": True}
    cluster.create(PODS, pod(ownerReferences=[held], finalizers=["gavel.dev/hold"]))
    assert cluster.delete(RAY_JOBS, "job", cascade="foreground")
    left = cluster.get(RAY_JOBS, "job")
    assert left is not None
    assert left["metadata"]["deletionTimestamp"]
    assert "foregroundDeletion" in left["metadata"]["finalizers"]


def test_watch_shows_nothing_then_each_state_then_nothing(api: Api) -> None:
    cluster = api.cluster()
    seen: list[str | None] = []
    watching = cluster.watch(CONFIG_MAPS, "one", poll=30)
    assert next(watching) is None

    def act() -> None:
        for count in range(3):
            time.sleep(0.2)
            cluster.apply(CONFIG_MAPS, config_map(count=str(count)))
        cluster.create(CONFIG_MAPS, config_map("other"))
        time.sleep(0.2)
        cluster.delete(CONFIG_MAPS, "one")

    thread = threading.Thread(target=act)
    thread.start()
    for found in watching:
        seen.append(found and found["data"]["count"])
        if found is None:
            break
    thread.join()
    assert seen == ["0", "1", "2", None]


def test_watch_speaks_at_least_each_poll(api: Api) -> None:
    cluster = api.cluster()
    cluster.create(CONFIG_MAPS, config_map())
    watching = cluster.watch(CONFIG_MAPS, "one", poll=0.3)
    assert all(next(watching) is not None for _ in range(3))


def test_events_are_those_of_one_object_in_order(api: Api) -> None:
    cluster = api.cluster()
    first, second = (cluster.create(PODS, pod(name)) for name in ("p1", "p2"))
    api.report(first, "Pulling", "pulling image", "Normal")
    api.report(first, "Failed", "no such image", count=4)
    api.report(second, "Killing", "stopping", "Normal")
    found = cluster.events(first["metadata"]["uid"])
    assert sorted((event.type, event.reason, event.count) for event in found) == [
        ("Normal", "Pulling", 1),
        ("Warning", "Failed", 4),
    ]
    assert found[0].time.utcoffset() is not None


def test_pods_by_label_and_no_log_before_a_container_starts(api: Api) -> None:
    cluster = api.cluster()
    cluster.create(PODS, pod("p1", labels={"ray.io/cluster": "c"}))
    cluster.create(PODS, pod("p2"))
    [found] = cluster.pods({"ray.io/cluster": "c"})
    assert (found["metadata"]["name"], found["status"]["phase"]) == ("p1", "Pending")
    assert cluster.log("p1") == ""
    assert cluster.log("nobody") == ""


def test_a_forbidden_verb_is_named_with_its_resource(api: Api) -> None:
    api.allow([{"verbs": ["get"], "apiGroups": ["ray.io"], "resources": ["rayjobs"]}])
    api.use("nobody")
    cluster = api.cluster()
    for _ in range(100):  # A real server's authoriser hears of a new Role a moment later.
        try:
            assert cluster.get(RAY_JOBS, "job") is None
            break
        except KubeError:
            time.sleep(0.1)
    with pytest.raises(KubeError, match=r"may not create rayjobs\.ray\.io in namespace test-") as error:
        cluster.create(RAY_JOBS, ray_job())
    assert error.value.status == 403
    assert "the verb create on rayjobs.ray.io" in error.value.remedy
    with pytest.raises(KubeError, match=r"may not list pods"):
        cluster.pods({})
    with pytest.raises(KubeError, match=r"may not get pods/log in"):
        cluster.log("p1")


def test_a_wrong_token_is_told_from_a_missing_right(api: Api) -> None:
    api.use(token="wrong")
    with pytest.raises(KubeError, match="credentials") as error:
        api.cluster().get(PODS, "p")
    assert error.value.status == 401


def test_a_kind_without_its_operator_is_told_from_a_missing_object(api: Api) -> None:
    from components.kube.kinds import Kind

    absent = Kind("nowhere.invalid", "v1", "things", "Thing")
    for attempt in (lambda: api.cluster().get(absent, "x"), lambda: next(api.cluster().watch(absent, "x"))):
        with pytest.raises(KubeError, match=r"does not know things\.nowhere\.invalid"):
            attempt()


def test_objects_of_every_kind_that_gavel_makes(api: Api) -> None:
    cluster = api.cluster()
    runtime = {"metadata": {"name": "r"}, "spec": {"containers": [{"name": "kserve-container", "image": "i"}]}}
    service = {"metadata": {"name": "judge"}, "spec": {"predictor": {"model": {"modelFormat": {"name": "vllm"}}}}}
    for kind, body in ((SERVING_RUNTIMES, runtime), (INFERENCE_SERVICES, service), (RAY_JOBS, ray_job())):
        cluster.apply(kind, body)
        assert [item["kind"] for item in cluster.list(kind)] == [kind.kind]


@pytest.mark.cluster
def test_a_certificate_of_another_authority_is_named(
    real_server: RealApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import certifi

    token = real_server.tokens["admin"]
    target = write_kubeconfig(tmp_path / "config", real_server.url, "default", token, Path(certifi.where()))
    monkeypatch.setenv("KUBECONFIG", str(target))
    with pytest.raises(UnreachableError, match="certificate of the API server"):
        Cluster.connect().get(PODS, "p")
