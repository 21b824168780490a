"""Tiny steps for the tests, importable from child processes too."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from components.core.errors import StepError
from components.core.step import Step, StepContext

MODULE = "components.core.errors"
"""Stands for the steps' own source: any small first-party module."""


def calls(ctx: StepContext, name: str) -> int:
    """Counts, across processes, how often a step's work was begun."""
    path = ctx.state / f"calls-{name}"
    with path.open("a") as stream:
        stream.write(".")
    return path.stat().st_size


def produce(ctx: StepContext) -> dict[str, Any]:
    """Content that is the same for every ten seeds."""
    calls(ctx, "produce")
    (ctx.out / "value.txt").write_text(str(ctx.experiment.seed // 10))
    return {"rows": 3, "share": 0.5, "label": "é", "unknown": None}


def consume(ctx: StepContext) -> dict[str, Any]:
    calls(ctx, "consume")
    text = (ctx.inputs["data"] / "value.txt").read_text()
    assert ctx.manifests["data"].metadata["rows"] == 3
    (ctx.out / "report.html").write_text(f"<p>{text}</p>")
    return {"text": text}


def fail(ctx: StepContext) -> dict[str, Any]:
    raise StepError("the policy cannot be trained", where="training.steps", remedy="use more steps")


def crash(ctx: StepContext) -> dict[str, Any]:
    raise ZeroDivisionError("never planned for")


def tear_down(ctx: StepContext) -> dict[str, Any]:
    calls(ctx, "tear-down")
    return {"ended": True}


def slow(ctx: StepContext) -> dict[str, Any]:
    """Goes on from what it left in ``work``; waits, when it begins, until the test lets it go."""
    count = calls(ctx, "slow")
    begun = ctx.work / "begun"
    resumed = begun.read_text() if begun.exists() else "nothing"
    begun.write_text(f"start {count}")
    wait_for(ctx.state / "go")
    (ctx.out / "result.txt").write_text("done")
    return {"resumed": resumed}


def brood(ctx: StepContext) -> dict[str, Any]:
    """Starts a child, one in a session of its own, and one whose parent dies at once; then waits."""
    sleeper = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(300)"
    orphan = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', *sys.argv[1:]], start_new_session=True)"
    pids = [ctx.state / name for name in ("pid-child", "pid-session", "pid-orphan")]
    subprocess.Popen([sys.executable, "-c", sleeper, str(pids[0])])
    subprocess.Popen([sys.executable, "-c", sleeper, str(pids[1])], start_new_session=True)
    subprocess.Popen([sys.executable, "-c", orphan, sleeper, str(pids[2])]).wait()
    for path in pids:
        wait_for(path)
    (ctx.state / "brood-is-up").touch()
    time.sleep(300)
    return {}


def wait_for(path: Path, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not path.exists() or (path.name.startswith("pid-") and not path.read_text()):
        if time.monotonic() > deadline:
            raise TimeoutError(str(path))
        time.sleep(0.02)


def seed(experiment: Any) -> object:
    return {"seed": experiment.seed}


STEPS = {
    "produce": Step("produce", MODULE, seed, produce, packages=("pyarrow",)),
    "consume": Step("consume", MODULE, lambda experiment: {}, consume),
    "fail": Step("fail", MODULE, seed, fail),
    "crash": Step("crash", MODULE, seed, crash),
    "tear-down": Step("tear-down", MODULE, seed, tear_down, durable=False),
    "slow": Step("slow", MODULE, seed, slow),
    "brood": Step("brood", MODULE, seed, brood),
}

if __name__ == "__main__":
    from components.core.step import kfp_step

    published = kfp_step(STEPS[sys.argv[1]], os.environ["EXPERIMENT"], os.environ["STORE"])
    print("PUBLISHED", published.reused, published.metadata.get("resumed"))
