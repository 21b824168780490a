"""Mini-batches that are masked as a whole: verl's own worker leaves them out, and the log has no number for them."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from components.core.spec import load_experiment
from components.engine.environment import training_environment
from components.engine.updates import settle

ROOT = Path(__file__).resolve().parents[2]
NAN = float("nan")


def run_worker(folder: Path, **changes: str) -> dict[str, Any]:
    environment = training_environment(
        load_experiment("tiny"), settings=folder / "s.json", metrics=folder / "m.jsonl", work=folder
    )
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/engine/update_on_masks.py"), str(folder)],
        env={**os.environ, **environment, **changes},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


@pytest.mark.verl
@pytest.mark.slow
def test_a_masked_mini_batch_makes_no_update(tmp_path: Path):
    pytest.importorskip("verl")
    found = run_worker(tmp_path)
    trained, masked, both = found["steps"]
    assert trained["moved"] > 0
    assert trained["optimizer"] == [1]
    # Momentum is there, and weight decay; the weights stay all the same.
    assert masked["moved"] == 0
    assert masked["optimizer"] == [1]
    assert both["optimizer"] == [2]
    assert both["metrics"]["max_updates"] == [1, 2]
    assert both["metrics"]["max_skipped_updates"] == [0, 1]
    assert len(both["metrics"]["grad_norm"]) == 1
    for step in found["steps"]:
        assert all(math.isfinite(value) for values in step["metrics"].values() for value in values)
    assert [step["metrics"]["max_updates"][0] for step in found["steps"]] == [1, 1, 1], "counts begin anew each step"


@pytest.mark.verl
@pytest.mark.slow
def test_verls_own_engine_moves_the_weights_on_nothing(tmp_path: Path):
    """Why ours is needed; when this fails, verl has mended it."""
    pytest.importorskip("verl")
    found = run_worker(tmp_path, VERL_ENGINE_VENDOR="")
    _, masked, _ = found["steps"]
    assert found["engine"] == "FSDPEngineWithLMHead"
    assert masked["moved"] > 0
    assert math.isnan(masked["metrics"]["loss"][0])


def test_the_loss_is_the_mean_of_the_updates_that_were_made():
    # Losses 0.6, 0.2 and a masked mini-batch, for which verl has put 0 into its mean: 0.8 / 3.
    logged = {"actor/loss": 0.8 / 3, "actor/max_updates": 3.0, "actor/max_skipped_updates": 1.0, "perf/mfu/actor": 9.0}
    found = settle(logged)
    assert found == {"actor/loss": pytest.approx(0.4), "judge/updates": 3.0, "judge/skipped_updates": 1.0}


def test_a_step_without_any_update_has_no_loss_and_no_means_over_nothing():
    logged = {
        "actor/loss": 0.0,
        "actor/max_updates": 2.0,
        "actor/max_skipped_updates": 2.0,
        "critic/advantages/mean": NAN,
        "actor/entropy": NAN,
        "critic/score/mean": 0.5,
        "actor/lr": 0.01,
    }
    found = settle(logged)
    assert found == {"judge/updates": 2.0, "judge/skipped_updates": 2.0, "critic/score/mean": 0.5, "actor/lr": 0.01}


def test_a_policy_that_diverged_is_not_hidden():
    found = settle({"actor/loss": NAN, "actor/max_updates": 2.0, "actor/max_skipped_updates": 1.0})
    assert math.isnan(found["actor/loss"])


def test_metrics_without_an_update_are_left_alone():
    assert settle({"val/score": 0.5}) == {"val/score": 0.5}


def test_another_engine_is_noticed():
    with pytest.raises(RuntimeError, match="VERL_ENGINE_VENDOR=gavel"):
        settle({"actor/loss": 0.5})


def test_verl_logs_through_it():
    pytest.importorskip("verl")
    from verl.trainer.ppo.v1 import trainer_base

    from components.engine.callback import SettledTracking

    assert trainer_base.Tracking is SettledTracking
    tracking = object.__new__(SettledTracking)
    seen: list[tuple[dict[str, Any], int]] = []
    tracking.logger = {"x": type("X", (), {"log": staticmethod(lambda data, step: seen.append((data, step)))})}
    tracking.log({"actor/loss": 1.0, "actor/max_updates": 1, "actor/max_skipped_updates": 0}, step=3)
    assert seen == [({"actor/loss": 1.0, "judge/updates": 1.0, "judge/skipped_updates": 0.0}, 3)]
