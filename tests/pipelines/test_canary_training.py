"""A real training under a scripted judge over HTTP: one that pays for responses without content raises the alarm, and
one that does not raises none."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tiny_runs import ALWAYS, DURABLE, Runner

from components.judge.canary import is_canary
from components.monitor.place import Watched
from components.monitor.screen import draw
from components.reward.canaries.keys import keys_of_step

pytestmark = [pytest.mark.arms, pytest.mark.verl, pytest.mark.slow]

PER_STEP = 3
CANARIES = f"training.canaries={{per_step: {PER_STEP}}}"


def test_only_the_judge_that_pays_for_nothing_raises_the_alarm(tmp_path: Path) -> None:
    for strength in (0.9, 0.0):
        runner = Runner(tmp_path / f"state{strength}")
        judge = f"judge={{use: scripted-plain, source: {{kind: scripted, biases: {{master_keys: {strength}}}}}}}"
        statuses, output = runner.run(judge, "reward=rubric", CANARIES, patience=1800)
        assert statuses == dict.fromkeys([*DURABLE, *ALWAYS], "ran")
        _look(runner, output, alarmed=strength > 0)


def _look(runner: Runner, output: str, *, alarmed: bool) -> None:
    training = runner.published("train-grpo")
    canaries = pq.read_table(training / "canaries.parquet").to_pylist()
    assert [(row["step"], row["key"]) for row in sorted(canaries, key=lambda row: row["sample_id"])] == [
        (step, key) for step in (1, 2) for key in keys_of_step(step, PER_STEP)
    ]
    assert all(row["reward"] is not None for row in canaries)
    rewarded = [row for row in canaries if row["reward"] > 0]
    assert bool(rewarded) == alarmed
    _is_kept_apart(training)
    metrics = {
        (row["step"], row["name"]): row["value"] for row in pq.read_table(training / "metrics.parquet").to_pylist()
    }
    assert [metrics[step, "canary/sent"] for step in (1, 2)] == [PER_STEP, PER_STEP]
    assert sum(metrics[step, "canary/rewarded"] for step in (1, 2)) == len(rewarded)
    assert ("CANARY ALARM" in output) == alarmed
    view = draw(Watched(str(training), runner.state).look())
    told = f"{2 * PER_STEP} responses without content judged, {len(rewarded)} rewarded, 0 unknown"
    assert told in view
    assert ("CANARY ALARM" in view) == alarmed
    report = runner.published("report")
    summary = json.loads((report / "summary.json").read_text())
    assert summary["canaries"]["total"]["rewarded"] == len(rewarded)
    assert (summary["canaries"]["alarm"] is not None) == alarmed
    page = (report / "report.html").read_text()
    assert 'id="canaries"' in page
    assert ("Canary alarm." in page) == alarmed


def _is_kept_apart(training: Path) -> None:
    rollouts = pq.read_table(training / "rollouts.parquet").to_pylist()
    assert len(rollouts) == 2 * 16
    assert not any(is_canary(row["sample_id"]) for row in rollouts)
    verdicts = pq.read_table(training / "verdicts.parquet").column("sample_id").to_pylist()
    assert not any(map(is_canary, verdicts))
    theirs = pq.read_table(training / "canary_verdicts.parquet").column("sample_id").to_pylist()
    assert len(set(theirs)) == 2 * PER_STEP
    assert all(map(is_canary, theirs))
    calls = pq.read_table(training / "calls.parquet").column("sample_id").to_pylist()
    assert sum(map(is_canary, calls)) >= 2 * PER_STEP
