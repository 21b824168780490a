"""Leases taken, renewed, given back and swept at the same moment."""

import copy
import json
import threading
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kube_fixture import Api

from components.judge.leases import hold
from components.judge.leases.ended import Ended
from components.judge.leases.hold import release, renew, sweep_one, take
from components.judge.leases.record import Lease, leases_of
from components.kube.cluster import Cluster
from components.kube.errors import AlreadyExistsError
from components.kube.kinds import INFERENCE_SERVICES

Object = dict[str, Any]
NAME = "judge"
BODY: Object = {
    "metadata": {"name": NAME, "labels": {"gavel.dev/judge": NAME}, "annotations": {"gavel.dev/spec": "s"}},
    "spec": {"predictor": {"model": {"modelFormat": {"name": "gavel-vllm"}}}},
}


def lease(name: str, minutes: float = 60) -> Lease:
    return Lease(name, "arm", (datetime.now(UTC) + timedelta(minutes=minutes)).replace(microsecond=0))


def quiet(_: str) -> None:
    """Nobody listens."""


class Memory:
    """One InferenceService as an API server keeps it; ``between`` runs between an edit's reading and its writing."""

    namespace = "n"

    def __init__(self) -> None:
        self.now: Object | None = None
        self.version = 0
        self.deleted_live: list[Object] = []
        self.between: list[Any] = []

    def get(self, _: object, __: str) -> Object | None:
        return copy.deepcopy(self.now)

    def create(self, _: object, body: Object) -> Object:
        self._interleave()
        if self.now is not None:
            raise AlreadyExistsError("there")
        self.version += 1
        self.now = copy.deepcopy(body)
        self.now["metadata"] |= {"uid": f"u{self.version}", "resourceVersion": self.version}
        return copy.deepcopy(self.now)

    def edit(self, kind: object, name: str, change: Any) -> Object | None:
        while (read := self.get(kind, name)) is not None:
            wanted = change(copy.deepcopy(read))
            self._interleave()
            if wanted is None:
                return read
            if self.now is None:
                return None
            if self.now["metadata"]["resourceVersion"] != wanted["metadata"]["resourceVersion"]:
                continue
            self.version += 1
            self.now = copy.deepcopy(wanted)
            self.now["metadata"]["resourceVersion"] = self.version
            return copy.deepcopy(self.now)
        return None

    def delete(self, _: object, __: str, *, uid: str | None = None) -> bool:
        self._interleave()
        if self.now is None or (uid is not None and self.now["metadata"]["uid"] != uid):
            return False
        leases = leases_of(self.now)
        if leases is not None and leases.live(datetime.now(UTC)):
            self.deleted_live.append(self.now)
        self.now = None
        return True

    def _interleave(self) -> None:
        if self.between:
            self.between.pop(0)()


ACTIONS = st.lists(
    st.tuples(st.sampled_from(["take", "release", "renew", "sweep", "expire"]), st.sampled_from(["a", "b", "c"])),
    min_size=1,
    max_size=14,
)


@settings(max_examples=150, deadline=None)
@given(ACTIONS, st.lists(st.integers(0, 2), max_size=14))
def test_no_judge_ends_under_a_live_lease_and_each_ends_at_last(
    actions: list[tuple[str, str]], nesting: list[int]
) -> None:
    """Any action may come between another one's reading and writing, and between its writing and deleting."""
    memory = Memory()
    cluster = cast(Cluster, memory)
    held: dict[str, str] = {}
    """Holder: uid of the judge that its lease was granted on."""
    queue = list(actions)
    depth = 0

    def run(action: tuple[str, str]) -> None:
        nonlocal depth
        kind, who = action
        depth += 1
        wanted = nesting[len(queue) % len(nesting)] if nesting and depth < 4 else 0
        # Nested actions happen inside of this one's requests.
        memory.between = [*([step] * wanted), *memory.between]
        try:
            there = memory.get(None, NAME)
            if kind == "take":
                service, _ = take(cluster, BODY, lease(who), told=quiet, pause=0)
                held[who] = service["metadata"]["uid"]
            elif kind == "renew" and there is not None and held.get(who) == there["metadata"]["uid"]:
                if renew(cluster, there, lease(who)) is None:
                    held.pop(who, None)
            elif kind == "release" and there is not None:
                held.pop(who, None)
                release(cluster, there, who)
            elif kind == "sweep" and there is not None:
                sweep_one(cluster, there)
            elif kind == "expire" and memory.now is not None:
                held.pop(who, None)
                _expire(memory, who)
        finally:
            depth -= 1

    def step() -> None:
        if queue:
            run(queue.pop(0))

    while queue:
        step()
    memory.between = []
    assert memory.deleted_live == []
    for who in list(held):
        there = memory.get(None, NAME)
        if there is not None:
            release(cluster, there, who)
    if memory.now is not None:
        for who in ("a", "b", "c"):
            _expire(memory, who)
        there = memory.get(None, NAME)
        if there is not None:
            sweep_one(cluster, there)
    assert memory.now is None


def _expire(memory: Memory, who: str) -> None:
    if memory.now is None:
        return
    leases = leases_of(memory.now)
    if leases is None or (mine := leases.of(who)) is None:
        return
    data = json.loads(memory.now["metadata"]["annotations"]["gavel.dev/leases"])
    data["leases"][mine.key]["expires"] = "2020-01-01T00:00:00+00:00"
    memory.now["metadata"]["annotations"]["gavel.dev/leases"] = json.dumps(data)
    memory.version += 1
    memory.now["metadata"]["resourceVersion"] = memory.version


def test_runs_that_come_and_go_at_once_share_or_follow_each_other(api: Api) -> None:
    """Over HTTP, in threads: whoever holds a lease finds its judge there, and none is left in the end."""
    lost: list[str] = []
    ends: list[Ended] = []
    gate = threading.Barrier(4)

    def run(who: str) -> None:
        cluster = api.cluster()
        gate.wait()
        for _ in range(4):
            service, _made = take(cluster, BODY, lease(who), told=quiet, pause=0.02)
            there = cluster.get(INFERENCE_SERVICES, NAME)
            same = there is not None and there["metadata"]["uid"] == service["metadata"]["uid"]
            if not same or renew(cluster, service, lease(who)) is None:
                lost.append(who)
            ends.append(release(cluster, service, who))

    threads = [threading.Thread(target=run, args=(f"run-{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert lost == []
    assert Ended.ABSENT not in ends
    assert api.cluster().get(INFERENCE_SERVICES, NAME) is None


@pytest.mark.parametrize("lost", ["^update ", "^delete "])
def test_an_answer_that_is_lost_ends_the_judge_once(double: Api, lost: str) -> None:
    cluster = double.cluster()
    service, made = take(cluster, BODY, lease("a"), told=quiet)
    assert made
    double.faults.add(f"{lost}.*inferenceservices", lost=True)
    assert release(cluster, service, "a") is Ended.ENDED
    assert cluster.get(INFERENCE_SERVICES, NAME) is None


def test_whoever_decided_the_end_may_die_before_it(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = api.cluster()
    service, _ = take(cluster, BODY, lease("a"), told=quiet)
    with monkeypatch.context() as patch:
        patch.setattr(cluster, "delete", lambda *_, **__: False)
        release(cluster, service, "a")
    left = cluster.get(INFERENCE_SERVICES, NAME)
    assert left is not None
    assert renew(cluster, left, lease("a")) is None
    said: list[str] = []
    fresh, made = take(cluster, BODY, lease("b"), told=said.append, pause=0.02)
    assert made
    assert fresh["metadata"]["uid"] != service["metadata"]["uid"]
    assert said == ["a former judge is being ended; waiting until it is gone"]


def test_a_former_judge_that_never_goes_is_told(double: Api) -> None:
    cluster = double.cluster()
    body = copy.deepcopy(BODY)
    body["metadata"]["finalizers"] = ["inferenceservice.finalizers"]
    service, _ = take(cluster, body, lease("a"), told=quiet)
    assert release(cluster, service, "a") is Ended.ENDED
    with pytest.raises(hold.JudgeError, match="has not gone within"):
        take(cluster, BODY, lease("b"), told=quiet, patience=0.1, pause=0.05)


def test_a_server_that_tells_both_there_and_not_there_is_left(double: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each create finds one, and each look finds none."""
    monkeypatch.setattr(hold, "_UNCLEAR", 6)
    double.faults.add("^create .*inferenceservices", times=1000, status=409, reason="AlreadyExists")
    with pytest.raises(hold.JudgeError, match="is there and is not: 6 times") as caught:
        take(double.cluster(), BODY, lease("a"), told=quiet, pause=0.01)
    assert f"{double.namespace}/{NAME}" in caught.value.where
    assert "API server is well" in caught.value.remedy


def test_a_server_that_shows_what_no_write_finds_is_left(double: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hold, "_UNCLEAR", 6)
    cluster = double.cluster()
    take(cluster, BODY, lease("a"), told=quiet)
    double.faults.add("^update .*inferenceservices", times=1000, status=404, reason="NotFound")
    with pytest.raises(hold.JudgeError, match="is there and is not: 6 times"):
        take(cluster, BODY, lease("b"), told=quiet, pause=0.01)


def test_one_that_others_make_and_end_a_few_times_is_taken_in_the_end(double: Api) -> None:
    double.faults.add("^create .*inferenceservices", times=5, status=409, reason="AlreadyExists")
    _, made = take(double.cluster(), BODY, lease("a"), told=quiet, pause=0.01)
    assert made
