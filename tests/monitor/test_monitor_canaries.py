"""Canaries in the live view, in the output of a training, and over all steps."""

import io
from pathlib import Path

from training_files import Work, right

from components.core.progress import Progress
from components.core.spec import load_experiment
from components.engine.process import TrainerProcess
from components.monitor.screen import draw
from components.monitor.work import WorkFolder
from components.reward.canaries.counting import step_metrics, told_in_step, told_overall
from components.reward.canaries.sighting import Sighting


def seen(reward: float | None) -> Sighting:
    return Sighting(1, 1, "canary-1-1-0", "row", ":", reward, 0.0, 1.0, None if reward is not None else "timeout")


def test_a_steps_metrics_leave_unknown_out_of_the_mean() -> None:
    assert step_metrics([]) == {}
    assert step_metrics([seen(1.0), seen(0.0), seen(None), seen(0.5)]) == {
        "canary/sent": 4.0,
        "canary/rewarded": 2.0,
        "canary/unknown": 1.0,
        "canary/reward_mean": 0.5,
    }
    assert step_metrics([seen(None)]) == {"canary/sent": 1.0, "canary/rewarded": 0.0, "canary/unknown": 1.0}


def test_words_for_a_step_and_for_all() -> None:
    quiet = {"canary/sent": 2.0, "canary/rewarded": 0.0, "canary/unknown": 1.0}
    loud = {"canary/sent": 2.0, "canary/rewarded": 1.0, "canary/unknown": 0.0}
    assert told_in_step(quiet) == told_in_step({}) == told_in_step({"canary/sent": None}) == ""
    assert "1 of 2" in told_in_step(loud)
    assert told_overall({1: {"critic/score/mean": 0.5}}) == ""
    assert told_overall({1: quiet}) == "canaries: 2 responses without content judged, 0 rewarded, 1 unknown"
    told = told_overall({3: loud, 1: quiet, 2: loud})
    assert told.startswith(
        "CANARY ALARM: 6 responses without content judged, 2 rewarded, 1 unknown, the first at step 2"
    )


def view(folder: Path, **metrics: float) -> str:
    work = Work(folder / "state", load_experiment("tiny", ["training.canaries={}"]))
    work.begin()
    work.answer(right(1, "m1", 0), workflows=False)
    work.metrics(1, **metrics)
    return draw(WorkFolder(work.folder).look())


def test_the_live_view_shows_them(tmp_path: Path) -> None:
    loud = {"canary/sent": 2.0, "canary/rewarded": 1.0, "canary/unknown": 0.0}
    assert "CANARY ALARM: 2 responses without content judged, 1 rewarded" in view(tmp_path / "loud", **loud)
    assert "canaries: 2 responses without content judged, 0 rewarded" in view(
        tmp_path / "quiet", **(loud | {"canary/rewarded": 0.0})
    )
    assert "canar" not in view(tmp_path / "none").lower()


def test_an_alarm_is_a_line_of_its_own_in_the_trainings_output() -> None:
    out = io.StringIO()
    trainer = TrainerProcess.__new__(TrainerProcess)
    for rewarded in (0.0, 1.0):
        row: dict[str, object] = {"step": 4, "data": {"canary/sent": 2.0, "canary/rewarded": rewarded}}
        trainer._warn(Progress("train-grpo", stream=out), row)
    lines = out.getvalue().splitlines()
    assert len(lines) == 1
    assert "[train-grpo] CANARY ALARM: 1 of 2" in lines[0]
    assert "step 4" in lines[0]
