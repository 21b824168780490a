"""Several judges of one run on a cluster: all come up side by side; one that fails is named, and no lease is left."""

import dataclasses
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kserve_specs import judge
from kserve_world import QUICK, World, agrees
from kube_fixture import Api
from operators import Serving, ServingOperator

from components.core.errors import JudgeError
from components.core.step import StepContext
from components.deploy_judge.step import STEP as DEPLOY
from components.judge.kserve.inference_service import inference_service
from components.judge.leases.record import leases_of
from components.judge.placement.kserve import KservePlacement
from components.teardown_judge.step import STEP as TEARDOWN

NAMES = ("judge-a", "judge-b", "judge-c")
JUDGES = [judge(name=name, model_name=name) for name in NAMES]
# Far more than any wait in these tests takes, so that only what they say decides.
PATIENCE = dataclasses.replace(QUICK, start=60.0)


class Held(ServingOperator):
    """Looks at nothing before ``begin`` says so, except at ``first``."""

    def __init__(self, api: Api, begin: Callable[[], bool], first: str = "", **settings: Any) -> None:
        super().__init__(api, **settings)
        self._begin, self._first = begin, first

    def reconcile(self, body: dict[str, Any]) -> None:
        if body["metadata"]["name"].startswith(f"{self._first}-") or self._begin():
            super().reconcile(body)


@pytest.fixture
def world(api: Api, monkeypatch: pytest.MonkeyPatch) -> World:
    found = World(api, patch=monkeypatch)

    def place(spec: Any, *_: Any, **__: Any) -> KservePlacement:
        return found.placement(spec, ask=agrees, patience=PATIENCE)

    for step in ("deploy_judge", "teardown_judge"):
        monkeypatch.setattr(f"components.{step}.step.choose_placement", place)
    return found


@pytest.fixture
def context(world: World, tmp_path: Path) -> StepContext:
    experiment: Any = SimpleNamespace(
        name="arm-a",
        cluster=world.cluster,
        judges=lambda: JUDGES,
        served=lambda: JUDGES,
        asks_judge=True,
        judge=JUDGES[0],
    )
    return StepContext(experiment, {}, {}, tmp_path, tmp_path, "x" * 64, world.progress, tmp_path)


def there(world: World) -> dict[str, list[str]]:
    """Holders of leases, by judge."""
    found = {name: world.services(name) for name in NAMES}
    held = {name: leases_of(services[0]) for name, services in found.items() if services}
    return {name: [lease.holder for lease in leases.held.values()] for name, leases in held.items() if leases}


def test_all_come_up_side_by_side(world: World, context: StepContext) -> None:
    """No pod is made before all of them were asked for: one after the other would never get beyond the first."""

    def all_asked() -> bool:
        return len(there(world)) == len(NAMES)

    with Held(world.api, all_asked, address=lambda name: f"http://{name}.test") as acting:
        told = DEPLOY.run(context)
        assert told["judge"] == "judge-a, judge-b, judge-c"
        urls = str(told["url"]).split(", ")
        assert [url.removeprefix("http://")[:7] for url in urls] == list(NAMES)
        assert there(world) == {name: ["run-1"] for name in NAMES}
        assert TEARDOWN.run(context)["ended"] is True
    assert acting.failures == []
    assert there(world) == {}


def test_one_that_fails_is_named_at_once_and_the_last_step_frees_the_others(
    world: World, context: StepContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    kubernetes = world.cluster.kubernetes
    assert kubernetes is not None
    broken = inference_service(JUDGES[2], kubernetes, "arm-a")["metadata"]["name"]

    def told() -> bool:
        return "judge judge-c does not come up" in world.said.getvalue()

    # The others are held back until the failure was told, and come up all the same.
    serving = {broken: Serving(trouble="image-pull")}
    with Held(world.api, told, first="judge-c", default=Serving(url="http://other.test"), behaviours=serving) as acting:
        with pytest.raises(JudgeError, match="judge judge-c cannot become ready: image-pull") as error:
            DEPLOY.run(context)
        assert broken in error.value.where
        assert "judge judge-a answers" in world.said.getvalue()
        assert "judge judge-b answers" in world.said.getvalue()
        # A retry of the step finds those that are up; the one that failed costs nothing meanwhile.
        assert there(world) == {"judge-a": ["run-1"], "judge-b": ["run-1"]}
        # Another run's lease on one of them is not ours to give back.
        monkeypatch.setenv("GAVEL_KFP_RUN", "run-2")
        world.placement(JUDGES[0], ask=agrees, patience=PATIENCE).up(world.progress)
        monkeypatch.setenv("GAVEL_KFP_RUN", "run-1")
        TEARDOWN.run(context)
        assert there(world) == {"judge-a": ["run-2"]}
    assert acting.failures == []


def test_two_that_fail_are_both_named(world: World, context: StepContext) -> None:
    kubernetes = world.cluster.kubernetes
    assert kubernetes is not None
    names = [inference_service(each, kubernetes, "arm-a")["metadata"]["name"] for each in JUDGES]
    troubles = {names[0]: Serving(trouble="image-pull"), names[2]: Serving(trouble="config")}
    with (
        ServingOperator(world.api, Serving(url="http://b.test"), troubles),
        pytest.raises(JudgeError, match="2 of 3 judges do not come up") as error,
    ):
        DEPLOY.run(context)
    assert "judge-a cannot become ready: image-pull" in error.value.what
    assert "judge-c cannot become ready: config" in error.value.what
    assert there(world) == {"judge-b": ["run-1"]}


def test_a_judge_that_is_ready_is_kept_while_others_come_up(
    world: World, context: StepContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may wait for nodes for longer than a lease lasts; then the sweeper would end the one that is ready."""
    kept: list[str] = []

    @contextmanager
    def leased(_: StepContext, spec: Any) -> Any:
        kept.append(spec.name)
        yield
        kept.remove(spec.name)

    monkeypatch.setattr("components.deploy_judge.step._leased", leased)
    # No other one comes up before the first is kept.
    with Held(world.api, lambda: "judge-a" in kept, "judge-a", default=Serving(url="http://127.0.0.1:18080")):
        DEPLOY.run(context)
    assert kept == []
