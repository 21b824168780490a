"""A pretended KServe controller: InferenceServices get a pod, conditions and an address."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kube_fixture import Api
from operator_base import Operator, rfc3339
from pod_states import pod_state

from components.kube.kinds import INFERENCE_SERVICES

Object = dict[str, Any]
Trouble = Literal["image-pull", "unschedulable", "out-of-memory", "crash", "probe", "evicted", "config"]


@dataclass(frozen=True)
class Serving:
    """What becomes of one InferenceService."""

    trouble: Trouble | None = None
    """None: it becomes ready."""
    pulling: float = 0.1
    """Seconds until the container starts."""
    loading: float = 0.1
    """Seconds until it is ready, or until the trouble shows."""
    flaps: float | None = None
    """Seconds between ready and not ready, for ever."""
    mute: bool = False
    """The operator does not look at it at all."""
    url: str | None = None
    """The address in the status; None: the cluster's own name for the service."""


class ServingOperator(Operator):
    """``behaviours``: by name of the InferenceService; ``default`` for the others. Both may change while it runs.
    ``address``: the URL to give in the status for a name, such as that of a local judge server."""

    kind = INFERENCE_SERVICES

    def __init__(
        self,
        api: Api,
        default: Serving | None = None,
        behaviours: Mapping[str, Serving] | None = None,
        address: Callable[[str], str] | None = None,
    ) -> None:
        super().__init__(api)
        self.default = default or Serving()
        self.behaviours = dict(behaviours or {})
        self._address = address

    def reconcile(self, body: Object) -> None:
        """A step of one InferenceService."""
        name = body["metadata"]["name"]
        plan = self.behaviours.get(name, self.default)
        if plan.mute:
            return
        generation = body["metadata"].get("generation", 1)
        if (body.get("status") or {}).get("observedGeneration", generation) != generation:
            self.forget(body, "created")
        elapsed = self.elapsed(body, "created")
        phase = (
            "pulling" if elapsed < plan.pulling else "loading" if elapsed < plan.pulling + plan.loading else "running"
        )
        if phase == "running" and plan.trouble:
            phase = plan.trouble
        if phase == "running" and plan.flaps and int((elapsed - plan.pulling - plan.loading) / plan.flaps) % 2:
            phase = "loading"
        if plan.trouble in {"unschedulable", "image-pull", "config"} and phase == "loading":
            phase = "pulling"
        labels = {
            "serving.kserve.io/inferenceservice": name,
            "component": "predictor",
            "app": f"isvc.{name}-predictor",
            **{key: value for key, value in body["metadata"].get("labels", {}).items() if key.startswith("gavel.dev/")},
        }
        state = pod_state(phase, "kserve-container")
        self.put_pod(body, f"{name}-predictor-0", labels, _pod_spec(body), state)
        self.set_status(body, self._status(body, plan, phase))

    def _status(self, body: Object, plan: Serving, phase: str) -> Object:
        name, ready = body["metadata"]["name"], phase == "running"
        reason = (
            {}
            if ready
            else {"reason": "MinimumReplicasUnavailable", "message": "Deployment does not have minimum availability."}
        )
        old = {item["type"]: item for item in (body.get("status") or {}).get("conditions", ())}
        conditions = [
            {"type": kind, "status": str(ready), "lastTransitionTime": rfc3339(), **reason}
            for kind in ("IngressReady", "PredictorReady", "Ready")
        ]
        for item in conditions:
            before = old.get(item["type"], {})
            if before.get("status") == item["status"]:
                item["lastTransitionTime"] = before["lastTransitionTime"]
        failed = plan.trouble is not None and phase == plan.trouble
        model = "Loaded" if ready else "FailedToLoad" if failed else "Loading" if phase == "loading" else "Pending"
        status: Object = {
            "observedGeneration": body["metadata"].get("generation", 1),
            "conditions": conditions,
            "modelStatus": {
                "transitionStatus": "UpToDate" if ready else "BlockedByFailedLoad" if failed else "InProgress",
                "states": {"activeModelState": model, "targetModelState": model},
                "copies": {"failedCopies": int(failed), "totalCopies": 1},
            },
        }
        if ready:
            space = self.api.namespace
            inside = f"http://{name}-predictor.{space}.svc.cluster.local"
            url = plan.url or (self._address(name) if self._address else inside)
            status |= {"url": f"http://{name}-{space}.example.com", "address": {"url": url}}
            status["components"] = {"predictor": {"url": f"http://{name}-predictor-{space}.example.com"}}
        return status


def _pod_spec(body: Object) -> Object:
    predictor = body["spec"]["predictor"]
    model = predictor.get("model") or {}
    container = {key: model[key] for key in ("args", "env", "image", "resources") if key in model}
    pod = {key: predictor[key] for key in ("nodeSelector", "tolerations", "serviceAccountName") if key in predictor}
    return {**pod, "containers": predictor.get("containers") or [{**container, "name": "kserve-container"}]}
