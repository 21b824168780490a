"""A short form of ``make demo``: the real small model, judge, S3 server and trainer, fewer steps and prompts."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.smollm, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
STEPS, HELDOUT = 3, 24


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> str:
    state = tmp_path_factory.mktemp("demo") / "state"
    overrides = [f"training.steps={STEPS}", f"data.heldout_rows={HELDOUT}", "training.checkpoint_every=3"]
    done = subprocess.run(
        [sys.executable, "-m", "pipelines", "run", "quickstart", *overrides],
        cwd=ROOT,
        env={**os.environ, "GAVEL_STATE": str(state)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1500,
        check=False,
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def report(output: str) -> Path:
    return Path(output.rstrip().splitlines()[-1].removeprefix("report: "))


def test_every_step_ran_and_memory_stayed_below_twelve_gib(output: str):
    table = output[output.index("step              status") :]
    assert table.count(" ran ") == 9
    peak = re.search(r"peak memory ([\d.]+) GiB", table)
    assert peak
    assert float(peak[1]) < 12


def test_progress_with_time_left_is_shown(output: str):
    assert re.search(rf"\[train-grpo\] step [12]/{STEPS} .* left \d+:\d\d", output)
    assert re.search(rf"\[score\] .*{2 * HELDOUT}/{2 * HELDOUT} +100 %", output)


def test_the_judge_can_tell_before_anything_depends_on_it(output: str):
    known = re.search(r"known pair +([\d.]+) for one that meets, ([\d.]+) for one that misses", output)
    assert known
    assert float(known[1]) > float(known[2])
    assert "WRONG WAY ROUND" not in output


def test_the_report_calls_the_judge_weak_and_the_same_model(report: Path):
    text = report.read_text()
    assert "same model" in text
    assert "weak" in text.lower()
    assert "http-equiv" in text
    assert not re.search(r'(src|href)="https?://', text)


def test_the_summary_counts_every_prompt(report: Path):
    summary = json.loads((report.parent / "summary.json").read_text())
    assert summary["heldout"]["prompts"] == HELDOUT
    assert summary["heldout"]["measures"]["gold"]["n"] == HELDOUT
    assert summary["training"]["rollouts"] == STEPS * 16
