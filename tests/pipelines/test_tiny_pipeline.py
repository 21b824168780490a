"""The whole pipeline on the tiny model, as a user runs it: real verl, Ray and judge server, KFP's local runner."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tiny_runs import ALWAYS, DURABLE, ROOT, Runner

pytestmark = [pytest.mark.pipeline, pytest.mark.verl, pytest.mark.slow]


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(tmp_path_factory.mktemp("gavel") / "state")


@pytest.fixture(scope="module")
def first(runner: Runner) -> str:
    statuses, output = runner.run()
    assert statuses == dict.fromkeys([*DURABLE, *ALWAYS], "ran")
    return output


def test_progress_and_the_summary_are_shown(first: str):
    assert re.search(r"\[train-grpo\] step 2/2 +100 %", first)
    assert "KFP Executor" not in first
    assert first.rstrip().splitlines()[-1].startswith("report: ")
    assert Path(first.rstrip().splitlines()[-1].removeprefix("report: ")).stat().st_size > 10_000


def test_nothing_runs_on(runner: Runner, first: str):
    assert runner.processes() == []


def test_the_rollouts_are_complete_and_follow_from_the_verdicts(runner: Runner, first: str):
    folder = runner.published("train-grpo")
    rollouts = pq.read_table(folder / "rollouts.parquet").to_pylist()
    verdicts = {row["sample_id"]: row for row in pq.read_table(folder / "verdicts.parquet").to_pylist()}
    assert sorted({row["step"] for row in rollouts}) == [1, 2]
    assert len(rollouts) == 2 * 16
    for row in rollouts:
        verdict = verdicts[row["sample_id"]]
        if row["status"] == "scored":
            assert row["reward"] == pytest.approx(verdict["probability"], abs=1e-9)
        else:
            assert row["reward"] is None


def test_the_reports_figures_are_recomputed_from_what_is_stored(runner: Runner, first: str):
    arguments = []
    for option, step in (
        ("training", "train-grpo"),
        ("scores", "score"),
        ("generations", "generate"),
        ("report", "report"),
    ):
        arguments += [f"--{option}", str(runner.published(step))]
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/report/recompute.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_result_has_a_manifest_with_versions_seeds_and_inputs(runner: Runner, first: str):
    manifest = json.loads((runner.published("train-grpo") / "manifest.json").read_text())
    assert manifest["packages"]["verl"] == "0.9.1"
    assert manifest["seeds"]["seed"] == 1
    assert set(manifest["inputs"]) == {"data"}
    assert manifest["rows"]["rollouts.parquet"] == 32


def test_the_same_command_again_repeats_nothing_but_the_judges_steps(runner: Runner, first: str):
    statuses, _ = runner.run()
    assert statuses == dict.fromkeys(DURABLE, "reused") | dict.fromkeys(ALWAYS, "ran")


def test_a_changed_endpoint_retrains_nothing(runner: Runner, first: str):
    statuses, _ = runner.run("judge.port=38417", "judge.timeout_seconds=99")
    assert {step: statuses[step] for step in DURABLE} == dict.fromkeys(DURABLE, "reused")


def test_changed_statistics_only_write_the_report_anew(runner: Runner, first: str):
    statuses, _ = runner.run("evaluation.bootstrap_samples=400")
    assert {step for step in DURABLE if statuses[step] == "ran"} == {"report"}


@pytest.mark.kills
def test_a_retrained_model_under_the_same_name_is_evaluated_again(runner: Runner, first: str):
    # The published training is lost and made anew: same identity, other weights, since sampling times differ.
    training = runner.published("train-grpo")
    shutil.rmtree(training.parent)
    result = runner.run("training.learning_rate=2.0e-3")[0]
    assert {step for step in DURABLE if result[step] == "reused"} == {"prepare-data"}


@pytest.mark.kills
def test_killed_while_training_the_same_command_resumes(runner: Runner, first: str):
    child = runner.start("seed=5", "training.steps=4")
    assert child.stdout is not None
    for line in child.stdout:
        if re.search(r"\[train-grpo\] step [12]/4", line):
            break
    # The supervisor and the step die at once, so that neither can end the trainer.
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    assert runner.left_over() == []
    statuses, output = runner.run("seed=5", "training.steps=4")
    assert statuses["prepare-data"] == "reused"
    assert re.search(r"resuming from step [1-3]", output)
    rollouts = pq.read_table(runner.published("train-grpo") / "rollouts.parquet").to_pylist()
    assert sorted({row["step"] for row in rollouts}) == [1, 2, 3, 4]
    for step in range(1, 5):
        rows = [row for row in rollouts if row["step"] == step]
        assert len({row["attempt"] for row in rows}) == 1
        assert len({row["sample_id"] for row in rows}) == len(rows) == 16
    prompts = [row["row_id"] for row in rollouts if row["sample_index"] == 0]
    assert len(set(prompts)) == len(prompts), "a resumed run repeated or skipped prompts"


@pytest.mark.kills
def test_two_runs_at_once_in_one_state_folder(runner: Runner, first: str):
    one = runner.start()
    assert one.stdout is not None
    for line in one.stdout:
        if line.startswith("run "):
            break
    two = runner.start()
    output, _ = two.communicate(timeout=60)
    assert two.returncode == 1
    assert "another run is at work" in output
    assert str(one.pid) in output
    one.communicate(timeout=300)
    assert one.returncode == 0
