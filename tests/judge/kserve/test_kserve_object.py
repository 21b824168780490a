"""What an InferenceService is made of, against KServe's and Kubernetes' rules."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kserve_specs import cluster, judge, tiny

from components.core.errors import ConfigError
from components.core.spec.judge import JudgeSpec
from components.core.spec.single import load_judge
from components.core.store import Store
from components.core.store.files import FileStore
from components.judge.kserve.inference_service import inference_service, service_name
from components.judge.kserve.source import located
from components.judge.leases.record import Lease, Leases, written
from components.kube.labels import selector

Object = dict[str, Any]


def made(spec: JudgeSpec | None = None, experiment: str = "arm-a", **kubernetes: Any) -> Object:
    found = cluster(**kubernetes).kubernetes
    assert found is not None
    return inference_service(spec or judge(), found, experiment)


def predictor(body: Object) -> Object:
    found: Object = body["spec"]["predictor"]
    return found


def test_a_large_judge_is_specified_as_vllm_needs_it() -> None:
    body = made(judge(deployment={"tensor_parallel": 2, "arguments": ("--max-num-seqs", "128"), "dtype": "bfloat16"}))
    model = predictor(body)["model"]
    assert model["runtime"] == "gavel-vllm"
    assert model["storageUri"] == "hf://Qwen/Qwen3-32B:9216db57"
    assert model["args"] == [
        "--model=/mnt/models",
        "--served-model-name=qwen3-32b",
        "--tensor-parallel-size=2",
        "--dtype=bfloat16",
        "--max-model-len=32768",
        "--gpu-memory-utilization=0.9",
        "--max-num-seqs",
        "128",
    ]
    # Without a limit of its own KServe would set one CPU, below the request. 61.02 GiB + 16 shared + 8, rounded up.
    wanted = {"cpu": "8", "memory": "86Gi", "nvidia.com/gpu": "2"}
    assert model["resources"] == {"requests": wanted, "limits": wanted}
    assert {"name": "shm", "mountPath": "/dev/shm"} in model["volumeMounts"]
    assert predictor(body)["nodeSelector"] == {"gavel.dev/pool": "h800"}
    assert predictor(body)["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert predictor(body)["serviceAccountName"] == "gavel-judge"


def test_people_find_judges_by_label() -> None:
    labels = made(queue="gavel")["metadata"]["labels"]
    assert labels == {
        "app.kubernetes.io/managed-by": "gavel",
        "gavel.dev/judge": "qwen3-32b",
        "gavel.dev/family": "Qwen3",
        "gavel.dev/size": "32.8B",
        "gavel.dev/experiment": "arm-a",
        "kueue.x-k8s.io/queue-name": "gavel",
    }
    assert selector({"gavel.dev/family": labels["gavel.dev/family"]}) == "gavel.dev/family=Qwen3"
    assert made(judge(family="a family/with (signs)"))["metadata"]["labels"]["gavel.dev/family"].isascii()


def test_the_pod_is_restricted_and_its_user_a_number() -> None:
    """Pod security "restricted"; without a number runAsNonRoot refuses images whose user is a name."""
    body = predictor(made())
    pod, container = body["securityContext"], body["model"]["securityContext"]
    assert isinstance(pod["runAsUser"], int)
    assert pod["runAsUser"] > 0
    assert pod["runAsNonRoot"] is container["runAsNonRoot"] is True
    assert pod["seccompProfile"] == container["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["allowPrivilegeEscalation"] is False
    assert container["capabilities"] == {"drop": ["ALL"]}
    assert body["automountServiceAccountToken"] is False


def test_the_name_tells_settings_apart_and_equal_ones_share_it() -> None:
    one = made()
    assert re.fullmatch(r"qwen3-32b-[0-9a-f]{8}", one["metadata"]["name"])
    assert made(experiment="arm-b")["metadata"]["name"] == one["metadata"]["name"]
    # How it is asked, and by whom, is no setting of the server.
    asked = judge(timeout_seconds=1.0, temperature=0.5, max_concurrency=3)
    assert made(asked)["metadata"]["name"] == one["metadata"]["name"]
    others = [
        made(judge(context_tokens=4096)),
        made(judge(deployment={"tensor_parallel": 4})),
        made(judge(source={"kind": "hub", "repo": "Qwen/Qwen3-32B", "revision": "main"})),
        made(judge(deployment={"tensor_parallel": 2, "max_replicas": 2})),
    ]
    names = {other["metadata"]["name"] for other in others}
    assert len(names) == 4
    assert one["metadata"]["name"] not in names


def test_leases_do_not_reach_the_pods() -> None:
    """KServe copies annotations to the pod template, the predictor's last: a changed one would replace the server."""
    body = made()
    expires = datetime(2026, 3, 1, tzinfo=UTC)
    templates = []
    for holders in ((), ("run-1",), ("run-1", "run-2")):
        leases = Leases({lease.key: lease for lease in (Lease(holder, "arm", expires) for holder in holders)})
        for each in (leases, leases.swept(expires + timedelta(days=1))):
            leased = written(body, each)
            templates.append(leased["metadata"]["annotations"] | predictor(leased)["annotations"])
    assert all(template == templates[0] for template in templates)


@given(
    judge_name=st.from_regex(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?", fullmatch=True),
    namespace=st.from_regex(r"[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?", fullmatch=True),
    asked=st.from_regex(r"[0-9a-f]{64}", fullmatch=True),
    knative=st.booleans(),
)
def test_names_made_from_the_name_fit(judge_name: str, namespace: str, asked: str, knative: bool) -> None:
    name = service_name(judge_name, asked, namespace, knative=knative)
    # KServe's own rule for names, its label for the Deployment, its host name, Knative's longest service.
    assert re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", name)
    assert len(f"isvc.{name}-predictor") <= 63
    assert len(f"{name}-predictor-{namespace}") <= 63
    if knative:
        assert len(f"{name}-predictor-00001-private") <= 63
    changed = ("0" if asked[0] != "0" else "1") + asked[1:]
    assert service_name(judge_name, changed, namespace, knative=knative) != name


def test_a_namespace_without_room_is_refused() -> None:
    with pytest.raises(ConfigError, match="leaves 1 of"):
        service_name("j", "0" * 64, "n" * 51)


def test_start_up_is_given_time_by_the_weights() -> None:
    """kserve#5062: ten minutes, which KServe gives, are not enough. 61.0 GiB at 0.2 GiB/s and ten minutes: 905 s."""
    probe = predictor(made())["model"]["startupProbe"]
    assert probe["httpGet"] == {"path": "/health", "port": 8080, "scheme": "HTTP"}
    assert probe["periodSeconds"] * probe["failureThreshold"] == 910
    stated = judge(deployment={"start_minutes": 45.0})
    probe = predictor(made(stated))["model"]["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] == 2700


def test_scale_to_zero_needs_knative_and_fixed_copies_no_autoscaler() -> None:
    mode, scaler = "serving.kserve.io/deploymentMode", "serving.kserve.io/autoscalerClass"
    # RawDeployment, the former name, makes KServe's webhook refuse every later change of the object.
    assert made()["metadata"]["annotations"][mode] == "Standard"
    assert made()["metadata"]["annotations"][scaler] == "none"
    more = made(judge(deployment={"max_replicas": 3}))
    assert more["metadata"]["annotations"][scaler] == "hpa"
    assert predictor(more)["maxReplicas"] == 3
    sleeper = made(judge(deployment={"min_replicas": 0}))
    assert sleeper["metadata"]["annotations"][mode] == "Knative"
    assert scaler not in sleeper["metadata"]["annotations"]
    assert sleeper["metadata"]["annotations"]["serving.knative.dev/progress-deadline"] == "1506s"
    assert predictor(sleeper)["minReplicas"] == 0


def test_our_cpu_server_makes_its_weights_itself() -> None:
    body = predictor(made(tiny()))
    model = body["model"]
    assert "storageUri" not in model
    weights, *others = model["args"]
    assert json.loads(weights.removeprefix("--source=")) == {"kind": "tiny", "seed": 1}
    assert others == ["--name=tiny", "--host=0.0.0.0", "--port=8080", "--context=2048", "--threads=1"]
    assert model["resources"]["limits"] == {"cpu": "1", "memory": "3Gi"}
    assert body["volumes"] == []
    hub = tiny(source={"kind": "hub", "repo": "a/b", "revision": "main"})
    assert predictor(made(hub))["model"]["args"][0] == "--model=/mnt/models"
    assert predictor(made(hub))["model"]["storageUri"] == "hf://a/b:main"


@pytest.mark.parametrize(
    ("source", "uri"),
    [
        ({"kind": "folder", "path": "/models/qwen/32b"}, "pvc://gavel-models/qwen/32b"),
        ({"kind": "uri", "uri": "file:///models/x/"}, "pvc://gavel-models/x"),
        ({"kind": "uri", "uri": "s3://gavel/arm/model"}, "s3://gavel/arm/model"),
    ],
)
def test_weights_lie_where_the_pod_sees_them(source: Object, uri: str) -> None:
    assert predictor(made(judge(source=source)))["model"]["storageUri"] == uri


def test_a_published_folder_is_served_from_where_its_model_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder stands in for the bucket: only the URL of the store differs."""
    opened: list[str] = []

    def open_folder(url: str) -> Store:
        opened.append(url)
        return FileStore(f"file://{tmp_path}")

    monkeypatch.setattr("components.core.store.Store.open", open_folder)
    plain = judge(source={"kind": "uri", "uri": "s3://gavel/arm/plain"})
    published = judge(source={"kind": "uri", "uri": "s3://gavel/arm/published"})
    for name in ("plain", "published/model"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "config.json").write_text("{}")
    assert located(plain) == "s3://gavel/arm/plain"
    assert located(published) == "s3://gavel/arm/published/model"
    assert opened == ["s3://gavel/arm", "s3://gavel/arm"]
    assert located(judge()) is None
    with pytest.raises(ConfigError, match=r"no config\.json of a model"):
        located(judge(source={"kind": "uri", "uri": "s3://gavel/arm/none"}))


@pytest.mark.parametrize("path", ["/srv/me/qwen", "/models", "/models/../etc", "/modelsx/a"])
def test_weights_that_no_pod_sees_are_refused(path: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"no pod of the cluster sees the folder {path}")):
        made(judge(source={"kind": "folder", "path": path}))


def test_weights_on_no_claim_are_refused() -> None:
    with pytest.raises(ConfigError, match="no model_claim"):
        made(judge(source={"kind": "folder", "path": "/models/a"}), model_claim=None)


def test_what_no_node_has_is_refused() -> None:
    with pytest.raises(ConfigError, match="no node pool 'h900'"):
        made(judge(deployment={"pool": "h900"}))
    with pytest.raises(ConfigError, match="asks for 1 GPUs"):
        made(judge(deployment={"pool": "cpu"}))
    with pytest.raises(ConfigError, match="read by our own server alone"):
        made(tiny(deployment={"runtime": "gavel-vllm"}))


def test_a_runtime_of_others_is_asked_by_what_is_known_of_it() -> None:
    model = predictor(made(judge(deployment={"runtime": "kserve-huggingfaceserver"})))["model"]
    assert model["modelFormat"] == {"name": "huggingface"}
    assert model["args"][0] == "--model_name=qwen3-32b"
    assert model["startupProbe"]["tcpSocket"] == {"port": 8080}
    assert {"name": "scratch", "mountPath": "/scratch"} in model["volumeMounts"]


def test_no_secret_is_in_the_object() -> None:
    text = json.dumps(made(judge(api_key_env="JUDGE_API_KEY")))
    assert "JUDGE_API_KEY" not in text
    assert "secret" not in text.lower()


CATALOGUE = ("qwen3-32b", "qwen3-8b", "gpt-oss-120b", "gpt-oss-20b", "llama-3-1-8b", "llama-3-3-70b")


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_judge_of_the_catalogue_is_a_valid_object(name: str) -> None:
    """Against KServe's own definition, unknown fields refused."""
    from schemas import strict

    strict(made(load_judge(name)))


@pytest.mark.parametrize(
    "deployment", [{"min_replicas": 0}, {"max_replicas": 3}, {"runtime": "kserve-huggingfaceserver"}]
)
def test_every_way_of_serving_is_a_valid_object(deployment: Object) -> None:
    from schemas import strict

    strict(made(judge(deployment=deployment), queue="gavel"))
    strict(made(tiny()))
