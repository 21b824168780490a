"""A random model and its published folder, tested as writers of workflows, as a user does it."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tiny_runs import ROOT, Runner

WRITERS = ["base", "model", "direct", "hand_written", "random_valid"]
STEPS = ("import-model", "prepare-data", "generate-tasks", "score-tasks")
ALWAYS = ("deploy-judge", "probe-judge", "teardown-judge")
FEW = ("evaluation.tasks.sets=[gsm8k,mbpp]", "evaluation.tasks.limit=1", "evaluation.tasks.samples.code=1")


def evaluate(runner: Runner, *arguments: str) -> tuple[str, dict[str, Any]]:
    """What the command prints, and the figures that it leaves."""
    command = [sys.executable, "-m", "pipelines", "mixed-eval", *arguments, "EXPERIMENT=tiny_workflow", "BASE=1", *FEW]
    done = subprocess.run(command, cwd=ROOT, env=runner.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    path = runner.state / "reports" / "tiny-workflow-eval" / "results.json"
    assert f"figures: {path}" in done.stdout
    found: dict[str, Any] = json.loads(path.read_text())
    return done.stdout, found


@pytest.mark.arms
@pytest.mark.slow
def test_a_model_is_tested_as_a_writer_of_workflows(tmp_path: Path) -> None:
    runner = Runner(tmp_path / "state", "tiny_workflow")
    printed, figures = evaluate(runner, "MODEL=tiny")
    assert runner.statuses() == dict.fromkeys([*STEPS, *ALWAYS], "ran")
    assert runner.left_over() == []
    for writer in ("base", "model"):
        assert re.search(rf"^{writer}\nset +metric", printed, re.MULTILINE), writer
    assert re.search(f"^accuracy +{' +'.join(WRITERS)}$", printed, re.MULTILINE)
    assert (figures["model"], figures["executor"]) == ("model", "tiny-chat")
    assert {
        entry["dataset"]: entry["n"] + entry["unknown"]
        for entry in figures["datasets"]
        if "mixed" not in entry["dataset"]
    } == {
        "gsm8k": 1,
        "mbpp": 1,
    }
    assert list(figures["workflows"]) == WRITERS
    for writer, counts in figures["workflows"].items():
        assert counts["answers"] == 2, writer
    # Baselines keep the contract by their making, and a random model's letters are no program.
    for writer in ("direct", "hand_written", "random_valid"):
        counts = figures["workflows"][writer]
        assert (counts["valid"], counts["checked"]) == (2, 2), writer
        assert figures["baselines"][writer]["model"] == writer
    assert figures["workflows"]["direct"]["tokens"] > 0
    assert (figures["workflows"]["model"]["valid"], figures["workflows"]["model"]["tokens"]) == (0, 0)
    assert figures["comparisons"].keys() == {"base", "direct", "hand_written", "random_valid"}

    # The same weights by their folder, and nothing is done again.
    folder = runner.published("import-model")
    again = evaluate(runner, f"CHECKPOINT={folder}")[1]
    assert runner.statuses() == dict.fromkeys(STEPS, "reused") | dict.fromkeys(ALWAYS, "ran")
    differing = {key for key in figures if figures[key] != again[key]}
    assert differing <= {"checkpoint"}
    assert figures["checkpoint"]["sha256"] == again["checkpoint"]["sha256"]
