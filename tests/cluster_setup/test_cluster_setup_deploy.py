"""What deploy and undeploy look at, refuse, change, and leave."""

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from manifest_objects import objects
from setup_world import World

from components.cluster_setup import initializer
from components.cluster_setup.addresses import Address, api_server, egress
from components.cluster_setup.definitions import KUBERNETES, too_old
from components.cluster_setup.deploy import Options, deploy, prepare
from components.cluster_setup.kubectl import SetupError
from components.cluster_setup.overlay import folder, loose_images, our_images, with_images
from components.cluster_setup.ownership import OVERLAY, with_overlay
from components.cluster_setup.undeploy import undeploy
from components.cluster_setup.waiting import progress_of, wait
from components.core.errors import ConfigError, GavelError

DIGEST = "sha256:" + "ab" * 32


def quiet(line: str) -> None:
    pass


def secret(access: str = "a", value: str = "b") -> dict[str, Any]:
    data = {"AWS_ACCESS_KEY_ID": access, "AWS_SECRET_ACCESS_KEY": value}
    return {"data": {key: base64.b64encode(text.encode()).decode() for key, text in data.items()}}


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    """The overlay h800 and a cluster that has everything: Secrets, images, a store that runs."""
    images = tmp_path / "images.json"
    images.write_text(json.dumps({name: f"registry.test/{name}@{DIGEST}" for name in ("tools", "serving")}))
    monkeypatch.setenv("GAVEL_IMAGES", str(images))
    made = World(objects("h800"))
    made.put("namespace", None, "gavel", {})
    for space in ("gavel", "kubeflow"):
        made.put("secret", space, "gavel-store", secret())
    made.put(
        "statefulset",
        "gavel",
        "minio",
        {"kind": "StatefulSet", "spec": {"replicas": 1}, "status": {"updatedReplicas": 1, "readyReplicas": 1}},
    )
    made.put("job", "gavel", "gavel-bucket", {"kind": "Job", "status": {"succeeded": 1}})
    return made


def test_everything_is_applied_the_namespace_first_and_the_old_job_is_gone_before(world: World) -> None:
    deploy(world, "h800", Options(), quiet)
    changed = [line for line in world.changed if not line.startswith("annotate")]
    assert changed[0] == "delete Job/gavel-bucket"
    assert changed[1] == "apply Namespace/gavel"
    assert sorted(changed[1:]) == sorted(f"apply {item['kind']}/{item['metadata']['name']}" for item in objects("h800"))
    (annotated,) = [line for line in world.changed if line.startswith("annotate")]
    assert "s3-endpoint=minio.gavel.svc.cluster.local:9000" in annotated
    assert "s3-usehttps=0" in annotated


@pytest.mark.parametrize(
    ("break_it", "told"),
    [
        (lambda w: w.unserved.add(("ray.io/v1", "RayJob")), "KubeRay: no RayJob"),
        (lambda w: w.unserved.add(("argoproj.io/v1alpha1", "Workflow")), "Kubeflow Pipelines: no Workflow"),
        (lambda w: w.unserved.add(("kueue.x-k8s.io/v1beta2", "ClusterQueue")), "Kueue: no ClusterQueue"),
        (lambda w: w.unserved.add(("batch/v1", "CronJob")), "Kubernetes itself is too old: no CronJob"),
        (lambda w: w.there.pop(("namespace", None, "kubeflow")), "no namespace kubeflow"),
        (
            lambda w: w.there.pop(("secret", "kubeflow", "gavel-store")),
            "gavel-store in the namespace kubeflow is missing",
        ),
        (lambda w: w.put("secret", "gavel", "gavel-store", secret(value="")), "has no AWS_SECRET_ACCESS_KEY"),
        (lambda w: w.put("secret", "kubeflow", "gavel-store", secret(value="c")), "other values than that in gavel"),
        (lambda w: w.there.pop(("service", "default", "kubernetes")), "does not say where its API server is"),
    ],
)
def test_whatever_is_missing_is_named_before_the_first_change(world: World, break_it: Any, told: str) -> None:
    break_it(world)
    with pytest.raises(SetupError, match=told) as caught:
        deploy(world, "h800", Options(), quiet)
    assert caught.value.remedy
    assert not world.changed


def test_an_image_without_a_digest_is_refused_and_a_tag_taken_when_allowed(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GAVEL_IMAGES", str(tmp_path / "none.json"))
    with pytest.raises(ConfigError, match="no image with a digest is known for serving, tools or cpu"):
        deploy(world, "h800", Options(), quiet)
    assert not world.changed
    found = prepare(world, "h800", Options(allow_tags=True), quiet)
    assert our_images(found) == {"tools", "serving"}


def test_what_a_missing_product_would_serve_is_left_out_when_allowed_and_said(world: World) -> None:
    for kind in ("ClusterQueue", "LocalQueue", "ResourceFlavor", "WorkloadPriorityClass"):
        world.unserved.add(("kueue.x-k8s.io/v1beta2", kind))
    said: list[str] = []
    found = prepare(world, "h800", Options(partial=True), said.append)
    assert not [item for item in found if "kueue" in item["apiVersion"]]
    assert len(found) == len(objects("h800")) - 7
    assert any(line.startswith("left out") and "Kueue" in line for line in said)


def test_a_missing_secret_is_copied_from_the_namespace_that_has_it(world: World) -> None:
    del world.there["secret", "kubeflow", "gavel-store"]
    with pytest.raises(SetupError) as caught:
        deploy(world, "h800", Options(), quiet)
    commands = caught.value.remedy.split("\n", 1)[1]
    assert "openssl" not in commands
    assert "kubectl get secret gavel-store -n gavel" in commands
    assert "kubectl create secret generic gavel-store -n kubeflow" in commands
    subprocess.run(["bash", "-n"], input=commands, text=True, check=True)


def test_no_value_of_a_secret_is_ever_shown(world: World) -> None:
    said: list[str] = []
    world.put("secret", "gavel", "gavel-store", secret("visible-key", "very-secret"))
    with pytest.raises(SetupError) as caught:
        deploy(world, "h800", Options(), said.append)
    shown = str(caught.value) + "".join(said)
    for text in ("visible-key", "very-secret", *secret("visible-key", "very-secret")["data"].values()):
        assert text not in shown


def test_images_of_the_file_replace_ours_everywhere_and_the_input_stays(tmp_path: Path) -> None:
    images = tmp_path / "images.json"
    images.write_text(json.dumps({name: f"registry.test/{name}@{DIGEST}" for name in ("tools", "serving", "cpu")}))
    before = objects("seaweedfs")
    made = with_images(before, file=images)
    text = json.dumps(made)
    assert "gavel/tools:" not in text
    assert "gavel/serving:" not in text
    assert "gavel/cpu:" not in text
    assert text.count(f"registry.test/tools@{DIGEST}") == 2
    assert before == objects("seaweedfs")
    assert loose_images(made) == {"docker.io/chrislusf/seaweedfs:4.48"}
    assert not loose_images(with_images(objects("h800"), file=images))


def test_a_cpu_image_stands_for_the_light_one_but_not_for_vllm(tmp_path: Path) -> None:
    images = tmp_path / "images.json"
    images.write_text(json.dumps({"cpu": f"registry.test/cpu@{DIGEST}"}))
    assert our_images(with_images(objects("dev"), file=images)) == set()
    with pytest.raises(ConfigError, match="serving"):
        with_images(objects("h800"), file=images)


def test_unknown_overlays_are_told_with_those_that_are_there(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="no overlay 'nix'") as caught:
        folder("nix")
    assert "dev, h800" in caught.value.remedy
    with pytest.raises(SetupError, match="no overlay is named"):
        folder("")
    (tmp_path / "kustomization.yaml").touch()
    assert folder(str(tmp_path)) == tmp_path


def test_addresses_become_rules_for_exactly_one_address_and_port_each() -> None:
    assert egress([Address("10.0.0.1", 443), Address("fd00::1", 6443)]) == [
        {"to": [{"ipBlock": {"cidr": "10.0.0.1/32"}}], "ports": [{"protocol": "TCP", "port": 443}]},
        {"to": [{"ipBlock": {"cidr": "fd00::1/128"}}], "ports": [{"protocol": "TCP", "port": 6443}]},
    ]


def test_the_service_and_what_is_behind_it_both_count(world: World) -> None:
    world.put(
        "endpointslices.discovery.k8s.io",
        "default",
        "kubernetes",
        {"endpoints": [{"addresses": ["192.168.1.5"]}], "ports": [{"port": 6443}]},
    )
    assert api_server(world) == [Address("10.96.0.1", 443), Address("192.168.1.5", 6443)]


@pytest.mark.parametrize(
    ("item", "ready", "failed"),
    [
        ({"kind": "Job", "status": {"succeeded": 1}}, True, None),
        ({"kind": "Job", "status": {"active": 1}}, False, None),
        ({"kind": "Job"}, False, None),
        (
            {
                "kind": "Job",
                "status": {"conditions": [{"type": "Failed", "status": "True", "reason": "Late", "message": "so"}]},
            },
            False,
            "Late: so",
        ),
        (
            {
                "kind": "StatefulSet", "metadata": {"generation": 2}, "spec": {"replicas": 1},
                "status": {"observedGeneration": 1, "updatedReplicas": 1, "readyReplicas": 1},
            },
            False, None,
        ),
        (
            {
                "kind": "StatefulSet", "metadata": {"generation": 2}, "spec": {"replicas": 1},
                "status": {"observedGeneration": 2, "updatedReplicas": 1, "readyReplicas": 1},
            },
            True, None,
        ),
        (
            {
                "kind": "Deployment", "metadata": {"generation": 1}, "spec": {"replicas": 2},
                "status": {"observedGeneration": 1, "updatedReplicas": 2, "readyReplicas": 1},
            },
            False, None,
        ),
    ],
)  # fmt: skip
def test_readiness_is_that_of_the_newest_specification(item: dict[str, Any], ready: bool, failed: str | None) -> None:
    found = progress_of(item)
    assert (found.ready, found.failed) == (ready, failed)


def test_a_failed_job_ends_the_wait_at_once_with_its_reason(world: World) -> None:
    conditions = [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "ten times"}]
    world.put(
        "job", "gavel", "gavel-bucket", {"kind": "Job", "status": {"conditions": conditions}, "metadata": {"uid": "1"}}
    )
    slept: list[float] = []
    with pytest.raises(SetupError, match="Job gavel-bucket failed: BackoffLimitExceeded: ten times"):
        wait(world, objects("h800"), 60, say=quiet, sleep=slept.append)
    assert not slept


def test_a_claim_without_a_volume_is_the_reason_that_is_told(world: World) -> None:
    world.put(
        "statefulset", "gavel", "minio", {"kind": "StatefulSet", "spec": {"replicas": 1}, "metadata": {"uid": "s"}}
    )
    pod = {
        "metadata": {"name": "minio-0", "uid": "p"},
        "spec": {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-minio-0"}}]},
        "status": {"phase": "Pending"},
    }
    world.put("pods", "gavel", "minio-0", pod)
    world.put(
        "persistentvolumeclaim", "gavel", "data-minio-0", {"status": {"phase": "Pending"}, "metadata": {"uid": "c"}}
    )
    with pytest.raises(SetupError, match="claim data-minio-0 has no volume"):
        wait(world, objects("h800"), 0, say=quiet)


def test_undeploy_deletes_users_before_what_they_use_and_keeps_data(world: World) -> None:
    said: list[str] = []
    undeploy(world, "h800", say=said.append)
    names = [line.removeprefix("delete ") for line in world.changed]
    assert not [name for name in names if name.startswith(("Namespace/", "PersistentVolumeClaim/"))]
    assert names.index("StatefulSet/minio") < names.index("ServiceAccount/gavel-store")
    assert (
        names.index("LocalQueue/gavel") < names.index("ClusterQueue/gavel") < names.index("ResourceFlavor/gavel-h800")
    )
    assert any("DATA=1" in line for line in said)


def test_undeploy_says_when_nothing_of_the_overlay_was_there(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    undeploy(world, "h800")
    assert "nothing of overlay" not in capsys.readouterr().out
    world.there.clear()
    monkeypatch.setattr(world, "delete", lambda objects, seconds: [])
    undeploy(world, "h800")
    assert capsys.readouterr().out.splitlines()[1:] == ["nothing of overlay h800 is there"]


def test_data_goes_last_and_only_when_asked_for(world: World) -> None:
    undeploy(world, "h800", data=True, say=quiet)
    assert world.changed[-1] == "delete Namespace/gavel"
    assert {"delete PersistentVolumeClaim/gavel-work", "delete PersistentVolumeClaim/gavel-models"} <= set(
        world.changed
    )


def test_undeploy_refuses_while_judges_or_trainings_are_there(world: World) -> None:
    world.put("rayjobs.ray.io", "gavel", "arm-1", {})
    with pytest.raises(GavelError, match="rayjobs arm-1"):
        undeploy(world, "h800", say=quiet)
    assert not world.changed
    undeploy(world, "h800", force=True, say=quiet)
    assert world.changed


def test_undeploy_of_another_overlay_is_refused_and_deletes_nothing(world: World) -> None:
    found = prepare(world, "h800", Options(), quiet)
    assert {item["metadata"]["annotations"][OVERLAY] for item in found} == {"h800"}
    for item in found:
        pods = (item.get("spec") or {}).get("template", {}) if item["kind"] != "CronJob" else {}
        assert OVERLAY not in json.dumps(pods)
    for item in with_overlay(objects("dev"), "dev"):
        world.put(item["kind"].lower(), item["metadata"].get("namespace"), item["metadata"]["name"], item)
    with pytest.raises(
        SetupError, match=r"overlay dev is deployed here, and h800 has the same .* and [0-9]+ more"
    ) as caught:
        undeploy(world, "h800", say=quiet)
    assert "OVERLAY=dev" in caught.value.remedy
    assert not world.changed
    undeploy(world, "h800", force=True, say=quiet)
    assert world.changed
    world.changed.clear()
    world.overlay = objects("dev")
    undeploy(world, str(folder("dev")), say=quiet)
    assert world.changed


@pytest.mark.parametrize(
    ("version", "old"),
    [("v1.30.9", True), ("v1.9.0", True), ("v1.30.2+k3s1", True), ("v1.31.0", False), ("v1.33.1-gke.1", False),
     ("v2.0.0", False), ("", False), ("new", False)],
)  # fmt: skip
def test_which_kubernetes_is_too_old(version: str, old: bool) -> None:
    assert (too_old(version) is not None) is old


def test_an_old_kubernetes_is_refused_and_noted_when_allowed(world: World) -> None:
    (space,) = [item for item in objects("h800") if item["kind"] == "Namespace"]
    level = space["metadata"]["labels"]["pod-security.kubernetes.io/enforce-version"]
    assert level == f"v{KUBERNETES[0]}.{KUBERNETES[1]}"
    world.git_version = "v1.30.9"
    with pytest.raises(SetupError, match=r"this is v1\.30\.9, and the manifests are for 1\.31 and later"):
        deploy(world, "h800", Options(), quiet)
    assert not world.changed
    said: list[str] = []
    assert len(prepare(world, "h800", Options(partial=True), said.append)) == len(objects("h800"))
    assert any(line.startswith("note: Kubernetes: this is v1.30.9") for line in said)
    assert not any("sweeper" in line for line in said)


def test_what_a_missing_sweeper_leaves_behind_is_said(world: World) -> None:
    world.unserved.add(("batch/v1", "CronJob"))
    said: list[str] = []
    prepare(world, "h800", Options(partial=True), said.append)
    assert any("expired leases stay" in line for line in said)


def test_an_initializer_that_restricted_would_refuse_is_told_with_the_command_that_mends_it(world: World) -> None:
    kind = "clusterstoragecontainers.serving.kserve.io"
    assert initializer.advice(world) is None
    world.put(kind, None, "default", {"spec": {"container": {"name": "storage-initializer"}}})
    said: list[str] = []
    deploy(world, "h800", Options(), said.append)
    (told,) = [line for line in said if "storage initializer" in line]
    change = json.loads(told.partition("-p '")[2].rstrip("'"))
    world.put(kind, None, "default", change)
    assert initializer.advice(world) is None


def test_deploying_over_another_overlay_is_told_before_the_first_change(world: World) -> None:
    """It takes over what both have; what the other alone has is nobody's to look after any more."""
    shared = {(item["kind"], item["metadata"]["name"]) for item in objects("h800")}
    both = 0
    for item in with_overlay(objects("dev"), "dev"):
        key = (item["kind"], item["metadata"]["name"])
        if key in shared and item["kind"] != "Secret":
            both += 1
            there = world.there.get((item["kind"].lower(), item["metadata"].get("namespace"), key[1]), {})
            world.put(item["kind"].lower(), item["metadata"].get("namespace"), key[1], {**there, **item})
    world.put(
        "statefulset",
        "gavel",
        "minio",
        {
            "kind": "StatefulSet",
            "metadata": {"namespace": "gavel", "annotations": {OVERLAY: "dev"}},
            "spec": {"replicas": 1},
            "status": {"updatedReplicas": 1, "readyReplicas": 1},
        },
    )
    world.put(
        "job",
        "gavel",
        "gavel-bucket",
        {"kind": "Job", "metadata": {"annotations": {OVERLAY: "dev"}}, "status": {"succeeded": 1}},
    )
    said: list[tuple[int, str]] = []
    deploy(world, "h800", Options(), lambda line: said.append((len(world.changed), line)))
    [(changed, note)] = [(count, line) for count, line in said if "overlay dev is deployed here" in line]
    assert changed == 0
    assert f"{both} objects that both have become h800's" in note
    assert "make undeploy OVERLAY=dev FORCE=1" in note


@pytest.mark.parametrize("owner", [None, "h800"])
def test_what_is_this_overlays_or_nobodys_is_taken_without_a_word(world: World, owner: str | None) -> None:
    annotations = {} if owner is None else {OVERLAY: owner}
    world.put("serviceaccount", "gavel", "gavel-trainer", {"metadata": {"annotations": annotations}})
    said: list[str] = []
    deploy(world, "h800", Options(), said.append)
    assert not [line for line in said if "is deployed here" in line]
