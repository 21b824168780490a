"""A real API server with the definitions that the overlays need, and the parts of controllers that deploy waits for."""

import contextlib
import json
import threading
from collections.abc import Iterator
from typing import Any

import crds

from components.cluster_setup.kubectl import Kubectl, SetupError, dump

Object = dict[str, Any]
REAL = ("ServingRuntime", "ClusterQueue", "LocalQueue", "ResourceFlavor", "WorkloadPriorityClass")
# Nothing of these kinds is in the manifests: the server must know them, and their schemas take it half a minute.
OPEN = (
    ("serving.kserve.io", "v1beta1", "InferenceService", "inferenceservices"),
    ("ray.io", "v1", "RayJob", "rayjobs"),
    ("argoproj.io", "v1alpha1", "Workflow", "workflows"),
)


def install(kubectl: Kubectl) -> None:
    """Make the definitions, and wait until they are served."""
    kubectl.run("create", "-f", "-", given=dump([*crds.stripped(REAL), *(_open(*item) for item in OPEN)]))
    kubectl.run("wait", "crd", "--all", "--for=condition=Established", "--timeout=100s")


def _open(group: str, version: str, kind: str, plural: str) -> Object:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def behind_the_service(address: str, port: int) -> Object:
    """What says where the API server is behind its service. A server on a loopback address does not write its own."""
    return {
        "apiVersion": "discovery.k8s.io/v1beta1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "kubernetes-test",
            "namespace": "default",
            "labels": {"kubernetes.io/service-name": "kubernetes"},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [address]}],
        "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
    }


def for_1_20(objects: list[Object]) -> list[Object]:
    """The objects as Kubernetes 1.20 has them: there CronJobs were batch/v1beta1, with the same fields."""
    return [{**item, "apiVersion": "batch/v1beta1"} if item["kind"] == "CronJob" else item for item in objects]


def review(kubectl: Kubectl, account: str, namespace: str, asked: list[tuple[str, str, str, str]]) -> list[bool]:
    """What the server's authoriser says of a service account ("namespace/name") for each (verb, group, resource, name).

    A resource may have a sub-resource: pods/log.
    """
    space, _, name = account.partition("/")
    reviews = []
    for verb, group, resource, thing in asked:
        plural, _, sub = resource.partition("/")
        attributes = {"namespace": namespace, "verb": verb, "group": group, "resource": plural}
        attributes |= {key: value for key, value in (("subresource", sub), ("name", thing)) if value}
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{space}", "system:authenticated"]
        reviews.append(
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SubjectAccessReview",
                "spec": {
                    "user": f"system:serviceaccount:{space}:{name}",
                    "groups": groups,
                    "resourceAttributes": attributes,
                },
            }
        )
    text = kubectl.run("create", "-o", "json", "-f", "-", given=dump(reviews))
    # One JSON object after the other.
    answers, decoder, at = [], json.JSONDecoder(), 0
    while at < len(text.rstrip()):
        answer, at = decoder.raw_decode(text, at)
        answers.append(bool(answer["status"]["allowed"]))
        while at < len(text) and text[at].isspace():
            at += 1
    return answers


@contextlib.contextmanager
def controllers(kubectl: Kubectl) -> Iterator[None]:
    """Call every StatefulSet of the namespace ready, and every Job done, as soon as they are there."""
    over = threading.Event()

    def work() -> None:
        while not over.wait(0.3):
            with contextlib.suppress(SetupError):
                for item in kubectl.list("statefulsets", "gavel"):
                    ready = {
                        "observedGeneration": item["metadata"]["generation"],
                        "replicas": 1,
                        "readyReplicas": 1,
                        "updatedReplicas": 1,
                    }
                    _status(kubectl, item, ready)
                for item in kubectl.list("jobs", "gavel"):
                    _status(kubectl, item, {"succeeded": 1})

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _status(kubectl: Kubectl, item: Object, status: Object) -> None:
    kubectl.run(
        *("patch", item["kind"].lower(), item["metadata"]["name"], "-n", item["metadata"]["namespace"]),
        *("--subresource=status", "--type=merge", "-p", json.dumps({"status": status})),
    )
