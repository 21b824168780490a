"""Real verl draws a mixture in its shares, and after a kill goes on in the same order."""

import itertools
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from mixture_training import DOMAINS, DRAW, SOURCES, STEPS

from components.core.draw import DrawPlan
from components.engine.checkpoints import MARK
from components.engine.draw import Draw

pytestmark = [pytest.mark.verl, pytest.mark.slow, pytest.mark.suites]

ROOT = Path(__file__).resolve().parents[2]


def start(state: Path) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("mixture_training.py"))],
        cwd=ROOT,
        env={**os.environ, "GAVEL_STATE": str(state), "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def wait_for_checkpoint(state: Path, child: subprocess.Popen[str], seconds: float) -> None:
    """Until a checkpoint of the fourth step or a later one is whole, before the training is over."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and child.poll() is None:
        if list(state.glob(f"work/*/train-grpo/*/checkpoints/global_step_[4-9]/{MARK}")):
            return
        time.sleep(0.05)
    pytest.fail("no checkpoint of step 4 was seen while the training ran")


def test_a_killed_training_draws_the_shares_in_the_order_of_an_unbroken_one(tmp_path: Path):
    child = start(tmp_path / "state")
    # Not by what it prints: progress leaves steps out, and a fast machine ends within one line.
    wait_for_checkpoint(tmp_path / "state", child, 900)
    os.killpg(child.pid, signal.SIGKILL)
    child.communicate()
    child = start(tmp_path / "state")
    output, _ = child.communicate(timeout=900)
    assert child.returncode == 0, output[-4000:]
    assert re.search(r"resuming from step [468]\b", output), output[-4000:]
    published = Path(output.rstrip().rpartition("published file://")[2])

    steps: dict[int, Counter[str]] = defaultdict(Counter)
    for row in pq.read_table(published / "rollouts.parquet").to_pylist():
        steps[row["step"]][row["row_id"]] += 1
    order = itertools.islice(Draw(DrawPlan.parse(DRAW), SOURCES, batch=4, seed=7), 4 * STEPS)
    ids = [f"{SOURCES[row]}-{row}" for row in order]
    assert {step: set(found) for step, found in steps.items()} == {
        step: set(ids[4 * (step - 1) : 4 * step]) for step in range(1, STEPS + 1)
    }
    assert all(set(found.values()) == {2} for found in steps.values())
    # By hand: 16 of mathematics, of which the two rows of gsm8k give no more than four; 12 and 12.
    sets = Counter(row_id.rpartition("-")[0] for found in steps.values() for row_id in found)
    assert sets == {"gsm8k": 4, "math": 12, "squad2": 6, "hotpotqa": 6, "mbpp": 12}
    assert max(Counter(ids).values()) == 2

    metrics = pq.read_table(published / "metrics.parquet").to_pylist()
    told = {(row["step"], row["name"]): row["value"] for row in metrics if row["name"].startswith("draw/")}
    assert [told[step, "draw/prompts"] for step in range(1, STEPS + 1)] == [4.0] * STEPS
    for step, found in steps.items():
        domains = Counter(DOMAINS[row_id.rpartition("-")[0]] for row_id in found)
        assert {name: told[step, f"draw/share/domain_{name}"] for name in ("math", "qa", "code")} == {
            name: domains[name] / 4 for name in ("math", "qa", "code")
        }
    assert told[STEPS, "draw/all/domain_math"] == pytest.approx(0.4)
    assert told[STEPS, "draw/epochs/gsm8k"] == 2.0
    assert told[STEPS, "draw/over_cap"] == 0.0
    assert told[1, "draw/left_out"] == 1.0
    kept = [told[step, "draw/kept/domain_math"] for step in steps if (step, "draw/kept/domain_math") in told]
    assert kept
    assert all(0 <= share <= 1 for share in kept)
