"""The trainer's contract, for both places where it runs: this process, and a RayJob whose entrypoint is run as a real
process by a pretended KubeRay."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from kube_fixture import Api
from operators import Ray, RayOperator
from ray_training import ROOT

from components.core.errors import GavelError
from components.core.spec import Experiment, load_experiment
from components.core.step import Published
from components.core.step.execute import perform
from components.core.store import Store
from components.data.step import STEP as PREPARE
from components.kube.kinds import RAY_JOBS
from components.rayjob.messages import HEARTBEAT, REQUEST
from components.train.placed import STEP

pytestmark = pytest.mark.slow


class Placement:
    """Runs the step as its component does."""

    def __init__(self, experiment: Experiment, folder: Path) -> None:
        self.experiment = experiment
        self.store = Store.open((folder / "store").as_uri())
        self.data = perform(PREPARE, experiment, self.store.url, {})

    def train(self) -> Published:
        return perform(STEP, self.experiment, self.store.url, {"data": self.data.uri})


@pytest.fixture(params=["process", "rayjob"])
def placement(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Placement]:
    """With a policy in a folder."""
    policy = tmp_path / "policy"
    policy.mkdir()
    (policy / "config.json").write_text("{}")
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GAVEL_SUPERVISOR", raising=False)
    monkeypatch.delenv("GAVEL_INSIDE_JOB", raising=False)
    changes = [f"policy={{use: tiny, source: {{kind: folder, path: '{policy}'}}}}"]
    if request.param == "process":
        yield Placement(load_experiment("tiny", changes, ROOT / "configs"), tmp_path)
        return
    api: Api = request.getfixturevalue("double")
    monkeypatch.setenv("GAVEL_JUDGE_ENDPOINTS", json.dumps({"tiny-lr": "http://127.0.0.1:9"}))
    changes.append(f"cluster.kubernetes.namespace={api.namespace}")
    pod = {
        "PYTHONPATH": str(ROOT),
        "GAVEL_STATE": str(tmp_path / "work-claim"),
        "GAVEL_CACHE": str(tmp_path / "cache"),
        "HF_HOME": str(tmp_path / "hub"),
        "HOME": str(tmp_path),
        "OMP_NUM_THREADS": "1",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    with RayOperator(api, Ray(run=True, environment=pod, folder=tmp_path)) as operator:
        yield Placement(load_experiment("dev_cluster", changes, ROOT / "configs"), tmp_path)
        [job] = api.cluster().list(RAY_JOBS)
        assert job["status"]["jobDeploymentStatus"] == "Failed"
        assert operator.failures == []


def test_what_is_wrong_with_the_policy_is_the_same_error_in_both(placement: Placement, tmp_path: Path) -> None:
    # Gone since the experiment was read.
    (tmp_path / "policy" / "config.json").unlink()
    with pytest.raises(GavelError, match="no Hugging Face model folder") as caught:
        placement.train()
    assert caught.value.where == str(tmp_path / "policy")
    # Nothing was published, and the request and the heartbeat lie where nobody takes them for a result.
    written = {entry.key.rsplit("/", 1)[1] for entry in placement.store.list("") if "/train-grpo/" in entry.key}
    assert written <= {REQUEST, HEARTBEAT, "failure.json", "attempts.json"}
