"""A policy that is not whole is not trained."""

import io
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from components.core.contracts import PROMPTS, write_table
from components.core.errors import StepError
from components.core.progress import Progress
from components.core.spec.load import load_experiment
from components.core.step import StepContext
from components.models.materialize import cache_folder, materialize
from components.train import step as train


def test_weights_that_are_missing_are_told_before_the_trainer_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("GAVEL_CACHE", raising=False)
    experiment = load_experiment("tiny")
    folder = tmp_path / "policy"
    materialize(experiment.policy.source, cache_folder(tmp_path / "state")).rename(folder)
    kept = {name: tensor for name, tensor in load_file(folder / "model.safetensors").items() if ".mlp." not in name}
    (folder / "model.safetensors").unlink()
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    for name in ("data", "out", "work"):
        (tmp_path / name).mkdir()
    write_table(tmp_path / "data" / "train.parquet", PROMPTS.empty_table(), PROMPTS)
    monkeypatch.setattr(train, "_train", lambda *_: pytest.fail("the trainer was started"))
    context = StepContext(
        load_experiment("tiny", [f"policy.source={{kind: folder, path: {folder}}}"]),
        {"data": tmp_path / "data"},
        {},
        tmp_path / "out",
        tmp_path / "work",
        "id",
        Progress("train-grpo", stream=io.StringIO()),
        tmp_path / "state",
    )
    with pytest.raises(StepError, match="missing: 6 tensors") as caught:
        train.run(context)
    assert caught.value.where == str(folder)
