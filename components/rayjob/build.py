"""The RayJob of one attempt at a training.

The Ray job is handed over by a Kubernetes Job (``K8sJobMode``): its pod is what shows the driver's log to whoever may
read pods, also after the Ray cluster is gone, and a submitter that is started again finds the job running. In
``HTTPMode`` the operator alone sees the driver's output, and in ``SidecarMode`` a head that is slow to answer ends the
submitter and with it the training (kuberay#4285).
"""

import copy
import dataclasses
import hashlib
import re
from typing import Any

from components.core.errors import ConfigError
from components.core.identity import canonical_json
from components.engine.overrides import logical_cpus
from components.kube.kinds import RAY_JOBS
from components.kube.labels import ANNOTATION_SPEC, LABEL_PRIORITY, LABEL_QUEUE
from components.rayjob.names import identity_labels
from components.rayjob.pods import Training, head_template, submitter_template, worker_template

DEADLINE_SLACK = 1800
"""Seconds by which the job may outlast training.deadline_minutes: images, the start of Ray, publishing. The driver
keeps the deadline itself, and says more about it."""

KEPT = 60
"""Seconds for which the pods of a finished job stay: long enough to read why one died."""

WORKER_GROUP = "trainers"

_WORD = re.compile(r"[A-Za-z0-9_./:=@%+-]+")


def entrypoint(store_url: str, request: str) -> str:
    """The driver's command, which two shells read on its way to Ray.

    Raises:
        ConfigError: the store's URL or the key holds a character that means something to a shell.
    """
    for word in (store_url, request):
        if not _WORD.fullmatch(word):
            raise ConfigError(
                f"not to be passed to a job: {word!r}",
                where="cluster.store",
                remedy="use letters, digits, dots, hyphens, underscores and slashes",
            )
    return f"python -m components.train --store {store_url} --request {request}"


def head_parameters() -> dict[str, str]:
    """Arguments of ``ray start --head``. Of CPUs Ray is told what verl's actors ask for, not what the pod has: with
    fewer, a part of them would never start."""
    return {"dashboard-host": "0.0.0.0", "num-cpus": str(logical_cpus(0)), "num-gpus": "0"}


def worker_parameters(training: Training) -> dict[str, str]:
    """Arguments of ``ray start`` in the workers. On the CPU one logical GPU stands for the place that trains."""
    gpus = training.gpus or 1
    return {"num-cpus": str(logical_cpus(gpus)), "num-gpus": str(gpus)}


def rayjob(training: Training, identity: str, entry: str) -> dict[str, Any]:
    """The object, whole.

    Args:
        training: the attempt.
        identity: of the result.
        entry: the driver's command.

    Raises:
        ConfigError: the experiment's cluster is no Kubernetes cluster.
    """
    body = _body(training, identity, entry)
    body["metadata"]["annotations"] = {ANNOTATION_SPEC: spec_hash(training, identity, entry)}
    return body


def spec_hash(training: Training, identity: str, entry: str) -> str:
    """Hash of all that is asked for but the attempt's name. (Kueue changes the object's spec; this stays.)"""
    body = _body(dataclasses.replace(training, name=""), identity, entry)
    asked = {"spec": body["spec"], "labels": body["metadata"]["labels"]}
    return hashlib.sha256(canonical_json(asked).encode()).hexdigest()


def _body(training: Training, identity: str, entry: str) -> dict[str, Any]:
    spec, settings = training.kubernetes, training.experiment.training
    labels = identity_labels(str(training.experiment.name), identity)
    own = dict(labels)
    if spec.queue is not None:
        own[LABEL_QUEUE] = spec.queue
        if spec.priority is not None:
            own[LABEL_PRIORITY] = spec.priority
    job: dict[str, Any] = {
        "entrypoint": entry,
        "submissionMode": "K8sJobMode",
        "submitterPodTemplate": submitter_template(training, labels),
        "submitterConfig": {"backoffLimit": 3},
        # A retry of KubeRay would overlap with the attempt before it; ours waits until its pods are gone.
        "backoffLimit": 0,
        "activeDeadlineSeconds": int(settings.deadline_minutes * 60) + DEADLINE_SLACK,
        "shutdownAfterJobFinishes": True,
        "ttlSecondsAfterFinished": KEPT,
        "rayClusterSpec": {
            "headGroupSpec": {
                "rayStartParams": head_parameters(),
                "template": head_template(training, labels),
            },
            "workerGroupSpecs": [
                {
                    "groupName": WORKER_GROUP,
                    "replicas": training.workers,
                    "minReplicas": training.workers,
                    "maxReplicas": training.workers,
                    "rayStartParams": worker_parameters(training),
                    "template": worker_template(training, labels),
                }
            ],
        },
    }
    if spec.queue is not None:
        # Kueue owns the field from here on: it is never written again.
        job["suspend"] = True
    return {
        "apiVersion": RAY_JOBS.api_version,
        "kind": RAY_JOBS.kind,
        "metadata": {"name": training.name, "namespace": spec.namespace, "labels": own},
        "spec": copy.deepcopy(job),
    }
