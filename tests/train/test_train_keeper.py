"""Checkpoints in the store: as they appear, complete or not at all, pruned, and brought back."""

import io
import json
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from components.core.errors import StorageError
from components.core.progress import Progress
from components.core.spec.workflow_buffer import BufferSpec
from components.core.store import Store
from components.engine.checkpoints import MARK, prepare_resume, whole_steps
from components.train.keeper import CheckpointKeeper
from components.workflow.buffer.buffer import ExperienceBuffer, Offered
from components.workflow.buffer.entry import Entry, Forbidden
from components.workflow.reward import WorkflowReward
from components.workflow.types import Problem

PLACE = "tiny/train-grpo/abc"


class Training:
    """A work folder as training fills it."""

    def __init__(self, work: Path) -> None:
        self.work = work
        work.mkdir(parents=True, exist_ok=True)

    def checkpoint(self, step: int, *, whole: bool = True) -> None:
        folder = self.work / "checkpoints" / f"global_step_{step}"
        (folder / "actor").mkdir(parents=True, exist_ok=True)
        (folder / "actor" / "model.pt").write_bytes(f"weights {step}".encode() * 100)
        (folder / "actor" / "optim.pt").write_bytes(f"momentum {step}".encode() * 100)
        if whole:
            (folder / MARK).write_text("{}")

    def rollout(self, step: int) -> None:
        with sqlite3.connect(self.work / "rollouts.sqlite") as db:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("CREATE TABLE IF NOT EXISTS rollouts (step)")
            db.execute("INSERT INTO rollouts VALUES (?)", (step,))
        db.close()
        lines = (json.dumps({"step": number, "data": {}}) for number in range(1, step + 1))
        (self.work / "metrics-1.jsonl").write_text("\n".join(lines) + "\n")

    def rollouts(self) -> list[int]:
        with sqlite3.connect(self.work / "rollouts.sqlite") as db:
            return [row[0] for row in db.execute("SELECT step FROM rollouts ORDER BY step")]


def keeper(store: Store, training: Training, stream: Any = None, keep: int = 1) -> CheckpointKeeper:
    progress = Progress("t", stream=stream or io.StringIO())
    return CheckpointKeeper(store, PLACE, training.work, keep=keep, last=9, progress=progress, poll=0.02)


def wait_for(what: Callable[[], Any]) -> None:
    end = time.monotonic() + 10
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open((tmp_path / "store").as_uri())


def test_they_reach_the_store_as_they_appear_and_old_ones_go(store: Store, tmp_path: Path) -> None:
    training = Training(tmp_path / "a")
    kept = keeper(store, training, keep=2)
    kept.start()
    for step in (1, 2, 3):
        training.rollout(step)
        training.checkpoint(step)
        wait_for(lambda step=step: step in kept.stored())
    kept.finish(10)
    assert kept.stored() == [2, 3]
    assert not [entry for entry in store.list(PLACE) if "global_step_1/" in entry.key]


def test_half_a_checkpoint_is_none(store: Store, tmp_path: Path) -> None:
    training = Training(tmp_path / "a")
    training.checkpoint(1, whole=False)
    kept = keeper(store, training)
    kept.start()
    time.sleep(0.2)
    kept.finish(10)
    assert store.list(PLACE) == []
    # And one whose manifest is not there yet is not taken back.
    store.write_bytes(f"{PLACE}/checkpoints/global_step_1/checkpoint/actor/model.pt", b"half")
    other = Training(tmp_path / "b")
    assert keeper(store, other).restore() == 0
    assert whole_steps(other.work / "checkpoints") == []


def test_a_start_with_an_empty_disk_goes_on_where_the_store_is(store: Store, tmp_path: Path) -> None:
    training = Training(tmp_path / "a")
    for step in (1, 2):
        training.rollout(step)
    training.checkpoint(2)
    kept = keeper(store, training)
    kept.start()
    wait_for(lambda: kept.stored() == [2])
    # Later rollouts are no part of it.
    training.rollout(3)
    kept.finish(10)
    other = Training(tmp_path / "b")
    assert keeper(store, other).restore() == 2
    assert prepare_resume(other.work / "checkpoints") == 2
    assert other.rollouts() == [1, 2]
    assert [json.loads(line)["step"] for line in (other.work / "metrics-1.jsonl").read_text().splitlines()] == [1, 2]
    weights = other.work / "checkpoints/global_step_2/actor/model.pt"
    assert weights.read_bytes() == b"weights 2" * 100
    assert sorted(path.name for path in other.work.iterdir()) == ["checkpoints", "metrics-1.jsonl", "rollouts.sqlite"]


def test_the_experience_buffer_goes_with_a_checkpoint(store: Store, tmp_path: Path) -> None:
    """As it was at one moment, though it is open and written to; what came after the checkpoint is forgotten."""
    training = Training(tmp_path / "a")
    parts = BufferSpec(), (-1.0, 1.0), Forbidden(), Lengths()
    with ExperienceBuffer(training.work, *parts) as buffer:
        for step in (1, 2, 3):
            training.rollout(step)
            assert buffer.offer(right(step)) is Offered.KEPT
        training.checkpoint(2)
        kept = keeper(store, training)
        kept.start()
        wait_for(lambda: kept.stored() == [2])
        buffer.offer(right(4))
        kept.finish(10)
        wanted = buffer.similar("a problem", "math", step=3)
    other = Training(tmp_path / "b")
    assert keeper(store, other).restore() == 2
    with ExperienceBuffer(other.work, *parts) as buffer:
        assert buffer.forget_after(2) == 1
        assert [each.step for each in buffer.entries()] == [1, 2]
        assert buffer.similar("a problem", "math", step=3) == wanted


class Lengths:
    """Directions by the length of a text."""

    name = version = "lengths"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        rows = np.array([[len(text), 10.0] for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def right(step: int) -> Entry:
    problem = Problem("math", "gsm8k", "one more" * step, None, None)
    reward = WorkflowReward("scored", 1 - step / 100, {}, True, None)
    return Entry.of(f"row {step}", problem, f"x = {step}", reward, judge="gold", executor="e", step=step)


FOREIGN = ("global_step_x", "global_step_", "global_step_-1", "global_step_02", "global_step_\u0663", "notes")


def test_what_is_no_checkpoint_of_ours_is_told_and_left(store: Store, tmp_path: Path) -> None:
    training = Training(tmp_path / "a")
    for name in FOREIGN:
        store.write_bytes(f"{PLACE}/checkpoints/{name}/manifest.json", b"{}")
    stream = io.StringIO()
    kept = keeper(store, training, stream)
    assert kept.restore() == 0
    kept.start()
    for step in (1, 2):
        training.checkpoint(step)
        wait_for(lambda step=step: step in kept.stored())
    kept.finish(10)
    assert kept.stored() == [2]
    said = stream.getvalue()
    for name in FOREIGN:
        assert store.exists(f"{PLACE}/checkpoints/{name}/manifest.json")
        assert said.count(f"checkpoints/{name} in the store is no checkpoint of ours") == 1
    other = Training(tmp_path / "b")
    assert keeper(store, other).restore() == 2


def test_what_the_disk_has_comes_before_what_the_store_has(store: Store, tmp_path: Path) -> None:
    training = Training(tmp_path / "a")
    training.checkpoint(2)
    kept = keeper(store, training)
    kept.start()
    kept.finish(10)
    other = Training(tmp_path / "b")
    other.checkpoint(1)
    assert keeper(store, other).restore() == 0
    assert whole_steps(other.work / "checkpoints") == [1]


def test_a_damaged_one_is_told_and_the_one_before_it_is_taken(store: Store, tmp_path: Path) -> None:
    training = Training(tmp_path / "a")
    kept = keeper(store, training, keep=2)
    kept.start()
    for step in (1, 2):
        training.checkpoint(step)
        wait_for(lambda step=step: step in kept.stored())
    kept.finish(10)
    store.write_bytes(f"{PLACE}/checkpoints/global_step_2/checkpoint/actor/model.pt", b"WEIGHTS 2" * 100)
    stream = io.StringIO()
    other = Training(tmp_path / "b")
    assert keeper(store, other, stream).restore() == 1
    assert "step 2 is damaged: corrupted file" in stream.getvalue()
    assert whole_steps(other.work / "checkpoints") == [1]


class Refusing:
    """A store that takes nothing for a while."""

    def __init__(self, store: Store, times: int) -> None:
        self._store, self.left = store, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def upload(self, *arguments: Any) -> Any:
        if self.left > 0:
            self.left -= 1
            raise StorageError("the store is full")
        return self._store.upload(*arguments)


def test_a_store_that_refuses_is_told_once_and_tried_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("components.train.keeper._FIRST_WAIT", 0.02)
    training = Training(tmp_path / "a")
    training.checkpoint(1)
    stream = io.StringIO()
    kept = keeper(Refusing(store, 3), training, stream)  # type: ignore[arg-type]
    kept.start()
    wait_for(lambda: kept.stored() == [1])
    kept.finish(10)
    assert stream.getvalue().count("step 1 is not in the store yet: the store is full") == 1
    assert kept.trouble == ""


def test_a_newer_one_takes_the_place_of_one_that_could_not_be_sent(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("components.train.keeper._FIRST_WAIT", 0.02)
    training = Training(tmp_path / "a")
    training.checkpoint(1)
    refusing = Refusing(store, 10**6)
    kept = keeper(refusing, training)  # type: ignore[arg-type]
    kept.start()
    wait_for(lambda: kept.trouble)
    training.checkpoint(2)
    refusing.left = 0
    wait_for(lambda: kept.stored() == [2])
    kept.finish(10)


def test_the_last_step_is_published_and_not_sent(store: Store, tmp_path: Path) -> None:
    training = Training(tmp_path / "a")
    training.checkpoint(9)
    kept = keeper(store, training)
    kept.start()
    time.sleep(0.2)
    kept.finish(10)
    assert kept.stored() == []
