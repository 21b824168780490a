"""What a kubelet and a scheduler write about a pod: statuses and events, worded as theirs."""

from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]
_TIME = "2026-01-01T00:00:00Z"
IMAGE = "registry.invalid/gavel/serving@sha256:0"


@dataclass(frozen=True)
class PodState:
    """A status, and the events that come with it: (type, reason, message, count)."""

    status: Object
    events: tuple[tuple[str, str, str, int], ...] = ()
    log: str | None = None
    previous_log: str | None = None


def _conditions(**values: bool) -> list[Object]:
    return [
        {"type": name, "status": str(value), "lastTransitionTime": _TIME, "lastProbeTime": None}
        for name, value in values.items()
    ]


def _container(
    name: str, state: Object, *, ready: bool = False, restarts: int = 0, last: Object | None = None
) -> Object:
    return {
        "name": name,
        "state": state,
        "lastState": last or {},
        "ready": ready,
        "started": "running" in state,
        "restartCount": restarts,
        "image": IMAGE,
        "imageID": "",
    }


def _terminated(code: int, reason: str, message: str = "") -> Object:
    end = {"exitCode": code, "reason": reason, "startedAt": _TIME, "finishedAt": _TIME, "containerID": "containerd://0"}
    return {"terminated": {**end, **({"message": message} if message else {})}}


def _waiting(reason: str, message: str = "") -> Object:
    return {"waiting": {"reason": reason, **({"message": message} if message else {})}}


_SCHEDULED = ("Normal", "Scheduled", "Successfully assigned the pod to node-1", 1)
_PULLING = ("Normal", "Pulling", f'Pulling image "{IMAGE}"', 1)
_PULLED = ("Normal", "Pulled", f'Successfully pulled image "{IMAGE}" in 2.1s', 1)
_STARTED = (("Normal", "Created", "Created container main", 1), ("Normal", "Started", "Started container main", 1))
_BACK_OFF = ("Warning", "BackOff", "Back-off restarting failed container main in pod", 6)


def _pending(container: Object) -> Object:
    return {
        "phase": "Pending",
        "conditions": _conditions(Initialized=True, Ready=False, ContainersReady=False, PodScheduled=True),
        "containerStatuses": [container],
    }


def _running(container: Object) -> Object:
    ready = bool(container["ready"])
    return {
        "phase": "Running",
        "conditions": _conditions(Initialized=True, Ready=ready, ContainersReady=ready, PodScheduled=True),
        "containerStatuses": [container],
    }


def pod_state(name: str, container: str = "main") -> PodState:
    """A state by name: a phase of a healthy pod, or one of the troubles."""
    crash_loop = _waiting("CrashLoopBackOff", f"back-off 5m0s restarting failed container={container} pod=p_ns(0)")
    if name == "unscheduled":
        return PodState({"phase": "Pending"})
    if name == "pulling":
        return PodState(_pending(_container(container, _waiting("ContainerCreating"))), (_SCHEDULED, _PULLING))
    if name == "loading":
        state = _running(_container(container, {"running": {"startedAt": _TIME}}))
        probe = ("Warning", "Unhealthy", "Startup probe failed: HTTP probe failed with statuscode: 503", 3)
        return PodState(state, (_PULLED, *_STARTED, probe), log="Loading safetensors checkpoint shards: 40%\n")
    if name == "running":
        state = _running(_container(container, {"running": {"startedAt": _TIME}}, ready=True))
        return PodState(state, (_PULLED, *_STARTED), log="Application startup complete.\n")
    if name == "succeeded":
        done = _container(container, _terminated(0, "Completed"))
        return PodState({**_running(done), "phase": "Succeeded"})
    if name == "image-pull":
        cause = (
            f'Failed to pull image "{IMAGE}": rpc error: code = NotFound desc = failed to pull and unpack image: '
            "not found"
        )
        return PodState(
            _pending(_container(container, _waiting("ImagePullBackOff", f'Back-off pulling image "{IMAGE}"'))),
            (
                _SCHEDULED,
                _PULLING,
                ("Warning", "Failed", cause, 4),
                ("Warning", "Failed", "Error: ErrImagePull", 4),
                ("Normal", "BackOff", f'Back-off pulling image "{IMAGE}"', 6),
                ("Warning", "Failed", "Error: ImagePullBackOff", 6),
            ),
        )
    if name == "image-pull-first":
        cause = f'rpc error: code = Unknown desc = failed to authorize: 401 Unauthorized for "{IMAGE}"'
        return PodState(_pending(_container(container, _waiting("ErrImagePull", cause))), (_SCHEDULED, _PULLING))
    if name == "unschedulable":
        message = (
            "0/4 nodes are available: 1 node(s) had untolerated taint {nvidia.com/gpu: present}, 3 Insufficient "
            "nvidia.com/gpu. preemption: 0/4 nodes are available: 4 No preemption victims found for incoming pod."
        )
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
            "lastTransitionTime": _TIME,
        }
        status = {"phase": "Pending", "conditions": [condition]}
        return PodState(status, (("Warning", "FailedScheduling", message, 12),))
    if name == "out-of-memory":
        state = _running(_container(container, crash_loop, restarts=3, last=_terminated(137, "OOMKilled")))
        return PodState(
            state, (_PULLED, *_STARTED, _BACK_OFF), previous_log="Loading safetensors checkpoint shards: 90%\n"
        )
    if name == "crash":
        state = _running(_container(container, crash_loop, restarts=5, last=_terminated(1, "Error")))
        text = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
        return PodState(state, (_PULLED, *_STARTED, _BACK_OFF), log=text, previous_log=text)
    if name == "failed":
        ended = _container(container, _terminated(1, "Error"))
        return PodState({**_running(ended), "phase": "Failed"}, (_PULLED, *_STARTED))
    if name == "probe":
        state = _running(
            _container(container, {"running": {"startedAt": _TIME}}, restarts=2, last=_terminated(137, "Error"))
        )
        refused = (
            "Startup probe failed: Get http://10.0.0.7:8080/health: dial tcp 10.0.0.7:8080: connect: connection refused"
        )
        events = (
            _PULLED,
            *_STARTED,
            ("Warning", "Unhealthy", refused, 60),
            ("Normal", "Killing", f"Container {container} failed startup probe, will be restarted", 2),
        )
        return PodState(state, events, previous_log="Loading safetensors checkpoint shards: 60%\n")
    if name == "evicted":
        message = "The node was low on resource: ephemeral-storage. Container main was using 90Gi, request is 0."
        return PodState(
            {"phase": "Failed", "reason": "Evicted", "message": message}, (("Warning", "Evicted", message, 1),)
        )
    if name == "config":
        waiting = _waiting("CreateContainerConfigError", 'secret "gavel-judge-keys" not found')
        failed = ("Warning", "Failed", 'Error: secret "gavel-judge-keys" not found', 8)
        return PodState(_pending(_container(container, waiting)), (_SCHEDULED, _PULLED, failed))
    if name == "unmounted":
        words = 'MountVolume.SetUp failed for volume "models" : persistentvolumeclaim "gavel-models" not found'
        state = _pending(_container(container, _waiting("ContainerCreating")))
        return PodState(state, (_SCHEDULED, ("Warning", "FailedMount", words, 5)))
    raise ValueError(f"no pod state {name!r}")
