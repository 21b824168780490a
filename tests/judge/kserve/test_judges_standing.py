"""A judge whose lease ran out between two steps of its run stands again when the next one asks it."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from kserve_specs import judge
from kserve_world import World, agrees, operator
from kube_fixture import Api
from operators import Serving

from components.core.errors import JudgeError
from components.judge.__main__ import main
from components.judge.kserve.lookup import find_endpoint
from components.judge.leases.hold import renew
from components.judge.leases.record import Lease, leases_of
from components.judge.placement import standing as module
from components.judge.placement.kserve import KservePlacement
from components.judge.placement.standing import standing
from components.kube.kinds import INFERENCE_SERVICES

Object = dict[str, Any]
A, B = (judge(name=name, model_name=name) for name in ("judge-a", "judge-b"))


@pytest.fixture
def world(api: Api, monkeypatch: pytest.MonkeyPatch) -> World:
    """The run's view; judges that come up are asked nothing."""
    found = World(api, patch=monkeypatch)

    def place(spec: Any, *_: Any) -> KservePlacement:
        return found.placement(spec, ask=agrees)

    monkeypatch.setattr(module, "KservePlacement", place)
    return found


def address(name: str) -> str:
    return f"http://{name}.test"


def stand(world: World, *judges: Any) -> Any:
    return standing(judges, world.cluster, experiment="arm-a", progress=world.progress)


def lease_until(world: World, name: str, minutes: float) -> Object:
    """The run's lease, with so much of it left."""
    [service] = world.services(name)
    lease = Lease("run-1", "arm-a", datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=minutes))
    held = renew(world.api.cluster(), service, lease)
    assert held is not None
    return held


def minutes_left(world: World, name: str) -> float:
    [service] = world.services(name)
    leases = leases_of(service)
    assert leases is not None
    lease = leases.of("run-1")
    assert lease is not None
    return (lease.expires - datetime.now(UTC)).total_seconds() / 60


def test_a_judge_that_was_swept_between_two_steps_is_brought_up_again(world: World) -> None:
    with operator(world.api, address=address):
        world.placement(A).up(world.progress)
        world.placement(B).up(world.progress)
        before = {name: world.services(name)[0]["metadata"]["uid"] for name in ("judge-a", "judge-b")}
        # A step without judges takes longer than a lease, and the sweeper comes by.
        lease_until(world, "judge-a", -10)
        lease_until(world, "judge-b", 1)
        assert main(["sweep", "--namespace", world.api.namespace]) == 0
        assert world.services("judge-a") == []
        with stand(world, A, B):
            assert find_endpoint(A, world.api.namespace).startswith("http://judge-a-")
            now = {name: world.services(name)[0]["metadata"]["uid"] for name in before}
            assert now["judge-a"] != before["judge-a"]
            assert now["judge-b"] == before["judge-b"]
            # From the first moment on nobody sweeps the other one.
            assert minutes_left(world, "judge-b") > 300
        assert minutes_left(world, "judge-a") > 300
        assert any("judge judge-a is gone (its lease ran out, or it was ended)" in line for line in world.lines)
        assert not any("judge judge-b is gone" in line for line in world.lines)
        # The run's last step gives back what was taken again.
        assert world.placement(A).down()
        assert world.placement(B).down()
    assert world.services("judge-a") == world.services("judge-b") == []


def test_several_that_are_gone_come_up_side_by_side(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2)

    class Together(KservePlacement):
        def up(self, progress: Any) -> Any:
            both.wait(20)
            return super().up(progress)

    def place(spec: Any, *_: Any) -> KservePlacement:
        return Together(spec, world.cluster, "arm-a", ask=agrees)

    monkeypatch.setattr(module, "KservePlacement", place)
    with operator(world.api, address=address), stand(world, A, B):
        assert [len(world.services(name)) for name in ("judge-a", "judge-b")] == [1, 1]


def test_one_that_cannot_come_up_again_is_told_with_its_reason(world: World) -> None:
    with (
        operator(world.api, Serving(trouble="image-pull")),
        pytest.raises(JudgeError, match="judge-a cannot become ready: image-pull"),
        stand(world, A),
    ):
        raise AssertionError("no step asks a judge that is not there")
    assert world.services("judge-a") == []


def test_a_judge_of_another_run_with_the_same_model_is_held_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with operator(world.api, address=address):
        world.placement(A).up(world.progress)
        monkeypatch.setenv("GAVEL_KFP_RUN", "run-2")
        with stand(world, A):
            [service] = world.services("judge-a")
            leases = leases_of(service)
            assert leases is not None
            assert {lease.holder for lease in leases.held.values()} == {"run-1", "run-2"}
    assert len(world.api.cluster().list(INFERENCE_SERVICES)) == 1


def test_a_judge_whose_endpoint_the_environment_names_is_left_to_whoever_named_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAVEL_JUDGE_ENDPOINTS", '{"judge-a": "http://127.0.0.1:9/"}')
    with stand(world, A):
        assert world.services("judge-a") == []
    assert world.lines == []
