"""kill -9 at ten random points of the tiny pipeline: the same command goes on each time, and nothing is done twice.

Fifteen to thirty minutes; ``make test-kills``. GAVEL_KILL_SEED chooses other points.
"""

import os
import random
import signal
import subprocess
import sys
import time

import psutil
import pytest
from tiny_runs import ALWAYS, DURABLE, ROOT, Runner

pytestmark = pytest.mark.kills

KILLS = 10
_LINES = 30
"""A run of the tiny experiment prints about this many lines; a kill falls after one of them."""


def _kill(child: "subprocess.Popen[str]", whom: str, rng: random.Random) -> str:
    """SIGKILL the command alone, its whole process group, or one of its descendants; says what was killed."""
    if whom == "group":
        os.killpg(child.pid, signal.SIGKILL)
        return "group"
    victim = psutil.Process(child.pid)
    below = victim.children(recursive=True)
    if whom == "descendant" and below:
        victim = rng.choice(below)
    try:
        told = " ".join(victim.cmdline())[:90]
        victim.kill()
    except psutil.NoSuchProcess:
        return "one that was gone"
    return told


def test_ten_random_kills(tmp_path):
    seed = int(os.environ.get("GAVEL_KILL_SEED", "1"))
    rng = random.Random(seed)
    runner = Runner(tmp_path / "state")
    experiment, kills = 100, 0
    done: set[str] = set()
    while kills < KILLS:
        arguments = (f"seed={experiment}", "training.steps=3")
        before = runner.runs()
        child = runner.start(*arguments)
        assert child.stdout is not None
        after, delay, whom = rng.randint(1, _LINES), rng.uniform(0, 6), rng.choice(("command", "group", "descendant"))
        for _ in range(after):
            line = child.stdout.readline()
            if not line:
                break
        time.sleep(delay)
        if child.poll() is None:
            victim = _kill(child, whom, rng)
            kills += 1
            print(f"kill {kills}: after {line.strip()[:80]!r} and {delay:.1f} s: {victim}", flush=True)
        # A killed descendant may be one that is replaced or no longer needed; the command then ends by itself.
        output, _ = child.communicate(timeout=600)
        assert "Traceback" not in output, output[-3000:]
        assert runner.left_over() == []
        if runner.runs() != before:
            again = {line.step for line in runner.lines() if line.status == "ran"} & done
            assert not again, f"{again} ran twice"
            done |= {line.step for line in runner.lines() if line.status != "failed"} & set(DURABLE)
        if child.returncode == 0:
            experiment, done = experiment + 1, set()
    statuses, _ = runner.run(f"seed={experiment}", "training.steps=3")
    assert set(statuses) == {*DURABLE, *ALWAYS}
    assert {step for step in done if statuses[step] != "reused"} == set()
    places = {"training": "train-grpo", "scores": "score", "generations": "generate", "report": "report"}
    arguments = tuple(f"--{option}={runner.published(step)}" for option, step in places.items())
    subprocess.run([sys.executable, str(ROOT / "tests/report/recompute.py"), *arguments], check=True)
