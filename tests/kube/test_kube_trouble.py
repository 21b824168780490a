"""Pods in trouble, as kubelets and schedulers describe them."""

import datetime
from typing import Any

import pytest
from pod_states import PodState, pod_state

from components.kube.events import Event, event
from components.kube.trouble import Trouble, pod_trouble


def judged(state: PodState) -> Trouble | None:
    now = datetime.datetime.now(datetime.UTC)
    events = [Event(now, kind, reason, message, count) for kind, reason, message, count in state.events]
    return pod_trouble({"metadata": {"name": "p"}, "status": state.status}, events)


@pytest.mark.parametrize(
    ("state", "kind", "words"),
    [
        ("image-pull", "image-pull", "failed to pull and unpack image: not found"),
        ("image-pull-first", "image-pull", "401 Unauthorized"),
        ("unschedulable", "unschedulable", "3 Insufficient nvidia.com/gpu"),
        ("out-of-memory", "out-of-memory", "OOMKilled"),
        ("crash", "crash", "exit code 1"),
        ("failed", "crash", "exit code 1"),
        ("probe", "probe", "connection refused"),
        ("evicted", "evicted", "low on resource: ephemeral-storage"),
        ("config", "config", 'secret "gavel-judge-keys" not found'),
        ("unmounted", "config", 'persistentvolumeclaim "gavel-models" not found'),
    ],
)
def test_a_trouble_is_known_and_told_in_the_servers_words(state: str, kind: str, words: str) -> None:
    found = judged(pod_state(state))
    assert found is not None
    assert (found.kind, found.pod) == (kind, "p")
    assert words in found.detail


@pytest.mark.parametrize("state", ["unscheduled", "pulling", "loading", "running", "succeeded"])
def test_a_pod_that_runs_or_is_on_its_way_is_in_none(state: str) -> None:
    assert judged(pod_state(state)) is None


def container(**fields: Any) -> PodState:
    return PodState({"phase": "Running", "containerStatuses": [{"name": "c", "restartCount": 1, **fields}]})


OOM = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}


def test_a_container_that_recovered_is_in_none() -> None:
    assert judged(container(ready=True, state={"running": {}}, lastState=OOM)) is None
    again = judged(container(ready=False, state={"running": {}}, lastState=OOM))
    assert again is not None
    assert (again.kind, again.container) == ("out-of-memory", "c")


def test_a_kill_from_outside_is_not_called_out_of_memory() -> None:
    found = judged(container(ready=False, state={"terminated": {"reason": "Error", "exitCode": 137}}))
    assert (found and found.kind) == "crash"


def test_the_last_words_of_a_container_are_kept() -> None:
    ended = {"terminated": {"reason": "Error", "exitCode": 2, "message": "no such model\n"}}
    found = judged(container(ready=False, state=ended))
    assert found is not None
    assert found.detail == "Error, exit code 2: no such model"


def test_an_init_container_counts() -> None:
    waiting = {"waiting": {"reason": "ErrImagePull", "message": "manifest unknown"}}
    state = {"phase": "Pending", "initContainerStatuses": [{"name": "storage-initializer", "state": waiting}]}
    found = judged(PodState(state))
    assert found == Trouble("image-pull", "ErrImagePull: manifest unknown", "p", "storage-initializer")


def test_a_pod_that_its_queue_holds_back_is_in_none() -> None:
    gated = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": "Scheduling is blocked"}
    assert judged(PodState({"phase": "Pending", "conditions": [gated]})) is None


def test_a_disruption_is_an_eviction() -> None:
    target = {
        "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
        "message": "default-scheduler: preempting to accommodate a higher priority pod",
    }  # fmt: skip
    found = judged(PodState({"phase": "Failed", "conditions": [target]}))
    assert found is not None
    assert (found.kind, "higher priority" in found.detail) == ("evicted", True)


@pytest.mark.parametrize(
    ("fields", "time", "count"),
    [
        ({"lastTimestamp": "2026-01-02T03:04:05Z", "count": 3}, "2026-01-02T03:04:05+00:00", 3),
        ({"lastTimestamp": None, "eventTime": "2026-01-02T03:04:05.678901Z"}, "2026-01-02T03:04:05.678901+00:00", 1),
        (
            {"eventTime": "2026-01-01T00:00:00Z", "series": {"count": 9, "lastObservedTime": "2026-01-02T00:00:00Z"}},
            "2026-01-02T00:00:00+00:00",
            9,
        ),
        ({"metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}}, "2026-01-01T00:00:00+00:00", 1),
    ],
)
def test_old_and_new_reporters_of_events_are_read(fields: dict[str, Any], time: str, count: int) -> None:
    found = event({"reason": "R", "message": "m ", "type": "Warning", **fields})
    assert (found.time.isoformat(), found.count, found.message) == (time, count, "m")
