"""Pod security "restricted", no secret and no moving image in any object or file of the manifests."""

import re

import pytest
import yaml
from manifest_objects import ALL, MANIFESTS, ROOT, Object, named, objects, strings

from components.cluster_setup.objects import containers, pod_specs, title
from components.core.images import USER
from components.judge.kserve.inference_service import USER as JUDGE_USER

WORKLOADS = {"StatefulSet", "Deployment", "DaemonSet", "Job", "CronJob", "Pod"}


def pods(overlay: str) -> list[tuple[str, Object]]:
    """Pod specifications of workloads, which are complete; ServingRuntimes give only containers."""
    return [(title(item), spec) for item in objects(overlay) if item["kind"] in WORKLOADS for spec in pod_specs(item)]


@pytest.mark.parametrize("overlay", ALL)
def test_the_namespace_enforces_restricted_at_a_named_version(overlay: str) -> None:
    labels = named(overlay, "Namespace", "gavel")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    assert re.fullmatch(r"v1\.\d+", labels["pod-security.kubernetes.io/enforce-version"])


@pytest.mark.parametrize("overlay", ALL)
def test_every_pod_runs_as_a_numeric_user_that_is_not_root(overlay: str) -> None:
    assert pods(overlay)
    for name, spec in pods(overlay):
        context = spec["securityContext"]
        assert context["runAsNonRoot"] is True, name
        # With a name in the image and no number here, the kubelet cannot verify runAsNonRoot and refuses the pod.
        assert isinstance(context["runAsUser"], int), name
        assert context["runAsUser"] > 0, name
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys(), name
        kinds = {key for volume in spec.get("volumes", ()) for key in volume if key != "name"}
        assert kinds <= {"emptyDir", "persistentVolumeClaim", "secret", "configMap", "projected", "ephemeral"}, name


@pytest.mark.parametrize("overlay", ALL)
def test_every_container_keeps_to_restricted(overlay: str) -> None:
    found = [(title(item), each) for item in objects(overlay) for each in containers(item)]
    assert found
    for name, container in found:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False, name
        assert context["capabilities"] == {"drop": ["ALL"]}, name
        assert context["runAsNonRoot"] is True, name
        assert isinstance(context["runAsUser"], int), name
        assert context["runAsUser"] > 0, name
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert context["readOnlyRootFilesystem"] is True, name
        assert not context.get("privileged"), name


@pytest.mark.parametrize("overlay", ALL)
def test_pods_run_as_the_user_of_the_images_and_share_its_group(overlay: str) -> None:
    for name, spec in pods(overlay):
        context = spec["securityContext"]
        assert {context[key] for key in ("runAsUser", "runAsGroup", "fsGroup")} == {USER}, name
        assert {each["securityContext"]["runAsUser"] for each in spec["containers"]} == {USER}, name


def test_no_other_file_of_the_programs_says_that_number() -> None:
    said = {
        str(path.relative_to(ROOT))
        for folder in ("components", "pipelines")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(rf"\b{USER}\b", path.read_text())
    }
    # Ray's client port is the same number.
    assert said == {"components/core/images.py", "components/rayjob/pods.py"}


@pytest.mark.parametrize("overlay", ALL)
def test_every_container_says_what_it_takes(overlay: str) -> None:
    for item in objects(overlay):
        for container in containers(item):
            assert {"cpu", "memory"} <= container["resources"]["requests"].keys(), title(item)
            assert "memory" in container["resources"]["limits"], title(item)


@pytest.mark.parametrize("overlay", ALL)
def test_images_have_a_tag_that_stays_or_a_digest(overlay: str) -> None:
    for item in objects(overlay):
        for container in containers(item):
            image = container["image"]
            tagged = re.fullmatch(r"[a-z0-9./-]+:(?P<tag>[\w.-]+)(@sha256:[0-9a-f]{64})?", image)
            assert tagged, image
            assert tagged["tag"] not in ("latest", "stable", "main", "edge"), image


@pytest.mark.parametrize("overlay", ALL)
def test_no_object_is_a_secret_and_no_variable_holds_one(overlay: str) -> None:
    for item in objects(overlay):
        assert item["kind"] != "Secret"
        if item["kind"] == "ConfigMap":
            assert not any(re.search("secret|password|token|key", word, re.I) for word in item.get("data", {}))
        for container in containers(item):
            for variable in container.get("env", ()):
                if re.search(r"SECRET|PASSWORD|TOKEN|ACCESS_KEY|ROOT_USER|API_KEY", variable["name"]):
                    assert set(variable["valueFrom"]) == {"secretKeyRef"}, variable["name"]


@pytest.mark.parametrize("overlay", ALL)
def test_no_string_of_any_object_looks_like_a_credential(overlay: str) -> None:
    shapes = re.compile(r"^(sk-|AKIA|ASIA|hf_|ghp_)\w{8,}|-----BEGIN|://[^/\s:@]+:[^/\s@]+@")
    for item in objects(overlay):
        assert not [text for text in strings(item) if shapes.search(text)], title(item)


def test_no_file_of_the_manifests_describes_a_secret_with_data() -> None:
    for path in MANIFESTS.rglob("*.yaml"):
        for item in yaml.safe_load_all(path.read_text()):
            if isinstance(item, dict) and item.get("kind") == "Secret":
                assert not item.get("data"), path
                assert not any((item.get("stringData") or {}).values()), path
            assert not (isinstance(item, dict) and item.get("secretGenerator")), path


@pytest.mark.parametrize("overlay", ALL)
def test_accounts_without_rights_bring_no_token_into_their_pods(overlay: str) -> None:
    for name in ("gavel-trainer", "gavel-judge", "gavel-store"):
        assert named(overlay, "ServiceAccount", name)["automountServiceAccountToken"] is False
    for name, spec in pods(overlay):
        if spec["serviceAccountName"] != "gavel-sweeper":
            assert spec["automountServiceAccountToken"] is False, name


def test_runtimes_run_as_the_user_that_the_judges_pods_have() -> None:
    for runtime in (named("seaweedfs", "ServingRuntime", name) for name in ("gavel-vllm", "gavel-cpu")):
        (container,) = runtime["spec"]["containers"]
        assert container["securityContext"]["runAsUser"] == JUDGE_USER


def test_templates_of_secrets_name_the_keys_and_hold_no_value() -> None:
    found = {}
    for path in (MANIFESTS / "secrets").iterdir():
        lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
        assert all(re.fullmatch(r"[A-Z_]+=", line) for line in lines), path
        found[path.name] = {line.rstrip("=") for line in lines}
    assert found["gavel-store.env.template"] == {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
    wanted = {
        match[1]
        for path in (ROOT / "configs" / "judges").glob("*.yaml")
        for match in re.finditer(r"^api_key_env: ([A-Z]\w+)", path.read_text(), re.M)
    }
    assert wanted <= found["gavel-judge-keys.env.template"]
