"""Two judges that decide together, through the whole pipeline: both are served, probed, asked and ended."""

import collections
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tiny_runs import ALWAYS, DURABLE, ROOT, Runner

from components.core.store import Store
from components.judge.memory.segments import join

pytestmark = [pytest.mark.arms, pytest.mark.verl, pytest.mark.slow]

SECOND = "{use: tiny-lr, name: second, source: {kind: tiny, seed: 2}}"
MEMBERS = ("tiny-lr", "second")


def rows(runner: Runner, step: str, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(runner.published(step) / name).to_pylist()
    return found


def verdicts(runner: Runner, step: str) -> dict[tuple[str, int], dict[str, dict[str, Any]]]:
    """By sample and criterion, each judge's."""
    found: dict[tuple[str, int], dict[str, dict[str, Any]]] = collections.defaultdict(dict)
    for row in rows(runner, step, "verdicts.parquet"):
        found[row["sample_id"], row["criterion_index"]][row["judge"]] = row
    return found


def test_a_panel_of_two(tmp_path: Path) -> None:
    runner = Runner(tmp_path / "state")
    statuses, output = runner.run(f"panel={{members: [{SECOND}], combine: mean, quorum: 2}}")
    assert statuses == dict.fromkeys([*DURABLE, *ALWAYS], "ran")
    assert runner.left_over() == []

    differ = 0
    for step in ("train-grpo", "score"):
        found = verdicts(runner, step)
        assert found
        for each in found.values():
            assert set(each) == {"panel", *MEMBERS}
            chances = [each[name]["probability"] for name in MEMBERS]
            if None in chances:
                assert each["panel"]["status"] == "unknown"
                continue
            assert each["panel"]["probability"] == pytest.approx(math.fsum(chances) / 2, abs=1e-12)
            differ += chances[0] != chances[1]
        # Each member is asked once about each response that is not empty, and counted by itself.
        calls = collections.Counter(row["judge"] for row in rows(runner, step, "calls.parquet") if row["attempts"])
        assert set(calls) == set(MEMBERS)
        assert calls["tiny-lr"] == calls["second"] > 0
    # Two models, not one under two names.
    assert differ > 0

    script, training = str(ROOT / "tests/reward/recompute_rewards.py"), str(runner.published("train-grpo"))
    prompts = str(runner.published("prepare-data") / "train.parquet")
    done = subprocess.run(
        [sys.executable, script, training, prompts, "--value", "probability", "--judge", "panel"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr

    summary = json.loads((runner.published("report") / "summary.json").read_text(encoding="utf-8"))
    page = (runner.published("report") / "report.html").read_text(encoding="utf-8")
    assert set(summary["panel"]["evaluation"]["members"]) == set(MEMBERS)
    assert 'id="panel"' in page

    # The probe tried both, and its calls are in the store beside the others'.
    root = runner.published("report").parents[3]
    asked = join(Store.open(root.as_uri()), "tiny/probe-judge").execute("SELECT judge, COUNT(*) FROM calls GROUP BY 1")
    assert dict(asked.fetchall()) == {"tiny-lr": 4, "second": 4}
    assert "known pair" in output
