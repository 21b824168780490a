"""Pods that are not let in: KServe's conditions do not tell why, the events of the ReplicaSet do."""

import time
from typing import Any

import pytest
from kserve_world import World, meanwhile, operator
from kube_fixture import Api
from operators import Serving

from components.core.errors import JudgeError
from components.judge.kserve.patience import Patience
from components.judge.leases.ended import Ended
from components.judge.leases.hold import release
from components.kube.errors import KubeError
from components.kube.kinds import INFERENCE_SERVICES

Object = dict[str, Any]
ACCOUNT = (
    'pods "x" is forbidden: error looking up service account gavel/gavel-judge: serviceaccount "gavel-judge" not found'
)
QUOTA = 'pods "x" is forbidden: exceeded quota: gavel-gpus, requested: requests.nvidia.com/gpu=2, used: 16, limited: 16'


@pytest.fixture
def world(api: Api, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(api, patch=monkeypatch)


def refusing(world: World, message: str, *, suffix: str = "-predictor-5f7c") -> Any:
    """What a controller does whose pod is refused, once the judge is there."""

    def act() -> None:
        end = time.monotonic() + 20
        while not (services := world.services()):
            assert time.monotonic() < end
            time.sleep(0.02)
        name = services[0]["metadata"]["name"]
        condition = {
            "type": "PredictorReady",
            "status": "False",
            "reason": "MinimumReplicasUnavailable",
            "message": "Deployment does not have minimum availability.",
        }
        world.api.set_status(INFERENCE_SERVICES, name, {"conditions": [condition]})
        metadata = {"name": f"{name}{suffix}", "uid": "11111111-0000-0000-0000-000000000000", "resourceVersion": "1"}
        owner = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {**metadata, "namespace": world.api.namespace},
        }
        world.api.report(owner, "FailedCreate", f"Error creating: {message}")

    return meanwhile(act)


def test_an_account_that_is_missing_is_named(world: World) -> None:
    with refusing(world, ACCOUNT), pytest.raises(JudgeError, match='serviceaccount "gavel-judge" not found') as caught:
        world.placement().up(world.progress)
    assert "Secrets, claims and accounts" in caught.value.remedy
    # Nothing pays for a judge that does not come up.
    assert world.services() == []


def test_a_quota_is_waited_for_like_a_node(world: World) -> None:
    with refusing(world, QUOTA), pytest.raises(JudgeError, match="exceeded quota: gavel-gpus") as caught:
        world.placement(patience=Patience(start=90.0, queue=1.0, config=0.1, poll=0.2)).up(world.progress)
    assert "queue_minutes" in caught.value.remedy
    assert "waiting for a node: unschedulable" in world.said.getvalue()


def test_the_refusal_of_another_judge_is_not_this_ones(world: World) -> None:
    with refusing(world, ACCOUNT, suffix="2-predictor-5f7c"), pytest.raises(JudgeError, match="not ready after"):
        world.placement(patience=Patience(start=1.5, queue=None, config=0.1, poll=0.2)).up(world.progress)


def test_why_it_does_not_come_up_outlives_a_lease_that_cannot_be_given_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any) -> Ended:
        raise KubeError("the API server does not answer")

    monkeypatch.setattr("components.judge.placement.kserve.release", away)
    with refusing(world, ACCOUNT), pytest.raises(JudgeError, match="gavel-judge"):
        world.placement().up(world.progress)
    assert "is not given back, and expires: the API server does not answer" in world.said.getvalue()
    [service] = world.services()
    assert release(world.api.cluster(), service, "run-1") is Ended.ENDED


def spoil(world: World, annotation: str) -> str:
    """Another judge of this name, with settings of its own, whose leases somebody edited."""
    world.api.cluster().create(
        INFERENCE_SERVICES,
        {
            "metadata": {
                "name": "qwen3-32b-other",
                "labels": {"app.kubernetes.io/managed-by": "gavel", "gavel.dev/judge": "qwen3-32b"},
                "annotations": {"gavel.dev/leases": annotation},
            },
            "spec": {"predictor": {"minReplicas": 1}},
        },
    )
    return "qwen3-32b-other"


@pytest.mark.parametrize(
    "annotation", ["not JSON", '{"leases": {"a": {"holder": "x", "experiment": "e", "expires": "soon"}}}']
)
def test_a_judge_whose_leases_are_spoilt_is_in_nobodys_way(world: World, annotation: str) -> None:
    spoil(world, annotation)
    with operator(world.api, Serving(url="http://127.0.0.1:18080")):
        world.placement().up(world.progress)
        assert "qwen3-32b-other" in world.said.getvalue()
        assert world.placement().down() is Ended.ENDED
        # Whether that one is ours nobody can say; this is not hidden.
        with pytest.raises(JudgeError, match="cannot be read"):
            world.placement().down()
