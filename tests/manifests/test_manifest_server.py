"""The manifests on a real API server (make test-cluster): applied, refused, taken away; rights really asked for."""

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import crds
import pytest
from manifest_objects import OVERLAYS, named, objects
from manifest_server import behind_the_service, controllers, for_1_20, install, review
from real_api import RealApi, binaries, real_api
from test_manifest_rbac import KFP_RUN, PIPELINE, SWEEPER

from components.cluster_setup.deploy import Options, deploy, prepare
from components.cluster_setup.kubectl import Kubectl, SetupError, dump
from components.cluster_setup.undeploy import undeploy

pytestmark = pytest.mark.cluster
# This server is too old for one of our kinds: batch/v1 CronJob came with 1.21.
OPTIONS = Options(allow_tags=True, partial=True, seconds=60)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealApi]:
    """A server of its own: the overlays have objects of the whole cluster, and fixed names."""
    programs = binaries()
    if programs is None:
        pytest.skip("no kube-apiserver in $GAVEL_KUBE_BIN or .gavel/kube/bin: make test-cluster builds one")
    if crds.folder() is None:
        pytest.skip("the CRDs are not at hand: set GAVEL_CRDS to their folder")
    with real_api(programs, tmp_path_factory.mktemp("manifests")) as found:
        yield found


@pytest.fixture(scope="module")
def kubectl(server: RealApi) -> Iterator[Kubectl]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUBECONFIG", str(server.kubeconfig(server.folder / "admin.kubeconfig", "default")))
        patch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
        yield Kubectl.find()


@pytest.fixture(scope="module")
def prepared(kubectl: Kubectl) -> Kubectl:
    """The server with what must be installed: definitions, and the namespace of KFP."""
    with pytest.raises(SetupError, match="KServe: no InferenceService") as caught:
        prepare(kubectl, "h800", Options(allow_tags=True))
    for product in ("KubeRay: no RayJob", "Kubeflow Pipelines: no Workflow", "Kueue: no ClusterQueue"):
        assert product in caught.value.what
    install(kubectl)
    with pytest.raises(SetupError, match="no namespace kubeflow"):
        prepare(kubectl, "h800", OPTIONS)
    kubectl.run("create", "namespace", "kubeflow")
    kubectl.run("create", "-f", "-", given=dump([behind_the_service("172.18.0.2", 6443)]))
    return kubectl


@pytest.fixture(scope="module")
def secured(prepared: Kubectl) -> Kubectl:
    """The server with the store's Secrets, made by the very commands that the refusal names."""
    with pytest.raises(SetupError, match="credentials are not there") as caught:
        deploy(prepared, "h800", OPTIONS, lambda line: None)
    assert prepared.get("namespace", "gavel") is None, "nothing is changed before everything is there"
    lines = [line.strip() for line in caught.value.remedy.splitlines()[1:]]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run(["bash", "-euc", "\n".join(lines)], check=True, env={**os.environ, "PATH": path}, timeout=120)
    return prepared


@pytest.fixture(scope="module")
def deployed(secured: Kubectl) -> tuple[Kubectl, list[str]]:
    lines: list[str] = []
    with controllers(secured):
        deploy(secured, "h800", OPTIONS, lines.append)
    return secured, lines


def test_deploy_applies_everything_and_waits_for_store_and_bucket(deployed: tuple[Kubectl, list[str]]) -> None:
    kubectl, lines = deployed
    assert "StatefulSet minio: ready" in lines
    assert "Job gavel-bucket: ready" in lines
    applied = {line.split()[0] for line in lines if line.endswith("serverside-applied")}
    assert len([line for line in lines if line.endswith("serverside-applied")]) == len(objects("h800")) - 1
    for wanted in ("clusterqueue.kueue.x-k8s.io/gavel", "servingruntime.serving.kserve.io/gavel-vllm"):
        assert wanted in applied
    assert any("CronJob (batch/v1)" in line for line in lines), "what is left out is said"
    secret = kubectl.get("secret", "gavel-store", "gavel")
    assert secret is not None
    assert secret["metadata"]["annotations"]["serving.kserve.io/s3-endpoint"] == "minio.gavel.svc.cluster.local:9000"


def test_the_two_secrets_have_one_value_that_nobody_was_shown(deployed: tuple[Kubectl, list[str]]) -> None:
    kubectl, lines = deployed
    found = [kubectl.get("secret", "gavel-store", space) for space in ("gavel", "kubeflow")]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0]["data"] == found[1]["data"]
    value = base64.b64decode(found[0]["data"]["AWS_SECRET_ACCESS_KEY"]).decode()
    assert re.fullmatch("[0-9a-f]{48}", value)
    assert value not in "\n".join(lines)


def test_policies_hold_the_addresses_of_the_api_server(deployed: tuple[Kubectl, list[str]]) -> None:
    kubectl, _ = deployed
    service = kubectl.get("service", "kubernetes", "default")
    assert service is not None
    for name in ("gavel-api-server-steps", "gavel-api-server-sweeper"):
        policy = kubectl.get("networkpolicy", name, "gavel")
        assert policy is not None
        rules = [(rule["to"][0]["ipBlock"]["cidr"], rule["ports"][0]["port"]) for rule in policy["spec"]["egress"]]
        assert sorted(rules) == sorted([(f"{service['spec']['clusterIP']}/32", 443), ("172.18.0.2/32", 6443)])


def test_deploy_again_changes_nothing_but_runs_the_bucket_job_anew(deployed: tuple[Kubectl, list[str]]) -> None:
    kubectl, _ = deployed
    before = {name: kubectl.get("role", name, "gavel") for name in ("gavel-pipeline", "gavel-sweeper")}
    job = kubectl.get("job", "gavel-bucket", "gavel")
    with controllers(kubectl):
        deploy(kubectl, "h800", OPTIONS, lambda line: None)
    for name, role in before.items():
        now = kubectl.get("role", name, "gavel")
        assert role is not None
        assert now is not None
        assert now["metadata"]["resourceVersion"] == role["metadata"]["resourceVersion"]
    again = kubectl.get("job", "gavel-bucket", "gavel")
    assert job is not None
    assert again is not None
    assert again["metadata"]["uid"] != job["metadata"]["uid"]


def split(rights: dict[str, set[str]]) -> list[tuple[str, str, str, str]]:
    """(verb, group, resource, name) of the lists in test_manifest_rbac."""
    found = []
    for key, verbs in rights.items():
        resource, _, named_thing = key.rstrip("]").partition("[")
        plural, _, group = resource.partition(".")
        found += [(verb, group, plural, named_thing) for verb in sorted(verbs)]
    return found


VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
RESOURCES = (
    ("", "secrets"), ("", "pods"), ("", "pods/exec"), ("", "pods/log"), ("", "services"), ("", "configmaps"),
    ("", "persistentvolumeclaims"), ("", "serviceaccounts"), ("", "events"), ("apps", "deployments"), ("batch", "jobs"),
    ("ray.io", "rayjobs"), ("ray.io", "rayclusters"), ("serving.kserve.io", "inferenceservices"),
    ("serving.kserve.io", "servingruntimes"), ("kueue.x-k8s.io", "workloads"), ("kueue.x-k8s.io", "localqueues"),
    ("networking.k8s.io", "networkpolicies"), ("rbac.authorization.k8s.io", "roles"),
    ("rbac.authorization.k8s.io", "rolebindings"), ("argoproj.io", "workflows"), ("argoproj.io", "workflowtaskresults"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("account", "namespace", "rights"),
    [
        ("gavel/gavel-pipeline", "gavel", [PIPELINE, KFP_RUN]),
        ("kubeflow/gavel-pipeline", "gavel", [PIPELINE]),
        ("kubeflow/gavel-pipeline", "kubeflow", [KFP_RUN]),
        ("gavel/gavel-sweeper", "gavel", [SWEEPER]),
        ("gavel/gavel-trainer", "gavel", []),
        ("gavel/gavel-judge", "gavel", []),
        ("gavel/gavel-store", "gavel", []),
        ("gavel/default", "gavel", []),
        ("gavel/gavel-pipeline", "kubeflow", []),
        ("gavel/gavel-pipeline", "default", []),
    ],
)
def test_each_account_may_do_its_part_and_nothing_else(
    deployed: tuple[Kubectl, list[str]], account: str, namespace: str, rights: list[dict[str, set[str]]]
) -> None:
    kubectl, _ = deployed
    may = {item for each in rights for item in split(each)}
    asked = sorted(may | {(verb, group, resource, "") for group, resource in RESOURCES for verb in VERBS})
    answers = dict(zip(asked, review(kubectl, account, namespace, asked), strict=True))
    assert {item for item, allowed in answers.items() if allowed} == may


def impersonated(kubectl: Kubectl, account: str, *words: str, given: str | None = None) -> str:
    space, _, name = account.partition("/")
    return kubectl.run("--as", f"system:serviceaccount:{space}:{name}", *words, given=given)


def test_a_step_makes_and_deletes_a_judge_and_reads_no_secret(deployed: tuple[Kubectl, list[str]]) -> None:
    kubectl, _ = deployed
    body = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "one", "namespace": "gavel"},
        "spec": {},
    }
    step = "kubeflow/gavel-pipeline"
    impersonated(kubectl, step, "create", "-f", "-", given=json.dumps(body))
    with pytest.raises(SetupError, match=r"[Ff]orbidden"):
        impersonated(kubectl, step, "get", "secrets", "-n", "gavel")
    with pytest.raises(SetupError, match=r"[Ff]orbidden"):
        impersonated(kubectl, "gavel/gavel-trainer", "get", "inferenceservices", "-n", "gavel")
    with pytest.raises(SetupError, match=r"[Ff]orbidden"):
        impersonated(kubectl, "gavel/gavel-sweeper", "create", "-f", "-", given=json.dumps(body))
    with pytest.raises(SetupError, match="1 judges or trainings are there: inferenceservices one"):
        undeploy(kubectl, "h800", say=lambda line: None)
    impersonated(kubectl, "gavel/gavel-sweeper", "delete", "inferenceservice", "one", "-n", "gavel")
    assert kubectl.get("inferenceservice", "one", "gavel") is None


def test_a_store_that_does_not_start_is_told_in_the_clusters_words(deployed: tuple[Kubectl, list[str]]) -> None:
    kubectl, _ = deployed
    (container,) = named("h800", "StatefulSet", "minio")["spec"]["template"]["spec"]["containers"]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "minio-0",
            "namespace": "gavel",
            "labels": named("h800", "StatefulSet", "minio")["spec"]["template"]["metadata"]["labels"],
        },
        "spec": {"containers": [{"name": "minio", "image": container["image"]}]},
    }
    kubectl.run("create", "-f", "-", given=json.dumps(pod))
    waiting = {"reason": "ErrImagePull", "message": "manifest unknown"}
    status = {
        "phase": "Pending",
        "containerStatuses": [
            {
                "name": "minio", "image": "x", "imageID": "", "ready": False, "restartCount": 0,
                "state": {"waiting": waiting},
            }
        ],
    }  # fmt: skip
    change = ("-n", "gavel", "--subresource=status", "--type=merge", "-p")
    kubectl.run("patch", "pod", "minio-0", *change, json.dumps({"status": status}))
    kubectl.run("patch", "statefulset", "minio", *change, json.dumps({"status": {"readyReplicas": 0}}))
    try:
        with pytest.raises(
            SetupError, match=r"StatefulSet minio is not ready .*minio-0: image-pull: .*manifest unknown"
        ):
            deploy(kubectl, "h800", Options(allow_tags=True, partial=True, seconds=1), lambda line: None)
    finally:
        kubectl.run("delete", "pod", "minio-0", "-n", "gavel", "--grace-period=0", "--force")


def test_another_overlays_undeploy_takes_nothing_from_this_one(deployed: tuple[Kubectl, list[str]]) -> None:
    kubectl, lines = deployed
    assert any("expired leases stay" in line for line in lines)
    assert any(line.startswith("note: Kubernetes: this is v1.20") for line in lines)
    with pytest.raises(SetupError, match="overlay h800 is deployed here, and dev has the same"):
        undeploy(kubectl, "dev", say=lambda line: None)
    assert kubectl.get("statefulset", "minio", "gavel") is not None
    assert kubectl.present([named("h800", "StatefulSet", "minio")])[0]["metadata"]["name"] == "minio"
    assert kubectl.present([named("dev", "ServingRuntime", "gavel-cpu")]) == []


def test_undeploy_takes_away_all_but_data_and_data_only_when_asked(deployed: tuple[Kubectl, list[str]]) -> None:
    kubectl, _ = deployed
    lines: list[str] = []
    undeploy(kubectl, "h800", say=lines.append)
    assert "kept: namespace gavel, its Secrets and claims (gavel-models, gavel-work); DATA=1 deletes them too" in lines
    for kind in ("statefulsets", "jobs", "networkpolicies", "roles", "rolebindings", "services", "servingruntimes"):
        assert not kubectl.list(kind, "gavel"), kind
    assert kubectl.get("clusterqueue", "gavel") is None
    assert kubectl.get("serviceaccount", "gavel-pipeline", "kubeflow") is None
    assert kubectl.get("secret", "gavel-store", "gavel") is not None
    assert {item["metadata"]["name"] for item in kubectl.list("persistentvolumeclaims", "gavel")} == {
        "gavel-models",
        "gavel-work",
    }


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_server_takes_every_object_and_keeps_every_field_it_knows(prepared: Kubectl, overlay: str) -> None:
    # Fields newer than 1.20 are dropped there; the strict schema check knows them.
    wanted = [item for item in for_1_20(objects(overlay)) if item["kind"] != "Namespace"]
    if prepared.get("namespace", "gavel") is None:
        prepared.run("create", "namespace", "gavel")
    lines = prepared.run(
        *("apply", "--server-side", "--dry-run=server", "--force-conflicts", "-f", "-"),
        given=dump(_fresh(item) for item in wanted),
    ).splitlines()
    assert len(lines) == len(wanted)


def _fresh(item: dict[str, object]) -> dict[str, object]:
    """Under another name: claims that are there may not change their access mode."""
    metadata = dict(item["metadata"])  # type: ignore[call-overload]
    return {**item, "metadata": {**metadata, "name": f"{metadata['name']}-x"}}
