"""Watching a trainer that fails in each way a trainer can, played by a small script."""

import json
import sys
import time
from pathlib import Path

import psutil
import pytest

from components.core.contracts import ROLLOUTS
from components.core.errors import JudgeError, StepError
from components.core.progress import Progress
from components.engine import process
from components.engine.process import SlowStartError, StalledError, TrainerProcess, read_metrics
from components.reward.rollout_log import RolloutLog


def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> TrainerProcess:
    script = tmp_path / "trainer.py"
    script.write_text(code)
    # The launcher's module is replaced by the script; everything else is as in a real run.
    real = process.subprocess.Popen

    def popen(command: list[str], **options):  # type: ignore[no-untyped-def]
        guard = command[: command.index("--") + 1]
        return real([*guard, sys.executable, str(script)], **options)

    monkeypatch.setattr(process.subprocess, "Popen", popen)
    monkeypatch.setattr(process, "_POLL_SECONDS", 0.05)
    return TrainerProcess(
        ["a=b"], {"PATH": "/usr/bin", "PYTHONPATH": str(ROOT)}, work=tmp_path, metrics=tmp_path / "metrics.jsonl"
    )


def watch(trainer: TrainerProcess, stall: float = 30, deadline: float = 60) -> Progress:
    progress = Progress("train-grpo", 3, "step")
    trainer.watch(progress, samples_per_step=4, resumed_from=0, stall=stall, deadline=time.time() + deadline)
    return progress


ROOT = Path(__file__).resolve().parents[2]
METRIC = "open('metrics.jsonl','a').write('{\"step\": %d, \"data\": {\"critic/score/mean\": 0.5}}\\n');"


def test_progress_follows_the_metrics(tmp_path, monkeypatch, capsys):
    trainer = start(tmp_path, monkeypatch, "\n".join(METRIC % step for step in (1, 2, 3)))
    progress = watch(trainer)
    assert progress.done == 3
    said = capsys.readouterr().out
    assert "  reward 0.500" in said
    assert "judge reward" not in said


def test_a_long_first_step_says_what_it_is_at(tmp_path, monkeypatch, capsys):
    # verl makes the file of its metrics when it begins the first step, which may take minutes on a CPU.
    code = (
        "import os, time\nwhile not os.path.exists('begin'): time.sleep(0.05)\nopen('metrics.jsonl', 'w').close()\n"
        "while not os.path.exists('go'): time.sleep(0.05)\n" + METRIC % 1
    )
    monkeypatch.setattr(process, "_TELL_SECONDS", 0.0)
    trainer = start(tmp_path, monkeypatch, code)
    log = RolloutLog(tmp_path / "rollouts.sqlite")
    beats: list[str] = []

    def beat(step: int, state: str, newest: float) -> None:
        if state == "starting":
            (tmp_path / "begin").touch()
        elif state == "responses are sampled" and "1 of 4 responses judged" not in beats:
            log.append(dict.fromkeys(ROLLOUTS.names) | {"step": 1, "attempt": log.start_attempt(0)})
        elif state == "1 of 4 responses judged":
            (tmp_path / "go").touch()
        beats.append(state)

    monkeypatch.setattr(trainer, "_beat", beat)
    watch(trainer)
    log.close()
    assert list(dict.fromkeys(beats))[:3] == ["starting", "responses are sampled", "1 of 4 responses judged"]
    told = capsys.readouterr().out
    assert told.index("step 1: responses are sampled") < told.index("step 1: 1 of 4 responses judged")
    assert "starting" not in told


def test_a_failure_quotes_the_line_that_tells(tmp_path, monkeypatch):
    trainer = start(tmp_path, monkeypatch, "print('start'); raise ValueError('batch 7 does not fit')")
    with pytest.raises(StepError, match=r"ValueError: batch 7 does not fit") as caught:
        watch(trainer)
    assert "exit code 1" in caught.value.where


def test_a_hang_is_ended_and_named(tmp_path, monkeypatch):
    trainer = start(tmp_path, monkeypatch, "import time; time.sleep(600)")
    pid = trainer._child.pid
    with pytest.raises(StalledError):
        watch(trainer, stall=0.5)
    assert not psutil.pid_exists(pid)


def test_a_ray_that_is_too_slow_to_start_is_worth_another_start(tmp_path, monkeypatch):
    code = "raise Exception('The current node timed out during startup. This could happen because some of the raylet')"
    with pytest.raises(SlowStartError, match="machine is busy"):
        watch(start(tmp_path, monkeypatch, code))


def test_output_counts_as_a_sign_of_life(tmp_path, monkeypatch):
    code = "import time\nfor i in range(20):\n    print(i, flush=True)\n    time.sleep(0.1)"
    watch(start(tmp_path, monkeypatch, code), stall=1.5)


def test_the_deadline_ends_a_run_that_is_still_alive(tmp_path, monkeypatch):
    trainer = start(tmp_path, monkeypatch, "import time\nwhile True:\n    print('x', flush=True)\n    time.sleep(0.05)")
    with pytest.raises(StepError, match="deadline"):
        watch(trainer, deadline=0.5)


def test_the_judges_end_stops_the_trainer_with_the_judges_error(tmp_path, monkeypatch):
    fatal = {"what": "judge j could not judge 16 of 16", "where": "w", "remedy": "r"}
    code = (
        "import json, time\n"
        f"open('fatal.json.p', 'w').write(json.dumps({fatal!r}))\n"
        "import os; os.rename('fatal.json.p', 'fatal.json')\ntime.sleep(600)"
    )
    trainer = start(tmp_path, monkeypatch, code)
    with pytest.raises(JudgeError, match="could not judge 16"):
        watch(trainer)
    assert trainer._child.poll() is not None


def test_a_pause_for_the_judge_is_told_and_ends(tmp_path, monkeypatch, capsys):
    code = (
        "import os, time\nopen('paused.txt', 'w').write('PAUSED for at most 10 min: judge j')\ntime.sleep(1)\n"
        "os.remove('paused.txt')\ntime.sleep(1)"
    )
    watch(start(tmp_path, monkeypatch, code))
    told = capsys.readouterr().out
    assert told.index("PAUSED for at most 10 min: judge j") < told.index("training goes on")


def test_children_of_the_trainer_end_with_it(tmp_path, monkeypatch):
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open('child', 'w').write(str(child.pid))\ntime.sleep(600)"
    )
    trainer = start(tmp_path, monkeypatch, code)
    while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
        time.sleep(0.05)
    trainer.end()
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE:
            return
        time.sleep(0.05)
    pytest.fail("the trainer's child lives on")


def test_the_heartbeat_names_step_and_state(tmp_path, monkeypatch):
    trainer = start(tmp_path, monkeypatch, METRIC % 1 + "import time; time.sleep(1)")
    watch(trainer)
    beat = json.loads((tmp_path / "heartbeat.json").read_text())
    assert (beat["step"], beat["state"]) == (2, "responses are sampled")


def test_a_metric_line_still_being_written_is_left_out(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text('{"step": 1, "data": {}}\n{"step": 2, "da')
    assert [row["step"] for row in read_metrics(path)] == [1]
