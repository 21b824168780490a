"""What code, configurations and manifests say of the same thing."""

import importlib
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from kserve_specs import cluster as judge_cluster
from kserve_specs import judge, tiny
from manifest_objects import ALL, ROOT, named, of_kind, selects
from manifest_objects import objects as objects_of
from ray_training import IDENTITY, on_cluster, training
from test_manifest_network import JUDGE, STEP, TRAINER

from components.cluster_setup.objects import containers, pod_specs, secret_names
from components.cluster_setup.secrets import JUDGES, STORE
from components.core.images import IMAGES
from components.judge.kserve.inference_service import SERVICE_ACCOUNT as JUDGE_ACCOUNT
from components.judge.kserve.inference_service import inference_service
from components.judge.kserve.server import OURS, PORT
from components.rayjob.build import entrypoint, rayjob
from components.rayjob.pods import SERVICE_ACCOUNT as TRAINER_ACCOUNT
from pipelines.on_cluster import SERVICE_ACCOUNT as STEP_ACCOUNT


def build(of: Any) -> dict[str, Any]:
    return rayjob(of, IDENTITY, entrypoint("s3://gavel/runs", "request.json"))


def kubernetes(name: str) -> Any:
    return on_cluster(name).cluster


@pytest.mark.parametrize("overlay", ["dev", "h800"])
def test_service_accounts_that_code_names_are_there(overlay: str) -> None:
    for account in (STEP_ACCOUNT, TRAINER_ACCOUNT, JUDGE_ACCOUNT):
        named(overlay, "ServiceAccount", account)
    # Runs of a standalone KFP live in its namespace.
    named(overlay, "ServiceAccount", STEP_ACCOUNT, "kubeflow")
    for item in objects_of(overlay):
        for spec in pod_specs(item):
            if "serviceAccountName" in spec:
                named(overlay, "ServiceAccount", spec["serviceAccountName"])


@pytest.mark.parametrize("overlay", ["dev", "h800"])
def test_namespace_claims_secrets_and_queue_of_the_clusters_configuration_are_those_of_the_overlay(
    overlay: str,
) -> None:
    cluster = kubernetes(overlay)
    spec = cluster.kubernetes
    named(overlay, "Namespace", spec.namespace)
    for claim in (spec.work_claim, spec.model_claim):
        named(overlay, "PersistentVolumeClaim", claim, spec.namespace)
    assert (spec.store_secret, spec.judge_secret) == (STORE, JUDGES)
    assert {name for item in objects_of(overlay) for name in secret_names(item)} == {STORE}
    queues = {item["metadata"]["name"] for item in of_kind(overlay, "LocalQueue")}
    assert queues == ({spec.queue} if spec.queue else set())
    if spec.priority:
        named(overlay, "WorkloadPriorityClass", spec.priority)


@pytest.mark.parametrize("overlay", ["dev", "h800"])
def test_the_stores_address_and_bucket_are_those_of_the_clusters_configuration(overlay: str) -> None:
    store = kubernetes(overlay).store
    (service,) = of_kind(overlay, "Service")
    address = urlsplit(store.endpoint)
    assert address.hostname == f"{service['metadata']['name']}.gavel.svc.cluster.local"
    assert address.port == service["spec"]["ports"][0]["port"]
    job = named(overlay, "Job", "gavel-bucket")
    (container,) = containers(job)
    assert container["command"][-1] == store.bucket
    assert {item["name"]: item.get("value") for item in container["env"]}["GAVEL_S3_ENDPOINT"] == store.endpoint


@pytest.mark.parametrize("overlay", ["dev", "h800", "seaweedfs"])
def test_the_service_leads_to_the_store_and_the_policies_port_is_the_servers(overlay: str) -> None:
    (service,), (server,) = of_kind(overlay, "Service"), of_kind(overlay, "StatefulSet")
    template = server["spec"]["template"]
    assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    (container,) = containers(server)
    ports = {item["name"]: item["containerPort"] for item in container["ports"]}
    assert ports == {service["spec"]["ports"][0]["targetPort"]: service["spec"]["ports"][0]["port"]}
    assert server["spec"]["serviceName"] == service["metadata"]["name"]


def test_kueues_flavor_is_the_pool_of_the_configuration() -> None:
    spec = kubernetes("h800").kubernetes
    (pool,) = spec.pools.values()
    (flavor,) = of_kind("h800", "ResourceFlavor")
    assert flavor["spec"]["nodeLabels"] == pool.selector
    assert flavor["spec"]["tolerations"] == [item.model_dump(exclude_none=True) for item in pool.tolerations]
    (queue,) = of_kind("h800", "ClusterQueue")
    (group,) = queue["spec"]["resourceGroups"]
    (quotas,) = group["flavors"]
    assert quotas["name"] == flavor["metadata"]["name"]
    held = {item["name"]: item["nominalQuota"] for item in quotas["resources"]}
    assert list(held) == group["coveredResources"]
    assert held["cpu"] == f"{pool.cpus * pool.nodes:g}"
    assert held["memory"] == f"{pool.memory_gib * pool.nodes:g}Gi"
    assert held[pool.gpu_resource] == str(pool.gpus * pool.nodes)
    assert int(held[pool.rdma.resource]) >= pool.rdma.count * pool.nodes
    (quota,) = [item for item in of_kind("h800", "ResourceQuota") if item["metadata"]["name"] == "gavel-gpus"]
    assert quota["spec"]["hard"] == {f"requests.{pool.gpu_resource}": str(pool.gpus * pool.nodes)}
    # A pod's queue is looked for in its own namespace: trainings and judges, then a standalone KFP's steps with GPUs.
    local = of_kind("h800", "LocalQueue")
    assert {item["metadata"]["namespace"] for item in local} == {"gavel", "kubeflow"}
    for item in local:
        assert item["metadata"]["name"] == spec.queue
        assert item["spec"]["clusterQueue"] == queue["metadata"]["name"]
        assert selects(
            queue["spec"]["namespaceSelector"], {"kubernetes.io/metadata.name": item["metadata"]["namespace"]}
        )
    assert not selects(queue["spec"]["namespaceSelector"], {"kubernetes.io/metadata.name": "default"})


def test_the_queue_covers_every_resource_that_a_training_or_a_judge_asks_for() -> None:
    (queue,) = of_kind("h800", "ClusterQueue")
    covered = set(queue["spec"]["resourceGroups"][0]["coveredResources"])
    job = build(training(on_cluster("h800", "cluster.gpus=16", "training.micro_batch=1")))
    service = inference_service(judge(), judge_cluster().kubernetes, "x")
    asked = {
        name
        for body in (job, service)
        for spec in [*_specs(body["spec"])]
        for container in spec
        for name in container["resources"]["requests"]
    }
    assert {"cpu", "memory", "nvidia.com/gpu"} <= asked <= covered


def _specs(part: Any) -> list[list[Any]]:
    if isinstance(part, dict):
        if "resources" in part and "requests" in part["resources"]:
            return [[part]]
        return [item for value in part.values() for item in _specs(value)]
    if isinstance(part, list):
        return [item for value in part for item in _specs(value)]
    return []


def test_dev_has_no_kueue_object() -> None:
    assert not [item for item in objects_of("dev") if "kueue" in item["apiVersion"]]


def test_judges_name_a_runtime_and_a_format_of_ours() -> None:
    runtimes = {item["metadata"]["name"]: item["spec"] for item in of_kind("seaweedfs", "ServingRuntime")}
    assert set(runtimes) == set(OURS)
    for spec in (judge(), tiny()):
        model = inference_service(spec, judge_cluster().kubernetes, "x")["spec"]["predictor"]["model"]
        runtime = runtimes[model["runtime"]]
        assert model["modelFormat"]["name"] in {item["name"] for item in runtime["supportedModelFormats"]}
        (container,) = runtime["containers"]
        assert container["name"] == "kserve-container"
        assert [port["containerPort"] for port in container["ports"]] == [PORT]
        mounts = {item["name"] for item in container["volumeMounts"]}
        assert mounts <= {item["name"] for item in runtime["volumes"]}
        importlib.import_module("components.judge.server.__main__")


def test_the_cpu_runtimes_arguments_are_those_that_the_server_takes() -> None:
    from components.judge.server.__main__ import arguments

    (container,) = named("dev", "ServingRuntime", "gavel-cpu")["spec"]["containers"]
    assert container["command"] == ["python", "-m", "components.judge.server"]
    model = inference_service(tiny(), judge_cluster().kubernetes, "x")["spec"]["predictor"]["model"]
    found = arguments([*container["args"], *model["args"]])
    assert (found.host, found.port) == ("0.0.0.0", PORT)


@pytest.mark.parametrize("overlay", ["dev", "h800"])
def test_commands_inside_the_pods_are_modules_that_are_there(overlay: str) -> None:
    for item in objects_of(overlay):
        for container in containers(item):
            command = container.get("command", [])
            if command[:2] == ["python", "-m"] and command[2].startswith("components."):
                path = ROOT / Path(*command[2].split("."))
                assert (path / "__main__.py").is_file() or path.with_suffix(".py").is_file()


def test_the_sweeper_runs_a_command_that_the_judge_has() -> None:
    from components.judge.__main__ import _COMMANDS

    (container,) = containers(named("dev", "CronJob", "gavel-sweeper"))
    assert container["command"][2] == "components.judge"
    assert container["command"][3] in _COMMANDS


@pytest.mark.parametrize("overlay", ALL)
def test_our_images_are_ones_that_make_images_builds(overlay: str) -> None:
    found = {each["image"] for item in objects_of(overlay) for each in containers(item)}
    ours = {match[1] for image in found if (match := re.fullmatch(r"gavel/(\w+):[\w.]+", image))}
    assert ours
    assert ours <= set(IMAGES)
    assert (ROOT / "images").is_dir()
    assert {f"{name}.Dockerfile" for name in ours} <= {item.name for item in (ROOT / "images").iterdir()}


def test_pods_of_runs_carry_the_labels_that_policies_select(tmp_path: Path) -> None:
    # KubeRay, KServe and KFP add theirs (KubeRay controllers/ray/common/pod.go labelPod, KServe
    # components/predictor.go buildObjectMeta, KFP argocompiler/argo.go PodMetadata). Ours is on every step's task.
    from pipelines.on_cluster import OnCluster

    placing = OnCluster(kubernetes("dev"), allow_tags=True, images_file=tmp_path / "none.json")
    labels = _labels_of_a_task(placing)
    assert labels["gavel.dev/step"] == "score"
    assert "gavel.dev/sandbox" not in labels
    for templates in _templates(build(training(on_cluster("dev")))):
        own = templates["metadata"]["labels"]
        assert not {"gavel.dev/sandbox", "gavel.dev/step", "gavel.dev/role"} & own.keys()
    service = inference_service(tiny(), judge_cluster().kubernetes, "x")
    assert not {"gavel.dev/sandbox", "gavel.dev/step", "gavel.dev/role"} & service["metadata"]["labels"].keys()
    assert STEP["gavel.dev/step"] == "score"
    assert JUDGE.keys() & {"gavel.dev/judge"} <= service["metadata"]["labels"].keys()
    assert "ray.io/is-ray-node" in TRAINER


def _templates(part: Any) -> list[Any]:
    if isinstance(part, dict):
        if isinstance(part.get("spec"), dict) and "containers" in part["spec"]:
            return [part]
        return [item for value in part.values() for item in _templates(value)]
    if isinstance(part, list):
        return [item for value in part for item in _templates(value)]
    return []


def _labels_of_a_task(placing: Any) -> dict[str, str]:
    from kfp import compiler, dsl

    @dsl.component(base_image="gavel/tools:0.1.0", install_kfp_package=False)
    def nothing() -> None:
        pass

    @dsl.pipeline(name="labels")
    def graph() -> None:
        placing.place(nothing(), "score")

    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "graph.yaml"
        compiler.Compiler().compile(graph, str(target))
        documents = list(yaml.safe_load_all(target.read_text()))
    (executor,) = documents[1]["platforms"]["kubernetes"]["deploymentSpec"]["executors"].values()
    return dict(executor["podMetadata"]["labels"])


@pytest.mark.parametrize(("overlay", "mode"), [("dev", "ReadWriteOnce"), ("h800", "ReadWriteMany")])
def test_claims_can_be_mounted_from_as_many_nodes_as_the_cluster_has(overlay: str, mode: str) -> None:
    spec = kubernetes(overlay).kubernetes
    for claim in (spec.work_claim, spec.model_claim):
        assert named(overlay, "PersistentVolumeClaim", claim)["spec"]["accessModes"] == [mode]
    assert (max(pool.nodes for pool in spec.pools.values()) > 1) == (mode == "ReadWriteMany")
