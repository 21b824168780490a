"""The RayJob object: what the real definitions take, and what it asks of a cluster."""

import json
import math
import shlex
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ray_training import BASE, IDENTITY, on_cluster, training
from schemas import strict

from components.core.errors import ConfigError
from components.core.spec import Experiment
from components.kube.labels import ANNOTATION_SPEC
from components.rayjob.build import entrypoint, rayjob
from components.rayjob.names import attempt_name, attempt_number, base_name

ENTRY = entrypoint("s3://gavel/runs", f"tiny/train-grpo/{IDENTITY}/request.json")


def job(experiment: Experiment, name: str = BASE) -> dict[str, Any]:
    return rayjob(training(experiment, name), IDENTITY, ENTRY)


def templates(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    spec = body["spec"]
    return {
        "head": spec["rayClusterSpec"]["headGroupSpec"]["template"],
        "worker": spec["rayClusterSpec"]["workerGroupSpecs"][0]["template"],
        "submitter": spec["submitterPodTemplate"],
    }


def container(template: dict[str, Any]) -> dict[str, Any]:
    [found] = template["spec"]["containers"]
    return found


@pytest.mark.parametrize("cluster", ["dev", "h800"])
def test_it_fits_the_real_definition_and_its_pods_those_of_kubernetes(cluster: str) -> None:
    body = job(on_cluster(cluster))
    for name, template in templates(body).items():
        strict({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": template["spec"]})
    strict(body)


@pytest.mark.parametrize("cluster", ["dev", "h800"])
def test_every_pod_keeps_to_the_restricted_level_with_a_numeric_user_and_without_a_token(cluster: str) -> None:
    # The rules of the level: https://kubernetes.io/docs/concepts/security/pod-security-standards/
    for template in templates(job(on_cluster(cluster))).values():
        pod = template["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert isinstance(pod["securityContext"]["runAsUser"], int)
        assert pod["securityContext"]["runAsUser"] > 0
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
        assert {kind for volume in pod["volumes"] for kind in volume if kind != "name"} <= {
            "emptyDir",
            "persistentVolumeClaim",
        }
        assert container(template)["securityContext"]["allowPrivilegeEscalation"] is False
        assert container(template)["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert pod["automountServiceAccountToken"] is False
        assert pod["serviceAccountName"] == "gavel-trainer"
        mounted = {mount["mountPath"] for mount in container(template)["volumeMounts"]}
        home = next(item["value"] for item in container(template)["env"] if item["name"] == "HOME")
        assert home in mounted


def test_gpus_are_the_workers_and_the_head_has_none() -> None:
    body = job(on_cluster("h800"))
    head, worker = (container(templates(body)[name]) for name in ("head", "worker"))
    assert worker["resources"]["limits"]["nvidia.com/gpu"] == "4"
    assert "nvidia.com/gpu" not in head["resources"]["limits"]
    groups = body["spec"]["rayClusterSpec"]
    assert groups["headGroupSpec"]["rayStartParams"]["num-gpus"] == "0"
    [group] = groups["workerGroupSpecs"]
    assert group["rayStartParams"]["num-gpus"] == "4"
    assert (group["replicas"], group["minReplicas"], group["maxReplicas"]) == (1, 1, 1)
    pod = templates(body)["worker"]["spec"]
    assert pod["nodeSelector"] == {"gavel.dev/pool": "h800"}
    assert pod["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    shared = next(volume for volume in pod["volumes"] if volume["name"] == "shared-memory")
    assert shared["emptyDir"] == {"medium": "Memory", "sizeLimit": "64Gi"}
    assert {"name": "NCCL_IB_HCA", "value": "mlx5"} in worker["env"]


def test_two_jobs_of_four_gpus_fit_one_node_of_eight() -> None:
    experiment = on_cluster("h800")
    assert experiment.cluster.kubernetes is not None
    node = experiment.cluster.kubernetes.pools["h800"]
    asked = {"cpu": 0.0, "memory": 0.0, "nvidia.com/gpu": 0.0}
    for template in templates(job(experiment)).values():
        for name, value in container(template)["resources"]["requests"].items():
            asked[name] += {"cpu": _cpus, "memory": _gib}.get(name, float)(value)
        # Nothing that only one pod of a node can have.
        assert "hostPort" not in str(template)
        assert "podAntiAffinity" not in str(template)
    assert 2 * asked["nvidia.com/gpu"] == node.gpus == 8
    assert 2 * asked["cpu"] <= node.cpus
    assert 2 * asked["memory"] <= node.memory_gib
    # The fast network is for runs of several nodes, and its devices are few.
    assert "rdma/hca" not in container(templates(job(experiment))["worker"])["resources"]["requests"]


def test_sixteen_gpus_are_two_pods_with_the_fast_network() -> None:
    experiment = on_cluster("h800", "cluster.gpus=16", "training.micro_batch=1")
    body = job(experiment)
    [group] = body["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    limits = container(templates(body)["worker"])["resources"]["limits"]
    assert (group["replicas"], limits["nvidia.com/gpu"], limits["rdma/hca"]) == (2, "8", "1")


def test_on_the_cpu_one_worker_stands_for_the_gpu() -> None:
    body = job(on_cluster("dev"))
    [group] = body["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    assert (group["replicas"], group["rayStartParams"]["num-gpus"]) == (1, "1")
    assert not [name for name in container(templates(body)["worker"])["resources"]["limits"] if "gpu" in name]


def test_rays_cpus_are_as_many_as_verl_asks_for_however_few_the_pods_have() -> None:
    # VERL.md: with few logical CPUs the run hangs in silence; 16 and 4 more with each GPU ran.
    for cluster, gpus in (("dev", 1), ("h800", 4)):
        groups = job(on_cluster(cluster))["spec"]["rayClusterSpec"]
        assert int(groups["headGroupSpec"]["rayStartParams"]["num-cpus"]) == 16
        assert int(groups["workerGroupSpecs"][0]["rayStartParams"]["num-cpus"]) == 16 + 4 * gpus


def test_with_a_queue_it_starts_suspended_and_without_one_the_field_is_kueues_to_leave_alone() -> None:
    queued, free = job(on_cluster("h800", "cluster.kubernetes.priority=low")), job(on_cluster("dev"))
    assert queued["spec"]["suspend"] is True
    assert queued["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "gavel"
    assert queued["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == "low"
    assert "suspend" not in free["spec"]
    assert "kueue.x-k8s.io/queue-name" not in free["metadata"]["labels"]
    # Kueue refuses a job that keeps its Ray cluster; KubeRay's own retries would overlap with ours.
    assert queued["spec"]["shutdownAfterJobFinishes"] is True
    assert queued["spec"]["backoffLimit"] == 0
    assert "enableInTreeAutoscaling" not in queued["spec"]["rayClusterSpec"]


def test_the_deadline_leaves_the_driver_time_to_keep_its_own() -> None:
    spec = job(on_cluster("dev", "training.deadline_minutes=90"))["spec"]
    assert 90 * 60 < spec["activeDeadlineSeconds"] <= 90 * 60 + 3600


def test_secrets_are_references_and_the_judges_key_comes_with_its_name() -> None:
    body = job(on_cluster("h800"))
    for name in ("head", "worker"):
        env = {item["name"]: item for item in container(templates(body)[name])["env"]}
        for variable, secret in (
            ("AWS_ACCESS_KEY_ID", "gavel-store"),
            ("AWS_SECRET_ACCESS_KEY", "gavel-store"),
            ("RULER_KEY", "gavel-judge-keys"),
        ):
            assert env[variable] == {
                "name": variable,
                "valueFrom": {"secretKeyRef": {"name": secret, "key": variable}},
            }
        assert json.loads(env["GAVEL_JUDGE_ENDPOINTS"]["value"]) == {"ruler": "http://judge.test.svc:8000"}
        assert env["GAVEL_INSIDE_JOB"]["value"] == "1"
        assert env["GAVEL_S3_ENDPOINT"]["value"].startswith("http://minio.")
        work = next(
            mount["mountPath"] for mount in container(templates(body)[name])["volumeMounts"] if mount["name"] == "work"
        )
        assert env["GAVEL_STATE"]["value"] == work
    # The submitter needs none of it.
    assert "AWS" not in str(templates(body)["submitter"])


def test_trainers_may_have_an_account_of_their_own_in_the_store() -> None:
    body = job(on_cluster("h800", "cluster.kubernetes.trainer_store_secret=train"))
    for name in ("head", "worker"):
        env = {item["name"]: item for item in container(templates(body)[name])["env"]}
        for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            assert env[variable]["valueFrom"]["secretKeyRef"] == {"name": "train", "key": variable}
    assert "gavel-store" not in str(body)
    steps = job(on_cluster("h800", "cluster.kubernetes.store_secret=steps"))
    assert "gavel-store" not in str(steps)


def test_the_image_is_the_one_that_the_steps_pod_names(monkeypatch: pytest.MonkeyPatch) -> None:
    pinned = f"registry.example/gavel/trainer@sha256:{'ab' * 32}"
    monkeypatch.setenv("GAVEL_IMAGE_TRAINER", pinned)
    assert {container(template)["image"] for template in templates(job(on_cluster())).values()} == {pinned}


def test_the_hash_tells_another_order_from_another_attempt() -> None:
    def spec_of(experiment: Experiment, name: str = BASE) -> str:
        return str(job(experiment, name)["metadata"]["annotations"][ANNOTATION_SPEC])

    first = spec_of(on_cluster("h800"))
    assert spec_of(on_cluster("h800"), f"{BASE}-r3") == first
    assert spec_of(on_cluster("h800", "cluster.memory_gib=200")) != first
    assert spec_of(on_cluster("h800", "cluster.kubernetes.priority=low")) != first


def test_the_entrypoint_comes_through_two_shells_as_it_is() -> None:
    words = shlex.split(ENTRY)
    assert words[:3] == ["python", "-m", "components.train"]
    assert " ".join(words) == ENTRY
    for bad in ("s3://gavel/$(id)", "file:///a b", "s3://x;y", "file:///it's"):
        with pytest.raises(ConfigError, match="not to be passed to a job"):
            entrypoint(bad, "key")


@given(st.text(min_size=1, max_size=80), st.text("0123456789abcdef", min_size=64, max_size=64), st.integers(0, 9))
def test_names_are_short_valid_and_read_back(experiment: str, identity: str, number: int) -> None:
    base = base_name(experiment, identity)
    name = attempt_name(base, number)
    # KubeRay: a DNS-1035 label of at most 47.
    assert len(name) <= 47
    assert name[0].isalpha()
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert attempt_number(base, name) == number
    assert attempt_number(base, f"{base}-r10") is None


def _cpus(text: str) -> float:
    return float(text[:-1]) / 1000 if text.endswith("m") else float(text)


def _gib(text: str) -> float:
    units = {"Gi": 1.0, "Mi": 1 / 1024}
    return math.fsum([float(text[:-2]) * units[text[-2:]]])
