"""A checkpoint is whole once its step's metrics are written: a trainer killed in between would leave them out."""

import json
from pathlib import Path
from typing import Any

import pytest

from components.engine.callback import CheckpointMark, SettledTracking
from components.engine.checkpoints import prepare_resume, whole_steps

pytestmark = pytest.mark.verl


@pytest.fixture
def tracking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("VERL_FILE_LOGGER_PATH", str(tmp_path / "metrics.jsonl"))
    return SettledTracking("project", "experiment", default_backend=["file"], config={})


def save(folder: Path, step: int) -> None:
    place = folder / f"global_step_{step}"
    place.mkdir(parents=True)
    CheckpointMark(config=None).on_save(None, step, str(place))


def test_the_mark_is_written_behind_the_metrics_of_the_step(tracking: Any, tmp_path: Path) -> None:
    save(tmp_path / "checkpoints", 2)
    tracking.log(data={"draw/prompts": 4.0}, step=1)
    assert whole_steps(tmp_path / "checkpoints") == []
    tracking.log(data={"draw/prompts": 4.0}, step=2)
    assert whole_steps(tmp_path / "checkpoints") == [2]
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [1, 2]


def test_a_step_whose_metrics_cannot_be_logged_is_not_gone_on_from(tracking: Any, tmp_path: Path) -> None:
    checkpoints = tmp_path / "checkpoints"
    save(checkpoints, 2)
    tracking.log(data={}, step=2)
    save(checkpoints, 4)
    with pytest.raises(RuntimeError, match="engine"):
        # A loss without the counts of updates: not our engine.
        tracking.log(data={"actor/loss": 0.5}, step=4)
    assert prepare_resume(checkpoints) == 2
    assert not (checkpoints / "global_step_4").exists()
