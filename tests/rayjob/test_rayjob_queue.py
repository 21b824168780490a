"""Jobs in a queue that nobody looks after, and the clock by which queue_minutes is counted."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from kube_fixture import Api
from operators import Ray, RayOperator
from ray_training import PLACE, Played
from test_rayjob_follow import follow, jobs

from components.core.errors import StepError
from components.kube.cluster import Cluster
from components.kube.errors import KubeError
from components.rayjob.follow import Follower
from components.rayjob.patience import Patience

Object = dict[str, Any]
SHORT = Patience(stall=60.0, pause=60.0, poll=0.1, unseen=0.6)


class NoKueue(RayOperator):
    """KubeRay alone: it says Suspended, and that is all that ever happens."""

    def _workload(self, body: Object, queue: str, admitted: bool) -> None:
        pass


class LateKueue(RayOperator):
    """Kueue comes after a while, and the job gets on."""

    late = 1.0

    def _workload(self, body: Object, queue: str, admitted: bool) -> None:
        if self.elapsed(body, "late") >= self.late:
            super()._workload(body, queue, admitted)


def test_a_job_without_a_workload_is_told_to_be_one_that_nobody_admits(api: Api, queued: Played) -> None:
    with NoKueue(api, Ray("queued")), pytest.raises(StepError, match="nobody admits the training's job") as caught:
        follow(api, queued, SHORT)
    assert "Kueue has made no Workload for the job" in caught.value.what
    assert "ray.io/rayjob" in caught.value.remedy
    assert "queue: null" in caught.value.remedy
    # Before its time is over it is said, too.
    assert "waiting in queue gavel: Kueue has made no Workload" in queued.output
    assert jobs(api) == []


def test_a_cluster_that_knows_no_workloads_is_told(double: Api, queued: Played) -> None:
    double.faults.add("^list .*workloads", times=1000, status=404)
    with NoKueue(double, Ray("queued")), pytest.raises(StepError, match="there is no Kueue in this cluster") as caught:
        follow(double, queued, SHORT)
    assert "kueue.x-k8s.io/v1beta2" in caught.value.what
    assert jobs(double) == []


def test_an_account_that_may_not_look_waits_as_long_as_queue_minutes_says(double: Api, queued: Played) -> None:
    double.faults.add("^list .*workloads", times=1000, status=403)
    patience = Patience(stall=60.0, pause=60.0, poll=0.1, unseen=0.3, queue=1.5)
    with NoKueue(double, Ray("queued")), pytest.raises(StepError, match="queue_minutes") as caught:
        follow(double, queued, patience)
    assert "our account may not list Kueue's workloads" in caught.value.what


def test_a_kueue_that_comes_in_time_loses_no_job(api: Api, queued: Played) -> None:
    patience = Patience(stall=60.0, pause=60.0, poll=0.1, unseen=30.0)
    with LateKueue(api, Ray("succeeds", queued=1.5)):
        queued.publish()
        follow(api, queued, patience)
    assert "Kueue has made no Workload" in queued.output


class Looks:
    """A cluster in which a job stays queued; between two looks ``pass_time`` is called, if there are any left."""

    namespace = "n"

    def __init__(self, job: Object, moments: list[Any]) -> None:
        self.job, self.moments = job, moments

    def watch(self, *_: Any, **__: Any) -> Iterator[Object]:
        yield self.job
        for moment in self.moments:
            moment()
            yield self.job
        raise KubeError("the looks are over")

    def list(self, *_: Any, **__: Any) -> list[Object]:
        message = {"type": "QuotaReserved", "status": "False", "message": "no quota"}
        return [{"status": {"conditions": [message]}}]


class Clock:
    """Monotonic, as the test says."""

    def __init__(self) -> None:
        self.now = 5000.0

    def __call__(self) -> float:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += seconds


def waiting(played: Played, clock: Clock, moments: list[Any], created: float) -> list[str]:
    """Follow a job that was made at ``created`` (Unix time) with queue_minutes of 10; names of deleted jobs."""
    stamp = datetime.fromtimestamp(created, UTC).isoformat(timespec="seconds")
    labels = {"kueue.x-k8s.io/queue-name": "gavel"}
    metadata = {"name": "job", "uid": "u", "creationTimestamp": stamp, "labels": labels}
    job = {"metadata": metadata, "spec": {"suspend": True}, "status": {"jobDeploymentStatus": "Suspended"}}
    deleted: list[str] = []
    follower = Follower(
        cast(Cluster, Looks(job, moments)),
        played.store,
        PLACE,
        steps=3,
        patience=Patience(stall=60.0, pause=60.0, queue=600.0),
        progress=played.asked.progress,
        delete=lambda gone: deleted.append(str(gone["metadata"]["name"])),
        clock=clock,
    )
    said = "queue_minutes: waiting in queue gavel: no quota|the looks are over"
    with pytest.raises((StepError, KubeError), match=said):
        follower.follow(job)
    return deleted


def test_queue_minutes_count_by_the_monotonic_clock(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    began = time.time()
    wall = [began]
    monkeypatch.setattr("components.rayjob.follow.time.time", lambda: wall[0])

    def leap(hours: float) -> Any:
        """Somebody sets the machine's clock while the step waits."""
        return lambda: wall.__setitem__(0, wall[0] + hours * 3600)

    clock = Clock()
    assert waiting(played, clock, [leap(10), lambda: clock.forward(599), leap(-30)], began) == []
    wall[0] = began
    clock = Clock()
    assert waiting(played, clock, [leap(-10), lambda: clock.forward(599), lambda: clock.forward(2)], began) == ["job"]


def test_queue_minutes_count_from_the_job_and_not_from_the_steps_start(played: Played) -> None:
    """A step that is started again does not begin to wait anew; a job from the future has waited for nothing."""
    clock = Clock()
    assert waiting(played, clock, [], time.time() - 605) == ["job"]
    assert waiting(played, Clock(), [], time.time() - 500) == []
    clock = Clock()
    assert waiting(played, clock, [lambda: clock.forward(598)], time.time() + 3600) == []
    clock = Clock()
    assert waiting(played, clock, [lambda: clock.forward(602)], time.time() + 3600) == ["job"]
