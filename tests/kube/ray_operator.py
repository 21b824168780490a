"""A pretended KubeRay (and Kueue): RayJobs get a RayCluster, pods, and a job that runs."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml
from kube_fixture import Api
from kubernetes import client
from operator_base import Operator, reference, rfc3339
from pod_states import PodState, pod_state

from components.kube.kinds import RAY_CLUSTERS, RAY_JOBS, WORKLOADS

Object = dict[str, Any]
_NAME_LIMIT = 47
_QUEUE = "kueue.x-k8s.io/queue-name"
_PENDING = "couldn't assign flavors to pod set head: insufficient unused quota for cpu in flavor nodes, 8 more needed"


@dataclass(frozen=True)
class Ray:
    """What becomes of one RayJob."""

    outcome: Literal["succeeds", "fails", "hangs", "vanishes", "queued"] = "succeeds"
    queued: float = 0.1
    """Seconds until a suspended job is admitted; outcome "queued": never."""
    starting: float = 0.1
    """Seconds until the cluster's pods run."""
    running: float = 0.2
    """Seconds until the job ends, or is deleted under us (outcome "vanishes")."""
    trouble: str | None = None
    """A state of ``pod_states``: the workers' while starting (they never run), or at the end of a job that fails."""
    started: bool = False
    """The trouble comes once the job runs, not before."""
    log: str = "driver: step 1/2\n"
    message: str = "Job entrypoint command failed with exit code 1, last available logs (truncated to 20,000 chars):"
    run: bool = False
    """Run the entrypoint as a process of this machine; its exit status decides."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Of that process, over what the job says."""
    folder: Path | None = None
    """Where that process runs; None: here."""


class RayOperator(Operator):
    """``behaviours``: by name of the RayJob; ``default`` for the others. Both may change while it runs."""

    kind = RAY_JOBS

    def __init__(self, api: Api, default: Ray | None = None, behaviours: Mapping[str, Ray] | None = None) -> None:
        super().__init__(api)
        self.default = default or Ray()
        self.behaviours = dict(behaviours or {})
        self._processes: dict[str, tuple[subprocess.Popen[bytes], Path]] = {}
        self._scratch = tempfile.TemporaryDirectory()

    def reconcile(self, body: Object) -> None:
        """A step of one RayJob."""
        metadata, spec, status = body["metadata"], body["spec"], body.get("status") or {}
        plan = self.behaviours.get(metadata["name"], self.default)
        state = status.get("jobDeploymentStatus", "")
        if state in {"Complete", "Failed", "ValidationFailed"}:
            return
        if len(metadata["name"]) > _NAME_LIMIT:
            words = f"RayJob name should be no more than {_NAME_LIMIT} characters"
            self.set_status(
                body, {"jobDeploymentStatus": "ValidationFailed", "reason": "ValidationFailed", "message": words}
            )
            return
        if spec.get("suspend"):
            self._suspended(body, plan, state)
            return
        if state in {"", "Suspended"}:
            self._start(body)
            return
        self._go_on(body, plan, status)

    def _suspended(self, body: Object, plan: Ray, state: str) -> None:
        metadata = body["metadata"]
        if state not in {"", "Suspended"}:
            self._end_process(metadata["uid"])
            self.drop_pods(f"ray.io/cluster={body['status'].get('rayClusterName')}")
            self._drop_cluster(body)
            self.forget(body, "started", "running", "queued")
        self.set_status(body, {"jobDeploymentStatus": "Suspended", "jobStatus": "", "jobId": "", "rayClusterName": ""})
        if queue := (metadata.get("labels") or {}).get(_QUEUE):
            admitted = plan.outcome != "queued" and self.elapsed(body, "queued") >= plan.queued
            self._workload(body, queue, admitted)
            if admitted:
                kind = self.kind
                self._custom.patch_namespaced_custom_object(
                    kind.group,
                    kind.version,
                    self.api.namespace,
                    kind.plural,
                    metadata["name"],
                    {"spec": {"suspend": False}},
                )

    def _workload(self, body: Object, queue: str, admitted: bool) -> None:
        """Kueue's record of a job, with the reason why it waits."""
        kind, name = WORKLOADS, f"rayjob-{body['metadata']['name']}"
        head = {"name": "head", "image": "registry.invalid/none"}
        workload = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {
                "name": name,
                "ownerReferences": [reference(body)],
                "labels": {"kueue.x-k8s.io/job-uid": body["metadata"]["uid"]},
            },
            "spec": {
                "queueName": queue,
                "podSets": [{"name": "head", "count": 1, "template": {"spec": {"containers": [head]}}}],
            },
        }
        with contextlib.suppress(client.ApiException):
            self._custom.create_namespaced_custom_object(
                kind.group, kind.version, self.api.namespace, kind.plural, workload
            )
        condition = {
            "type": "QuotaReserved",
            "status": str(admitted),
            "reason": "QuotaReserved" if admitted else "Pending",
            "message": "Quota reserved" if admitted else _PENDING,
            "lastTransitionTime": rfc3339(),
        }
        if self._since.get((body["metadata"]["uid"], f"workload {admitted}")) is None:
            self.elapsed(body, f"workload {admitted}")
            self._custom.patch_namespaced_custom_object_status(
                kind.group, kind.version, self.api.namespace, kind.plural, name, {"status": {"conditions": [condition]}}
            )

    def _start(self, body: Object) -> None:
        name = f"{body['metadata']['name'][:40]}-{body['metadata']['uid'][:5]}"
        kind = RAY_CLUSTERS
        cluster = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {"name": name, "ownerReferences": [reference(body)]},
            "spec": body["spec"]["rayClusterSpec"],
        }
        with contextlib.suppress(client.ApiException):
            self._custom.create_namespaced_custom_object(
                kind.group, kind.version, self.api.namespace, kind.plural, cluster
            )
        begin = {
            "jobDeploymentStatus": "Initializing",
            "rayClusterName": name,
            "jobId": f"{name}-job",
            "startTime": rfc3339(),
        }
        self.set_status(body, begin)

    def _go_on(self, body: Object, plan: Ray, status: Object) -> None:
        deadline = body["spec"].get("activeDeadlineSeconds")
        if deadline and self.elapsed(body, "started") > deadline:
            words = f"The RayJob has passed the activeDeadlineSeconds. StartTime: {status.get('startTime')}."
            self._finish(body, "Failed", {"reason": "DeadlineExceeded", "message": words})
            return
        if self.elapsed(body, "started") < plan.starting:
            self._pods(body, "pulling", "pulling")
        elif plan.trouble and not plan.started:
            self._pods(body, "running", plan.trouble)
        else:
            self._job(body, plan)

    def _job(self, body: Object, plan: Ray) -> None:
        uid = body["metadata"]["uid"]
        self._pods(body, "running", "running")
        self.set_status(body, {"jobDeploymentStatus": "Running", "jobStatus": "RUNNING"})
        elapsed = self.elapsed(body, "running")
        log, code = plan.log, None
        if plan.run:
            if uid not in self._processes:
                self._processes[uid] = self._entrypoint(body, plan)
            process, file = self._processes[uid]
            log, code = file.read_text(encoding="utf-8", errors="replace"), process.poll()
        elif elapsed >= plan.running:
            code = {"succeeds": 0, "fails": 1}.get(plan.outcome)
        self.api.set_log(f"{body['metadata']['name']}-submitter", log)
        self.api.set_log(f"{body['status']['rayClusterName']}-head", log)
        if plan.outcome == "vanishes" and elapsed >= plan.running:
            kind = self.kind
            self._custom.delete_namespaced_custom_object(
                kind.group, kind.version, self.api.namespace, kind.plural, body["metadata"]["name"]
            )
        elif code == 0:
            self._finish(
                body, "Complete", {"jobStatus": "SUCCEEDED", "message": "Job finished successfully.", "succeeded": 1}
            )
        elif code is not None:
            if plan.trouble:
                self._pods(body, "running", plan.trouble)
            said = {
                "jobStatus": "FAILED",
                "reason": "AppFailed",
                "message": f"{plan.message} {log[-200:]}",
                "failed": 1,
            }
            self._finish(body, "Failed", said)

    def _finish(self, body: Object, deployment: str, status: Object) -> None:
        self._end_process(body["metadata"]["uid"])
        self.set_status(body, {"jobDeploymentStatus": deployment, "endTime": rfc3339(), **status})
        if body["spec"].get("shutdownAfterJobFinishes") and deployment == "Complete":
            self.drop_pods(f"ray.io/cluster={body['status']['rayClusterName']}")
            self._drop_cluster(body)

    def _pods(self, body: Object, head: str, workers: str) -> None:
        """The pods of the cluster, and that of the submitter, in the given states."""
        spec, cluster = body["spec"], body["status"]["rayClusterName"]
        common = {"ray.io/cluster": cluster, "ray.io/is-ray-node": "yes"}
        template = spec["rayClusterSpec"]["headGroupSpec"]["template"]
        labels = {**template.get("metadata", {}).get("labels", {}), **common, "ray.io/node-type": "head"}
        self.put_pod(body, f"{cluster}-head", labels, template["spec"], _silent(head))
        for group in spec["rayClusterSpec"].get("workerGroupSpecs") or ():
            template = group["template"]
            labels = {**template.get("metadata", {}).get("labels", {}), **common, "ray.io/node-type": "worker"}
            labels["ray.io/group"] = group["groupName"]
            for index in range(group.get("replicas", 1)):
                name = f"{cluster}-{group['groupName']}-worker-{index}"
                self.put_pod(body, name, labels, template["spec"], pod_state(workers))
        if spec.get("submissionMode", "K8sJobMode") == "K8sJobMode" and head == workers == "running":
            name = body["metadata"]["name"]
            container = {"name": "ray-job-submitter", "image": "registry.invalid/none"}
            labels = {"job-name": name, "batch.kubernetes.io/job-name": name}
            self.put_pod(body, f"{name}-submitter", labels, {"containers": [container]}, _silent("running"))

    def _entrypoint(self, body: Object, plan: Ray) -> tuple[subprocess.Popen[bytes], Path]:
        """Run the job's entrypoint as it stands, with the environment of the head and of the job."""
        head = body["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]
        named = {item["name"]: item["value"] for item in head.get("env") or () if "value" in item}
        runtime = yaml.safe_load(body["spec"].get("runtimeEnvYAML") or "{}") or {}
        own = {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
        environment = {**os.environ, **own, **named, **(runtime.get("env_vars") or {}), **plan.environment}
        file = Path(self._scratch.name) / f"{body['metadata']['uid']}-{len(self._since)}.log"
        with file.open("wb") as out:
            # A session of its own, so that its children end with it.
            process = subprocess.Popen(
                ["bash", "-c", body["spec"]["entrypoint"]],
                env=environment, cwd=plan.folder, stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip
        return process, file

    def _end_process(self, uid: str) -> None:
        process, _ = self._processes.pop(uid, (None, None))
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _drop_cluster(self, body: Object) -> None:
        kind, name = RAY_CLUSTERS, (body.get("status") or {}).get("rayClusterName")
        if name:
            with contextlib.suppress(client.ApiException):
                self._custom.delete_namespaced_custom_object(
                    kind.group, kind.version, self.api.namespace, kind.plural, name
                )

    def removed(self, uid: str) -> None:
        """The job ends with its object."""
        self._end_process(uid)

    def _close(self) -> None:
        for uid in list(self._processes):
            self._end_process(uid)
        self._scratch.cleanup()


def _silent(name: str) -> PodState:
    """A state without its log: the job's own is there instead."""
    state = pod_state(name)
    return PodState(state.status, state.events)
