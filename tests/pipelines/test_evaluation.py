"""What an evaluation says its figures are of."""

import contextlib
import json
from pathlib import Path

import pytest

from components.core.manifest import FileEntry, Manifest
from components.core.spec import load_experiment
from components.core.step.runlog import StepLine
from components.score.summary import summarise
from components.score.summary import table as table_of
from pipelines import evaluation
from pipelines.local import Ran


def test_figures_name_reward_policy_and_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = load_experiment("tiny", ["reward.value=binary"])
    store = tmp_path / "store"
    for step in ("import-model", "score"):
        (store / step).mkdir(parents=True)
    manifest = Manifest(files=(FileEntry(path="model/config.json", size=2, sha256="a" * 64),))
    (store / "import-model" / "manifest.json").write_text(manifest.model_dump_json())
    (store / "score" / "summary.json").write_text(json.dumps(summarise(experiment, [], {})))
    lines = [StepLine(s, "ran", "i", 1.0, uri=f"{store.as_uri()}/{s}") for s in ("import-model", "score")]
    ran = Ran(store.as_uri(), tmp_path / "state", lines)
    monkeypatch.setattr(evaluation, "run_graph", lambda *_: contextlib.nullcontext(ran))
    text, path = evaluation.evaluate_locally(experiment, "s3://bucket/one", base=False)
    assert "(combine rubric; protocol likelihood_ratio; value binary)" in text
    assert f"checkpoint: s3://bucket/one (sha256 {manifest.sha256[:12]})" in text
    assert f"policy: {experiment.policy.name}" in text
    found = json.loads(path.read_text())
    assert found["checkpoint"] == {"path": "s3://bucket/one", "sha256": manifest.sha256}
    assert found["constraints"] is None
    # Two rewards of one name are told apart by what they are made of.
    other = load_experiment("tiny", ["reward.combine=random"])
    assert other.reward.name == experiment.reward.name
    assert "combine random, SCORED AS rubric" in table_of(summarise(other, [], {}))
