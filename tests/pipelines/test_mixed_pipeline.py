"""The mixed baseline from files to report: on the random model for its wiring, on SmolLM2 for what can be learnt."""

import collections
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tiny_runs import ROOT, Runner

DURABLE = ("prepare-data", "train-grpo", "merge-checkpoint", "generate-tasks", "score-tasks", "report")
SETS = {"gsm8k", "math", "squad2", "hotpotqa", "humaneval", "mbpp"}
LEAST_VARIANCE = 0.2
"""Share of groups of the CPU-sized twin whose rewards differ: below it there is nothing to train on."""


def summary_of(runner: Runner) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((runner.published("report") / "summary.json").read_text())
    return found


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Runner, dict[str, str]]:
    runner = Runner(tmp_path_factory.mktemp("mixed") / "state", "tiny_mixed")
    statuses, _ = runner.run()
    return runner, statuses


@pytest.mark.verl
@pytest.mark.pipeline
@pytest.mark.slow
def test_no_judge_is_started(tiny: tuple[Runner, dict[str, str]]) -> None:
    # The exit task looks and finds nothing to end.
    assert tiny[1] == dict.fromkeys([*DURABLE, "teardown-judge"], "ran")


@pytest.mark.verl
@pytest.mark.pipeline
@pytest.mark.slow
def test_every_set_has_figures_and_both_models_the_same_tasks(tiny: tuple[Runner, dict[str, str]]) -> None:
    folder = tiny[0].published("score-tasks")
    for model in ("base", "trained"):
        found = json.loads((folder / model / "results.json").read_text())
        figures = {entry["dataset"]: entry for entry in found["datasets"]}
        assert set(figures) == SETS | {"mixed"}
        for name in SETS:
            assert figures[name]["n"] + figures[name]["unknown"] == 4
            assert 0.0 <= figures[name]["metrics"]["accuracy"] <= 1.0
        assert figures["humaneval"]["metrics"].keys() >= {"pass@1", "pass@2"}
        assert figures["humaneval"]["samples"] == 8
        assert found["means"].keys() == {"macro", "weighted_4_3_3"}
    assert (folder / "results.svg").read_bytes().lstrip().startswith(b"<?xml")
    compared = json.loads((folder / "comparison.json").read_text())
    assert set(compared) == SETS | {"mixed", "macro", "weighted_4_3_3"}


@pytest.mark.verl
@pytest.mark.pipeline
@pytest.mark.slow
def test_rewards_are_those_of_the_gold_line(tiny: tuple[Runner, dict[str, str]]) -> None:
    training = tiny[0].published("train-grpo")
    verdicts = {row["sample_id"]: row for row in pq.read_table(training / "verdicts.parquet").to_pylist()}
    rollouts = pq.read_table(training / "rollouts.parquet").to_pylist()
    assert len(rollouts) == 2 * 4 * 4
    for row in rollouts:
        verdict = verdicts[row["sample_id"]]
        assert (verdict["judge"], verdict["protocol"].split("/")[1]) == ("rule", "task")
        if row["status"] == "scored":
            assert row["reward"] == pytest.approx(verdict["probability"])
    assert pq.read_table(training / "calls.parquet").num_rows == 0


@pytest.mark.verl
@pytest.mark.pipeline
@pytest.mark.slow
def test_the_page_tells_of_all_and_needs_nothing_from_outside(tiny: tuple[Runner, dict[str, str]]) -> None:
    page = (tiny[0].published("report") / "report.html").read_text()
    for text in ("GSM8K", "SQuAD 2.0", "HumanEval", "Groups with variance", "NoAns", "No judge was asked"):
        assert text in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "src=" in page
    found = summary_of(tiny[0])
    assert found["training"]["total"]["groups"] == 8
    assert found["judge_and_gold"] == {}
    assert found["mixture"]["split"] == "official"


@pytest.mark.verl
@pytest.mark.pipeline
@pytest.mark.slow
def test_the_same_again_repeats_nothing_and_data_may_be_skipped(tiny: tuple[Runner, dict[str, str]]) -> None:
    runner = tiny[0]
    command = [sys.executable, "-m", "pipelines", "mixed", "MODEL=tiny", "SKIP_DATA=1", "training.steps=2"]
    done = subprocess.run(command, cwd=ROOT, env=runner.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert runner.statuses() == dict.fromkeys(DURABLE, "reused") | {"teardown-judge": "ran"}
    refused = subprocess.run(
        [*command, "seed=99"], cwd=ROOT, env=runner.environment, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1
    assert "not prepared" in refused.stderr


@pytest.mark.verl
@pytest.mark.pipeline
@pytest.mark.slow
def test_a_model_is_tested_without_training(tiny: tuple[Runner, dict[str, str]]) -> None:
    runner = tiny[0]
    model, scored = runner.published("merge-checkpoint"), runner.published("score-tasks")
    command = [sys.executable, "-m", "pipelines", "mixed-eval", f"CHECKPOINT={model}", "EXPERIMENT=tiny_mixed"]
    command += ["SKIP_DATA=1", "training.steps=2"]
    done = subprocess.run(command, cwd=ROOT, env=runner.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    figures = json.loads((runner.state / "reports" / "tiny-mixed-eval" / "results.json").read_text())
    trained = json.loads((scored / "trained" / "results.json").read_text())
    # The same model on the same tasks with the same seed has the same figures.
    assert figures["datasets"] == trained["datasets"]
    assert figures["model"] == "model"
    assert re.search(r"^model\nset +metric", done.stdout, re.MULTILINE)


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    runner = Runner(tmp_path_factory.mktemp("twin") / "state", "mixed_small")
    # The runner's own two steps are too few to tell a share; ten of SmolLM2 take half an hour on two quiet cores.
    # A folder as its store, where the tables can be read.
    small = ("cluster=local-folder", "training.steps=10", "evaluation.tasks.limit=4", "evaluation.tasks.base=false")
    runner.run(*small, patience=3600)
    return runner


@pytest.mark.arms
@pytest.mark.verl
@pytest.mark.slow
def test_the_twin_has_something_to_learn_from(twin: Runner) -> None:
    rollouts = pq.read_table(twin.published("train-grpo") / "rollouts.parquet").to_pylist()
    groups: dict[tuple[int, str], list[float]] = collections.defaultdict(list)
    for row in rollouts:
        if row["reward"] is not None:
            groups[row["step"], row["row_id"]].append(row["reward"])
    assert len(groups) == 40
    varied = sum(len(set(rewards)) > 1 for rewards in groups.values())
    assert varied >= LEAST_VARIANCE * len(groups)
    assert summary_of(twin)["training"]["total"]["varied"] == varied


@pytest.mark.arms
@pytest.mark.verl
@pytest.mark.slow
def test_ten_batches_of_four_are_drawn_sixteen_to_twelve_to_twelve(twin: Runner) -> None:
    """FACTS H: largest remainder with carry-over."""
    drawn = summary_of(twin)["training"]["drawn"]
    assert sum(step["math"] for step in drawn.values()) == 16
    assert sum(step["qa"] for step in drawn.values()) == 12
    assert sum(step["code"] for step in drawn.values()) == 12
    assert {sum(step.values()) for step in drawn.values()} == {4}


@pytest.mark.arms
@pytest.mark.verl
@pytest.mark.slow
def test_adapters_of_rank_64_changed_the_model(twin: Runner) -> None:
    manifest = json.loads((Path(twin.published("merge-checkpoint")) / "manifest.json").read_text())
    assert manifest["metadata"]["adapter_effect"] > 0
