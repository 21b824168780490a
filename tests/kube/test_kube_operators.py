"""The pretended operators do what the tests of judges and training count on, on both servers."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
from kube_fixture import Api
from operators import Ray, RayOperator, Serving, ServingOperator
from test_kube_cluster import ray_job

from components.kube.cluster import Cluster
from components.kube.kinds import INFERENCE_SERVICES, PODS, RAY_CLUSTERS, RAY_JOBS, WORKLOADS, Kind
from components.kube.trouble import pod_trouble

Object = dict[str, Any]


def service(name: str = "judge") -> Object:
    model = {"modelFormat": {"name": "vllm"}, "args": ["--model=m"], "resources": {"limits": {"cpu": "1"}}}
    return {"metadata": {"name": name, "labels": {"gavel.dev/judge": name}}, "spec": {"predictor": {"model": model}}}


def wait(cluster: Cluster, kind: Kind, name: str, enough: Callable[[Object], bool], looks: int = 200) -> Object | None:
    for found, _ in zip(cluster.watch(kind, name, poll=0.2), range(looks), strict=False):
        if found is None or enough(found.get("status") or {}):
            return found
    raise AssertionError(f"{name} did not get there: {found}")


def ready(status: Object) -> bool:
    return any(item["type"] == "Ready" and item["status"] == "True" for item in status.get("conditions", ()))


def ended(status: Object) -> bool:
    return status.get("jobDeploymentStatus") in {"Complete", "Failed", "ValidationFailed"}


def test_a_judge_becomes_ready_and_its_pods_go_with_it(api: Api) -> None:
    cluster = api.cluster()
    with ServingOperator(api) as operator:
        cluster.create(INFERENCE_SERVICES, service())
        found = wait(cluster, INFERENCE_SERVICES, "judge", ready)
        assert found is not None
        assert found["status"]["address"]["url"] == f"http://judge-predictor.{api.namespace}.svc.cluster.local"
        [pod] = cluster.pods({"serving.kserve.io/inferenceservice": "judge"})
        assert pod_trouble(pod, cluster.events(pod["metadata"]["uid"])) is None
        assert cluster.delete(INFERENCE_SERVICES, "judge", cascade="foreground")
        assert wait(cluster, INFERENCE_SERVICES, "judge", lambda status: False) is None
        assert cluster.pods({"serving.kserve.io/inferenceservice": "judge"}) == []
    assert operator.failures == []


@pytest.mark.parametrize(
    "trouble", ["image-pull", "unschedulable", "out-of-memory", "crash", "probe", "evicted", "config"]
)
def test_a_judge_in_trouble_says_which(api: Api, trouble: Any) -> None:
    cluster = api.cluster()
    with ServingOperator(api, Serving(trouble=trouble)) as operator:
        cluster.create(INFERENCE_SERVICES, service())
        wait(
            cluster,
            INFERENCE_SERVICES,
            "judge",
            lambda status: status.get("modelStatus", {}).get("transitionStatus") == "BlockedByFailedLoad",
        )
        [pod] = cluster.pods({"serving.kserve.io/inferenceservice": "judge"})
        found = pod_trouble(pod, cluster.events(pod["metadata"]["uid"]))
    assert (found and found.kind) == trouble
    assert operator.failures == []


def test_a_job_succeeds_after_its_turn_in_the_queue(api: Api) -> None:
    cluster = api.cluster()
    job = ray_job()
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "train"}
    job["spec"]["suspend"] = True
    with RayOperator(api) as operator:
        cluster.create(RAY_JOBS, job)
        found = wait(cluster, RAY_JOBS, "job", ended)
        assert found is not None
        assert (found["status"]["jobStatus"], found["spec"]["suspend"]) == ("SUCCEEDED", False)
        [workload] = cluster.list(WORKLOADS)
        assert workload["spec"]["queueName"] == "train"
        [ray] = cluster.list(RAY_CLUSTERS)
        assert ray["metadata"]["name"] == found["status"]["rayClusterName"]
        [head] = cluster.pods({"ray.io/node-type": "head"})
        if api.double:
            assert cluster.log(head["metadata"]["name"]) == "driver: step 1/2\n"
    assert operator.failures == []


def test_a_job_that_waits_for_quota_says_for_what(api: Api) -> None:
    cluster = api.cluster()
    job = ray_job()
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "train"}
    job["spec"]["suspend"] = True
    with RayOperator(api, Ray("queued")):
        cluster.create(RAY_JOBS, job)
        found = wait(cluster, WORKLOADS, "rayjob-job", lambda status: bool(status.get("conditions")))
        while found is None:
            found = wait(cluster, WORKLOADS, "rayjob-job", lambda status: bool(status.get("conditions")))
        [condition] = found["status"]["conditions"]
        assert (condition["status"], "insufficient unused quota" in condition["message"]) == ("False", True)


@pytest.mark.parametrize(("name", "reason"), [("j" * 48, "ValidationFailed"), ("job", "AppFailed")])
def test_a_job_fails_with_a_reason(api: Api, name: str, reason: str) -> None:
    cluster = api.cluster()
    with RayOperator(api, Ray("fails")) as operator:
        cluster.create(RAY_JOBS, ray_job(name))
        found = wait(cluster, RAY_JOBS, name, ended)
    assert found is not None
    assert found["status"]["reason"] == reason
    assert operator.failures == []


def test_a_job_is_deleted_under_us(api: Api) -> None:
    cluster = api.cluster()
    with RayOperator(api, Ray("vanishes")):
        cluster.create(RAY_JOBS, ray_job())
        assert wait(cluster, RAY_JOBS, "job", ended) is None


def test_an_entrypoint_runs_with_the_environment_of_the_job(api: Api) -> None:
    cluster = api.cluster()
    job = ray_job()
    program = 'import os, sys; print(os.environ["A"], os.environ["B"]); sys.exit(int(os.environ["A"]))'
    job["spec"]["entrypoint"] = f"{sys.executable} -c '{program}'"
    job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["env"] = [
        {"name": "A", "value": "3"}, {"name": "B", "value": "head"},
    ]  # fmt: skip
    job["spec"]["runtimeEnvYAML"] = "env_vars: {B: job}"
    with RayOperator(api, Ray(run=True)) as operator:
        cluster.create(RAY_JOBS, job)
        found = wait(cluster, RAY_JOBS, "job", ended)
    assert found is not None
    assert found["status"]["jobStatus"] == "FAILED"
    assert found["status"]["message"].endswith(" 3 job\n")
    assert operator.failures == []


def test_pods_are_those_of_the_groups(api: Api) -> None:
    cluster = api.cluster()
    job = ray_job()
    template = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]
    group = {"groupName": "gpu", "replicas": 2, "minReplicas": 2, "maxReplicas": 2, "rayStartParams": {}}
    job["spec"]["rayClusterSpec"]["workerGroupSpecs"] = [{**group, "template": template}]
    with RayOperator(api, Ray("hangs")):
        cluster.create(RAY_JOBS, job)
        wait(cluster, RAY_JOBS, "job", lambda status: status.get("jobStatus") == "RUNNING")
        assert len(cluster.list(PODS, {"ray.io/group": "gpu"})) == 2
