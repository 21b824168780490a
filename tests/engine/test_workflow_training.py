"""A real training of workflows in verl: two steps of a tiny policy whose answers are right, wrong, failing and invalid,
by a scripted executor over HTTP. It is killed once and goes on."""

import asyncio
import concurrent.futures
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "workflow"))
from scripted_executor import Model, Reply

from components.core.contracts import METRICS, ROLLOUTS, WORKFLOWS, read_table
from components.workflow.buffer.store import FOLDER, read_folder

SCRIPT = Path(__file__).with_name("workflow_training.py")


def said(prompt: str) -> Reply:
    """Right, but for one instruction; the problem has its number twice."""
    number = next(int(word) for word in prompt.split() if word.isdigit())
    return f"\\boxed{{{2 * number + ('Err.' in prompt)}}}"


@contextlib.contextmanager
def served(model: Model) -> Iterator[str]:
    loop, over, urls = asyncio.new_event_loop(), asyncio.Event(), concurrent.futures.Future[str]()

    async def serve() -> None:
        async with model.serve() as url:
            urls.set_result(url)
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    try:
        yield urls.result(30)
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(30)
        loop.close()


def begun(state: Path, url: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "GAVEL_STATE": str(state), "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), url], env=environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def wait_for_checkpoint(state: Path, process: subprocess.Popen[str], seconds: float) -> bool:
    """Whether the first step's checkpoint appears before the training is over."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        if list(state.glob("work/*/train-grpo/*/checkpoints/latest_checkpointed_iteration.txt")):
            return True
        time.sleep(0.2)
    return False


@pytest.mark.suites
@pytest.mark.verl
@pytest.mark.slow
def test_a_killed_training_of_workflows_goes_on_and_tells_every_end(tmp_path: Path) -> None:
    with served(Model(by=said)) as url:
        first = begun(tmp_path, url)
        killed = wait_for_checkpoint(tmp_path, first, 900)
        if killed:
            os.killpg(first.pid, signal.SIGKILL)
            first.wait()
        second = begun(tmp_path, url)
        output, _ = second.communicate(timeout=900)
        assert second.returncode == 0, output[-3000:]
    published = Path(output.strip().rsplit("published file://", 1)[1])
    rollouts = read_table(published / "rollouts.parquet", ROLLOUTS).to_pylist()
    assert Counter(row["step"] for row in rollouts) == {1: 12, 2: 12}
    by_reason = Counter(row["reason"] for row in rollouts)
    assert by_reason.keys() <= {None, "failed:exception", "invalid:missing_await", "invalid:no_code", "invalid:empty"}
    assert all(row["status"] == "scored" for row in rollouts)
    assert all((row["reason"] is None) == (row["reward"] > -1) for row in rollouts)
    assert by_reason[None] > 0
    assert len(by_reason) > 1
    table = read_table(published / "workflows.parquet", WORKFLOWS).to_pylist()
    assert {row["sample_id"]: row["reward"] for row in table} == {row["sample_id"]: row["reward"] for row in rollouts}
    assert {"answered", "failed"} <= {row["status"] for row in table}
    metrics = read_table(published / "metrics.parquet", METRICS).to_pylist()
    assert {row["step"] for row in metrics} == {1, 2}
    # Right ones of the first step are examples of the second, in one prompt a group.
    right = {row["row_id"] for row in table if row["right"]}
    entries = read_folder(published / FOLDER).entries
    # Whatever it solved, it is one program.
    assert len(entries) == min(1, len(right))
    assert {entry.problem_id for entry in entries} <= right
    shown: dict[tuple[int, str], set[float]] = {}
    for row in rollouts:
        shown.setdefault((row["step"], row["row_id"]), set()).add(json.loads(row["parts"])["examples"])
    assert all(len(each) == 1 for each in shown.values())
    assert all(each == {0.0} for (step, _), each in shown.items() if step == 1)
    if killed:
        assert {row["attempt"] for row in rollouts if row["step"] == 2} == {2}
