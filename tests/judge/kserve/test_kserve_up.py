"""A judge comes up, late, never or flapping, and under an API server that misbehaves."""

import dataclasses
import os
import time
from typing import Any

import pytest
from kserve_specs import judge, tiny
from kserve_world import QUICK, World, meanwhile, operator
from kube_fixture import Api
from operators import Serving

from components.core.errors import ConfigError, JudgeError
from components.core.spec.cluster import ClusterSpec, StoreSpec
from components.judge.endpoint import resolve_endpoint
from components.judge.leases.ended import Ended
from components.judge.leases.record import leases_of
from components.judge.placement.base import choose_placement
from components.judge.placement.kserve import KservePlacement
from components.kube.kinds import INFERENCE_SERVICES

Object = dict[str, Any]
URL = "http://127.0.0.1:18080"


@pytest.fixture
def world(api: Api, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(api, patch=monkeypatch)


@pytest.fixture
def faulty(double: Api, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(double, patch=monkeypatch)


def test_a_judge_comes_up_is_found_and_goes(world: World, tmp_path: Any) -> None:
    asked: list[str] = []
    with operator(world.api, Serving(url=URL)):
        endpoint = world.placement(ask=asked.append).up(world.progress)
        assert (endpoint.url, endpoint.model_name, asked) == (URL, "qwen3-32b", [URL])
        assert resolve_endpoint(judge(), tmp_path, world.cluster) == URL
        [service] = world.services()
        leases = leases_of(service)
        assert leases is not None
        assert [(lease.holder, lease.experiment) for lease in leases.held.values()] == [("run-1", "arm-a")]
        assert world.placement().down() is Ended.ENDED
        assert world.placement().down() is Ended.ABSENT
    assert world.services() == []
    with pytest.raises(JudgeError, match="qwen3-32b is not deployed"):
        resolve_endpoint(judge(), tmp_path, world.cluster)


def test_people_see_how_far_it_is(world: World) -> None:
    with operator(world.api, Serving(pulling=0.5, loading=0.5, url=URL)):
        world.placement().up(world.progress)
    text = world.said.getvalue()
    assert "61 GiB of weights" in text
    assert "pulling the image: Pulling image" in text
    assert ": loading" in text
    assert text.index("pulling") < text.index("loading")


def test_one_that_runs_with_the_same_settings_is_shared(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with operator(world.api, Serving(url=URL)):
        world.placement().up(world.progress)
        [first] = world.services()
        monkeypatch.setenv("GAVEL_KFP_RUN", "run-2")
        world.placement().up(world.progress)
        [both] = world.services()
        assert both["metadata"]["uid"] == first["metadata"]["uid"]
        # What KServe would copy into the pods has not changed.
        assert both["spec"] == first["spec"]
        assert both["metadata"]["labels"] == first["metadata"]["labels"]
        leases = leases_of(both)
        assert leases is not None
        assert {lease.holder for lease in leases.held.values()} == {"run-1", "run-2"}
        assert world.placement().down() is Ended.KEPT
        assert len(world.services()) == 1
        monkeypatch.setenv("GAVEL_KFP_RUN", "run-1")
        assert world.placement().down() is Ended.ENDED
    assert world.services() == []


def test_other_settings_live_beside_those_in_use(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    long = judge(context_tokens=65536)
    with operator(world.api, address=lambda name: f"http://{name}.test"):
        first = world.placement().up(world.progress)
        monkeypatch.setenv("GAVEL_KFP_RUN", "run-2")
        second = world.placement(long).up(world.progress)
        assert second.url != first.url
        assert len(world.services()) == 2
        assert resolve_endpoint(long, tmp_path, world.cluster) == second.url
        assert "in use by others" in world.said.getvalue()
        # Each run gives back its own.
        assert world.placement(long).down() is Ended.ENDED
        monkeypatch.setenv("GAVEL_KFP_RUN", "run-1")
        assert resolve_endpoint(judge(), tmp_path, world.cluster) == first.url
        assert world.placement().down() is Ended.ENDED


def test_other_settings_that_nobody_uses_are_replaced(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with operator(world.api, Serving(url=URL)):
        world.placement().up(world.progress)
        [service] = world.services()
        name = service["metadata"]["name"]

        def expire(body: Object) -> Object:
            key = "gavel.dev/leases"
            body["metadata"]["annotations"][key] = body["metadata"]["annotations"][key].replace('"20', '"19')
            return body

        world.api.cluster().edit(INFERENCE_SERVICES, name, expire)
        monkeypatch.setenv("GAVEL_KFP_RUN", "run-2")
        world.placement(judge(context_tokens=65536)).up(world.progress)
        assert name not in [each["metadata"]["name"] for each in world.services()]
        assert f"{name} has other settings" in world.said.getvalue()


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ("image-pull", "failed to pull and unpack image: not found"),
        ("out-of-memory", "OOMKilled"),
        ("crash", "CUDA out of memory. Tried to allocate 2.00 GiB"),
        ("probe", "connection refused"),
        ("config", 'secret "gavel-judge-keys" not found'),
    ],
)
def test_why_it_never_comes_is_told_at_once(world: World, trouble: Any, words: str) -> None:
    """The whole budget is an hour; what cannot mend itself is told within a moment, and the judge is given up."""
    patience = dataclasses.replace(QUICK, start=3600.0)
    with (
        operator(world.api, Serving(trouble=trouble)),
        pytest.raises(JudgeError, match=f"(?s)cannot .*{trouble}") as error,
    ):
        world.placement(patience=patience).up(world.progress)
    # The log of a pod comes from a kubelet, which the real server of the tests has not.
    assert words in error.value.what or (trouble == "crash" and world.api.double is None)
    assert error.value.remedy
    assert "qwen3-32b-" in error.value.where
    assert world.services() == []


def test_a_node_is_waited_for_as_long_as_the_queue_may_take(world: World) -> None:
    """Time without a node is none of the start's."""
    patience = dataclasses.replace(QUICK, start=1.0, queue=2.5)
    began = time.monotonic()
    with operator(world.api, Serving(trouble="unschedulable")), pytest.raises(JudgeError) as error:
        world.placement(patience=patience).up(world.progress)
    assert time.monotonic() - began > 2.4
    assert "3 Insufficient nvidia.com/gpu" in error.value.what
    assert "queue_minutes" in error.value.remedy


def test_a_node_that_comes_late_is_in_time(world: World) -> None:
    patience = dataclasses.replace(QUICK, start=3.0, queue=None)
    with operator(world.api, Serving(trouble="unschedulable", pulling=0.1, loading=0.1)) as acting:

        def come() -> None:
            time.sleep(3.5)
            acting.default = Serving(url=URL)

        with meanwhile(come):
            assert world.placement(patience=patience).up(world.progress).url == URL
    assert "waiting for a node: unschedulable" in world.said.getvalue()


def test_too_late_is_told_with_where_it_stood(world: World) -> None:
    patience = dataclasses.replace(QUICK, start=1.0)
    with operator(world.api, Serving(loading=60.0)), pytest.raises(JudgeError, match=r"not ready after 0:01 .*loading"):
        world.placement(patience=patience).up(world.progress)


def test_a_judge_that_no_operator_looks_at(world: World) -> None:
    """KServe is not there, or overloaded."""
    patience = dataclasses.replace(QUICK, start=0.6)
    with operator(world.api, Serving(mute=True)), pytest.raises(JudgeError, match=r"not ready after .*setting up"):
        world.placement(patience=patience).up(world.progress)


def test_a_specification_that_kserve_refuses(world: World) -> None:
    with operator(world.api, Serving(mute=True)):

        def refuse() -> None:
            while not (found := world.services()):
                time.sleep(0.05)
            failure = {"reason": "RuntimeNotRecognized", "message": "Waiting for runtime to become available"}
            status = {"modelStatus": {"transitionStatus": "InvalidSpec", "lastFailureInfo": failure}}
            world.api.set_status(INFERENCE_SERVICES, found[0]["metadata"]["name"], status)

        with meanwhile(refuse), pytest.raises(JudgeError, match="RuntimeNotRecognized: Waiting for runtime"):
            world.placement().up(world.progress)


def test_a_flapping_judge_is_asked_until_it_answers(world: World) -> None:
    asked: list[str] = []

    def ask(url: str) -> None:
        asked.append(url)
        if len(asked) < 3:
            raise JudgeError("connection refused")

    patience = dataclasses.replace(QUICK, verdict=30.0, start=30.0)
    with operator(world.api, Serving(flaps=0.4, url=URL)):
        world.placement(ask=ask, patience=patience).up(world.progress)
    assert len(asked) == 3
    assert "gives no verdict yet: connection refused" in world.said.getvalue()


def test_a_ready_judge_without_a_verdict_is_no_judge(world: World) -> None:
    def ask(url: str) -> None:
        raise JudgeError("the server has no model 'qwen3-32b'", remedy="set model_name")

    with operator(world.api, Serving(url=URL)), pytest.raises(JudgeError, match="gives no verdict: the server has no"):
        world.placement(ask=ask).up(world.progress)
    assert world.services() == []


def test_deleted_under_us_it_is_made_again(world: World) -> None:
    with operator(world.api, Serving(loading=1.0, url=URL)):

        def delete() -> None:
            while not (found := world.services()):
                time.sleep(0.05)
            time.sleep(0.4)
            world.api.cluster().delete(INFERENCE_SERVICES, found[0]["metadata"]["name"])

        with meanwhile(delete):
            assert world.placement().up(world.progress).url == URL
    assert "was deleted while it was coming up; making it again" in world.said.getvalue()


def test_deleted_again_and_again_it_is_given_up(faulty: World) -> None:
    over: list[bool] = []

    def delete() -> None:
        while not over:
            for found in faulty.services():
                faulty.api.cluster().delete(INFERENCE_SERVICES, found["metadata"]["name"])
            time.sleep(0.05)

    with operator(faulty.api, Serving(loading=20.0)), meanwhile(delete):
        with pytest.raises(JudgeError, match="was deleted while it was coming up"):
            faulty.placement().up(faulty.progress)
        over.append(True)


@pytest.mark.parametrize(
    "fault",
    [
        {"pattern": "^watch ", "times": 5, "drop_after": 1},
        {"pattern": "^watch ", "times": 3, "hang": True},
        {"pattern": "^watch ", "times": 3, "status": 410},
        {"pattern": "inferenceservices", "times": 4, "status": 500},
        {"pattern": "inferenceservices", "times": 3, "status": 429, "retry_after": 1},
        {"pattern": "^update .*inferenceservices", "times": 2, "status": 409},
        {"pattern": "^create .*inferenceservices", "lost": True},
        {"pattern": "^update .*inferenceservices", "lost": True},
        {"pattern": "pods|events", "times": 3, "status": 500},
        {"pattern": "^(get|list) ", "times": 3, "reset": True},
    ],
    ids=lambda fault: "-".join(str(value) for value in fault.values()),
)
def test_an_api_server_that_misbehaves_changes_nothing(faulty: World, fault: Object) -> None:
    faulty.api.faults.add(**fault)
    with operator(faulty.api, Serving(loading=0.5, url=URL)):
        assert faulty.placement(patience=dataclasses.replace(QUICK, start=30.0)).up(faulty.progress).url == URL
        assert faulty.placement().down() is Ended.ENDED
    assert faulty.services() == []


def test_an_outage_of_the_api_server_is_survived(faulty: World) -> None:
    assert faulty.api.double is not None
    with operator(faulty.api, Serving(loading=1.0, url=URL)):

        def outage() -> None:
            while not faulty.services():
                time.sleep(0.05)
            assert faulty.api.double is not None
            with faulty.api.double.outage():
                time.sleep(0.7)

        with meanwhile(outage):
            assert faulty.placement(patience=dataclasses.replace(QUICK, start=30.0)).up(faulty.progress).url == URL


def test_what_rbac_lacks_is_named(faulty: World) -> None:
    from components.kube.errors import KubeError

    faulty.api.use("nobody")
    with pytest.raises(KubeError, match="inferenceservices"):
        faulty.placement().up(faulty.progress)


def test_an_object_of_others_in_our_place_is_left_alone(world: World) -> None:
    with operator(world.api, Serving(url=URL)):
        world.placement().up(world.progress)
        [service] = world.services()

        def change(body: Object) -> Object:
            body["metadata"]["annotations"]["gavel.dev/spec"] = "another"
            return body

        world.api.cluster().edit(INFERENCE_SERVICES, service["metadata"]["name"], change)
        with pytest.raises(JudgeError, match="not made from these settings"):
            world.placement().up(world.progress)
        assert len(world.services()) == 1


def test_kserve_needs_a_cluster(tmp_path: Any) -> None:
    there = ClusterSpec(
        name="here", placement="local", accelerator="cpu", store=StoreSpec(kind="folder"), memory_gib=1.0, disk_gib=1.0
    )
    placement = choose_placement(judge(), there, tmp_path)
    assert isinstance(placement, KservePlacement)
    from components.core.progress import Progress

    with pytest.raises(ConfigError, match="cluster here is no Kubernetes"):
        placement.up(Progress("t", stream=open(os.devnull, "w")))  # noqa: SIM115


def test_endpoints_that_are_given_need_no_api(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pods of a training may not ask the API server."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setenv("GAVEL_JUDGE_ENDPOINTS", '{"tiny-lr": "http://tiny-lr.gavel.svc/"}')
    assert resolve_endpoint(tiny(), tmp_path) == "http://tiny-lr.gavel.svc"
    with pytest.raises(JudgeError, match="the cluster does not tell where judge qwen3-32b is"):
        resolve_endpoint(judge(), tmp_path)
    monkeypatch.setenv("GAVEL_JUDGE_ENDPOINTS", "[]")
    with pytest.raises(JudgeError, match="no JSON object"):
        resolve_endpoint(tiny(), tmp_path)
