"""What every placement of a judge promises, with a real server of the wiring model behind each.

On this machine it is a process under the supervising command; on the (pretended) cluster the operator starts the same
server by the arguments of the InferenceService.
"""

import asyncio
import contextlib
import dataclasses
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kserve_pods import processes
from kserve_specs import cluster, tiny
from kserve_world import QUICK

from components.core.errors import GavelError, JudgeError
from components.core.progress import Progress
from components.core.services.manager import ServiceManager
from components.core.spec import load_experiment
from components.core.spec.cluster import ClusterSpec
from components.core.spec.judge import JudgeSpec
from components.core.spec.reward import RewardSpec
from components.core.step import StepContext
from components.deploy_judge.step import STEP as DEPLOY
from components.judge.endpoint import resolve_endpoint
from components.judge.leases.ended import Ended
from components.judge.placement.base import JudgePlacement, choose_placement
from components.judge.placement.kserve import KservePlacement
from components.judge.probing.run import probe
from components.judge.profiles import profile_for
from components.probe_judge.step import STEP as PROBE
from components.teardown_judge.step import STEP as TEARDOWN

pytestmark = pytest.mark.slow


class Place:
    """Where judges run in a test."""

    def __init__(self, kind: str, state: Path, there: ClusterSpec) -> None:
        self.kind, self.state, self.cluster = kind, state, there
        self.said = io.StringIO()
        self.progress = Progress("test", stream=self.said)

    def spec(self, **changes: Any) -> JudgeSpec:
        return tiny(**{"serving": "embedded" if self.kind == "local" else "kserve", **changes})

    def placement(self, spec: JudgeSpec | None = None) -> JudgePlacement:
        found = choose_placement(spec or self.spec(), self.cluster, self.state, experiment="arm")
        if isinstance(found, KservePlacement):
            # As choose_placement makes it, with less patience.
            return KservePlacement(spec or self.spec(), self.cluster, "arm", patience=PATIENCE)
        return found

    def resolve(self, spec: JudgeSpec | None = None) -> str:
        return resolve_endpoint(spec or self.spec(), self.state, self.cluster)


PATIENCE = dataclasses.replace(QUICK, start=600.0, config=5.0)


@pytest.fixture(params=["local", "kserve"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.delenv("GAVEL_SUPERVISOR", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("GAVEL_RUN_ID", "run-1")
    state = tmp_path / "state"
    if request.param == "local":
        there = load_experiment("tiny", ["cluster.cpu_threads=1"]).cluster
        yield Place("local", state, there)
        ServiceManager(state).end_all()
        return
    api = request.getfixturevalue("double")
    with processes(api, state):
        yield Place("kserve", state, cluster(namespace=api.namespace, judge_pool="cpu"))


def test_up_answers_is_found_by_name_and_down_ends_it(place: Place) -> None:
    endpoint = place.placement().up(place.progress)
    assert endpoint.model_name == "tiny"
    assert place.resolve() == endpoint.url
    # Again, as after a kill: the one that runs.
    assert place.placement().up(place.progress).url == endpoint.url
    assert profile_for(place.spec(), endpoint.url).chat_route == "/v1/chat/completions"
    _verdict(place, endpoint.url)
    assert place.placement().down() is Ended.ENDED
    assert place.placement().down() is Ended.ABSENT
    with pytest.raises(JudgeError, match="tiny-lr is not deployed"):
        place.resolve()
    # And once more from the start.
    assert place.placement().up(place.progress).url == place.resolve()
    assert place.placement().down() is Ended.ENDED


def test_one_judge_is_not_another(place: Place) -> None:
    other = place.spec(name="tiny-other", source={"kind": "tiny", "seed": 2})
    mine, theirs = place.placement().up(place.progress), place.placement(other).up(place.progress)
    assert mine.url != theirs.url
    assert place.placement().down() is Ended.ENDED
    assert place.resolve(other) == theirs.url
    _verdict(place, theirs.url, other)
    assert place.placement(other).down() is Ended.ENDED


def test_weights_that_cannot_be_had_leave_nothing_behind(place: Place) -> None:
    broken = place.spec(source={"kind": "folder", "path": "/nowhere/model"})
    with pytest.raises(GavelError) as error:
        place.placement(broken).up(place.progress)
    assert "/nowhere/model" in str(error.value)
    assert place.placement(broken).down() is Ended.ABSENT


def test_the_steps_work_alike(place: Place) -> None:
    overrides = ["cluster.cpu_threads=1"] if place.kind == "local" else []
    experiment = load_experiment("tiny", overrides)
    if place.kind == "kserve":
        judge = place.spec(name=experiment.judge.name, timeout_seconds=60.0)
        experiment = experiment.model_copy(update={"judge": judge, "cluster": place.cluster})
    context = StepContext(experiment, {}, {}, place.state, place.state / "work", "x" * 64, place.progress, place.state)
    context.work.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: TEARDOWN.run(context))
        deployed = DEPLOY.run(context)
        assert deployed["judge"] == experiment.judge.name
        figures = PROBE.run(context)
        assert figures["url"] == deployed["url"]
        assert TEARDOWN.run(context)["ended"] is True
    # Twice is no failure: the exit handler may run after an end by hand.
    assert TEARDOWN.run(context)["ended"] is False
    assert "nothing to end" in place.said.getvalue()


def _verdict(place: Place, url: str, spec: JudgeSpec | None = None) -> None:
    report = asyncio.run(probe(spec or place.spec(), RewardSpec(name="r"), url))
    assert 0 < report.met < 1
    assert report.difference < 1e-4
