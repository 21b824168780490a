"""Steps under KFP's own local runner: what travels between them."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from step_samples import STEPS

from components.core.spec import Experiment
from components.core.step import Published, execute, kfp_step, runlog
from components.core.step.kfp import artifact_metadata

HERE = Path(__file__).resolve().parent
Run = Callable[..., list[tuple[str, str]]]


@pytest.fixture
def run(experiment: Experiment, state: Path, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the sample pipeline and gives (step, status) of what was executed by it."""
    from kfp import local
    from kfp_samples import sample

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE.parents[2]), str(HERE)]))
    local.init(runner=local.SubprocessRunner(use_venv=False), pipeline_root=str(tmp_path / "kfp"), raise_on_error=True)
    count = 0

    def start(seed: int = 1, step: str = "produce", fails: bool = False) -> list[tuple[str, str]]:
        nonlocal count
        count += 1
        monkeypatch.setenv("GAVEL_RUN_ID", f"run-{count}")
        text = experiment.model_copy(update={"seed": seed}).to_json()
        if fails:
            with pytest.raises(RuntimeError):
                sample(experiment=text, store=store_url, step=step)
        else:
            sample(experiment=text, store=store_url, step=step)
        return [(line.step, line.status) for line in runlog.read(runlog.log_path(state))]

    return start


def page_uri(tmp_path: Path) -> str:
    """What KFP knows of the consumer's HTML artifact after the newest run."""
    newest = max((tmp_path / "kfp").glob("sample-*/**/consume/executor_output.json"), key=lambda p: p.stat().st_mtime)
    return str(json.loads(newest.read_text())["artifacts"]["html"]["artifacts"][0]["uri"])


@pytest.mark.slow
def test_artifacts_travel_and_content_decides(run: Run, state: Path, tmp_path: Path) -> None:
    assert run() == [("produce", "ran"), ("consume", "ran"), ("tear-down", "ran")]
    lines = {line.step: line for line in runlog.read(runlog.log_path(state))}
    seen = json.loads((state / "seen.json").read_text())
    assert seen["uri"] == seen["folder"] == lines["produce"].uri
    assert seen["identity"] == lines["produce"].identity
    assert (seen["step"], seen["reused"], seen["rows"], seen["share"], seen["label"]) == ("produce", False, 3, 0.5, "é")
    assert seen["sha256"].startswith(seen["uri"].rsplit("/", 1)[1])
    assert "unknown" not in seen
    assert page_uri(tmp_path) == lines["consume"].uri + "/report.html"
    assert Path(page_uri(tmp_path).removeprefix("file://")).read_text() == "<p>0</p>"

    assert run() == [("produce", "reused"), ("consume", "reused"), ("tear-down", "ran")]
    assert json.loads((state / "seen.json").read_text())["reused"] is True
    # Another seed makes the producer run, but with the same content: its consumer is not run again.
    assert run(seed=2) == [("produce", "ran"), ("consume", "reused"), ("tear-down", "ran")]
    assert run(seed=10) == [("produce", "ran"), ("consume", "ran"), ("tear-down", "ran")]
    assert Path(page_uri(tmp_path).removeprefix("file://")).read_text() == "<p>1</p>"


def test_failure_stops_the_pipeline_and_still_tears_down(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(step="fail", fails=True) == [("fail", "failed"), ("tear-down", "ran")]
    out = capfd.readouterr().out
    assert "step fail failed: the policy cannot be trained" in out
    assert "Traceback" not in out


class FakeArtifact:
    def __init__(self, uri: str, metadata: dict[str, object]) -> None:
        self.uri = uri
        self.metadata = metadata


def test_pointer_at_a_file_still_leads_to_the_folder(experiment: Experiment, state: Path, store_url: str) -> None:
    produced = execute(STEPS["produce"], experiment.to_json(), store_url, {})
    pointer = FakeArtifact(produced.uri + "/value.txt", {"folder": produced.uri})
    output = FakeArtifact("", {})
    kfp_step(STEPS["consume"], experiment.to_json(), store_url, {"data": pointer}, output)  # type: ignore[arg-type]
    assert output.metadata["text"] == "0"
    assert output.uri == output.metadata["folder"]


def test_what_a_step_returns_cannot_forge_the_pointers_own_fields() -> None:
    published = Published("file:///s/x", "a" * 64, "b" * 64, {"sha256": "forged", "identity": 1, "rows": 2, "no": None})
    assert artifact_metadata("train-grpo", published) == {
        "rows": 2,
        "step": "train-grpo",
        "identity": "b" * 64,
        "sha256": "a" * 64,
        "reused": False,
        "folder": "file:///s/x",
    }


class RemoteArtifact(FakeArtifact):
    """As KFP's launcher makes one in a pod: the URI is in KFP's bucket, and what lies at ``path`` is uploaded to it."""

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(f"minio://mlpipeline/v2/artifacts/{name}", {})
        self.path = str(folder / "minio" / "mlpipeline" / name)


def test_on_a_cluster_the_artifact_stays_where_kfp_put_it(
    experiment: Experiment, state: Path, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAVEL_KFP_RUN", "run-1")
    data, html, metrics = (RemoteArtifact(tmp_path, name) for name in ("data", "html", "metrics"))
    made = kfp_step(STEPS["produce"], experiment.to_json(), store_url, output=data, metrics=metrics)
    assert data.uri == "minio://mlpipeline/v2/artifacts/data"
    pointer = json.loads(Path(data.path).read_text())
    assert pointer["folder"] == made.uri == data.metadata["folder"]
    assert metrics.metadata == {"rows": 3, "share": 0.5}
    page = kfp_step(STEPS["consume"], experiment.to_json(), store_url, {"data": data}, html, file="report.html")
    # The page itself, so that KFP can show it.
    assert Path(html.path).read_text() == "<p>0</p>"
    noted = json.loads(Path(store_url.removeprefix("file://"), "kfp-runs", "run-1", "consume.json").read_text())
    assert noted["uri"] == page.uri
    assert noted["step"] == "consume"


def test_the_endpoint_of_the_experiments_store_is_used_unless_one_is_set(
    experiment: Experiment, state: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from components.core.spec import load_experiment

    text = load_experiment("verinstruct_rl").to_json()
    endpoint = json.loads(text)["cluster"]["store"]["endpoint"]
    monkeypatch.setenv("GAVEL_S3_ENDPOINT", "")
    kfp_step(STEPS["tear-down"], text, store_url)
    assert os.environ["GAVEL_S3_ENDPOINT"] == endpoint
    monkeypatch.setenv("GAVEL_S3_ENDPOINT", "http://127.0.0.1:1")
    kfp_step(STEPS["tear-down"], text, store_url)
    assert os.environ["GAVEL_S3_ENDPOINT"] == "http://127.0.0.1:1"
