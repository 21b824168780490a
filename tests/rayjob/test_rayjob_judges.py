"""What the step outside hands to its job of the judges: that they are there, and their keys."""

from typing import Any

import pytest
from kube_fixture import Api
from operators import Serving, ServingOperator
from ray_training import IDENTITY, PLACE, ROOT, Played, on_cluster, training

from components.core.spec import load_experiment
from components.judge.kserve.lookup import services_of
from components.judge.placement import kserve
from components.rayjob import messages
from components.rayjob import step as module
from components.rayjob.build import entrypoint, rayjob
from components.rayjob.messages import REQUEST

Object = dict[str, Any]
KSERVE = (
    "judge={name: ruler, family: rule, parameters: 1000, serving: kserve, source: {kind: tiny, seed: 1}, "
    "model_name: rule, deployment: {runtime: gavel-cpu, cpus: 0.1, memory_gib: 1}, context_tokens: 4096, "
    "logprobs: true}"
)


def test_a_judge_that_is_gone_is_brought_up_before_the_training_goes_on(
    double: Api, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is retried by hand repeats train-grpo after its exit handler has given the lease back."""
    monkeypatch.setenv("GAVEL_KFP_RUN", "run-1")
    monkeypatch.setattr(kserve.KservePlacement, "_first_verdict", lambda *_: None)
    experiment = load_experiment(
        "tiny", ["cluster=dev", KSERVE, f"cluster.kubernetes.namespace={double.namespace}"], ROOT / "configs"
    )
    played = Played(tmp_path, experiment)
    seen: list[dict[str, str]] = []
    monkeypatch.setattr(module, "run", lambda _, __, first, ___: seen.append(dict(first.endpoints)))
    with ServingOperator(double, Serving(url="http://ruler.test")):
        module.train_in_job(played.asked)
    assert seen == [{"ruler": "http://ruler.test"}]
    assert messages.read_request(played.store, f"{PLACE}/{REQUEST}").endpoints == seen[0]
    assert "judge ruler is gone" in played.output
    assert len(services_of(double.cluster(), "ruler")) == 1


def test_each_of_a_judges_keys_reaches_the_training_by_reference() -> None:
    """``api_key_env`` and each of ``more_key_envs``, from the Secret under the variable's own name; no value."""
    spread = on_cluster("dev", "judge.more_key_envs=[RULER_KEY_2, RULER_KEY_3]")
    job = rayjob(training(spread), IDENTITY, entrypoint("s3://gavel", f"{PLACE}/request.json"))
    cluster = job["spec"]["rayClusterSpec"]
    pods = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    keys = {"RULER_KEY", "RULER_KEY_2", "RULER_KEY_3"}
    for pod in pods:
        [container] = pod["template"]["spec"]["containers"]
        found = {item["name"]: item for item in container["env"] if item["name"] in keys}
        assert set(found) == keys
        for name, item in found.items():
            reference = item["valueFrom"]["secretKeyRef"]
            assert (reference["name"], reference["key"]) == ("gavel-judge-keys", name)
            assert "value" not in item


def test_a_trackers_key_reaches_the_training_by_reference_where_the_secret_has_it() -> None:
    job = rayjob(
        training(on_cluster("dev", "training.trackers=[wandb]")), IDENTITY, entrypoint("s3://gavel", f"{PLACE}/r.json")
    )
    [container] = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"]
    [key] = [item for item in container["env"] if item["name"] == "WANDB_API_KEY"]
    reference = {"name": "gavel-judge-keys", "key": "WANDB_API_KEY", "optional": True}
    assert key == {"name": "WANDB_API_KEY", "valueFrom": {"secretKeyRef": reference}}
