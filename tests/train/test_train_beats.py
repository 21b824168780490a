"""The driver's heartbeat: what counts as life, and what it says."""

import io
import json
import time
from pathlib import Path

import pytest

from components.core.progress import Progress
from components.core.store import Store
from components.rayjob import messages
from components.train.beats import Beats

PLACE = "tiny/train-grpo/abc"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open((tmp_path / "store").as_uri())


def beats(store: Store) -> Beats:
    return Beats(store, PLACE, "job-r1", Progress("t", stream=io.StringIO()), seconds=0.02)


def local(work: Path, state: str, step: int = 1, moment: float | None = None) -> None:
    work.mkdir(exist_ok=True)
    beat = {"time": time.time() if moment is None else moment, "pid": 1, "step": step, "state": state, "sample": 0.0}
    (work / "heartbeat.json").write_text(json.dumps(beat))


def test_a_trainer_lives_by_its_files_and_not_by_its_watchers_clock(store: Store, tmp_path: Path) -> None:
    work, found = tmp_path / "work", beats(store)
    work.mkdir()
    found.watch(work)
    local(work, "training", 3)
    (work / "trainer.log").write_text("a")
    first = found.beat()
    local(work, "training", 3)
    assert found.beat().sequence == first.sequence
    (work / "trainer.log").write_text("ab")
    third = found.beat()
    assert third.sequence == first.sequence + 1
    assert (third.state, third.step, third.attempt) == ("training", 3, "job-r1")


def test_before_and_after_the_trainer_time_is_life_enough(store: Store, tmp_path: Path) -> None:
    work, found = tmp_path / "work", beats(store)
    # Of an earlier attempt.
    local(work, "training", 7, moment=1.0)
    found.watch(work)
    first, second = found.beat(), found.beat()
    assert (first.state, first.step) == ("starting", 0)
    assert second.sequence > first.sequence
    found.publishing()
    third = found.beat()
    assert (third.state, third.sequence > second.sequence) == ("publishing", True)


def test_waiting_for_the_judge_and_saving_are_told(store: Store, tmp_path: Path) -> None:
    work, found = tmp_path / "work", beats(store)
    work.mkdir()
    found.watch(work)
    local(work, "paused", 2)
    assert found.beat().state == "waiting-for-judge"
    local(work, "training", 2)
    folder = work / "checkpoints/global_step_2"
    folder.mkdir(parents=True)
    (folder / "model.pt").write_bytes(b"1")
    saving = found.beat()
    assert saving.state == "saving"
    (folder / "model.pt").write_bytes(b"12")
    assert found.beat().sequence == saving.sequence + 1
    (folder / "gavel-complete.json").write_text("{}")
    assert found.beat().state == "training"
    local(work, "starting", 2)
    assert (found.beat().state, found.beat().note) == ("starting", "verl and Ray")
    local(work, "12 of 16 responses judged", 2)
    assert (found.beat().state, found.beat().note) == ("training", "12 of 16 responses judged")


BROKEN = (
    b"",
    b"{",
    b"\xff",
    b"[" * 100_000,
    b"[]",
    b"null",
    b"{}",
    b'{"time": "late", "step": 3, "state": "training"}',
    b'{"time": [1], "step": 3, "state": "training"}',
    b'{"time": null, "step": 3, "state": "training"}',
    b'{"time": NaN, "step": 3, "state": "training"}',
    b'{"time": 1e999, "step": 3, "state": "training"}',
    b'{"time": 1' + b"0" * 400 + b', "step": 3, "state": "training"}',
    b'{"time": true, "step": 3, "state": "training"}',
    b'{"time": 1, "step": 3.5, "state": "training"}',
    b'{"time": 1, "step": "3", "state": "training"}',
    b'{"time": 1, "step": true, "state": "training"}',
    b'{"time": 1, "step": 3, "state": null}',
    b'{"time": 1, "step": 3}',
)


@pytest.mark.parametrize("content", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_file_of_the_watcher_is_told_and_is_no_hang(store: Store, tmp_path: Path, content: bytes) -> None:
    work, stream = tmp_path / "work", io.StringIO()
    found = Beats(store, PLACE, "job-r1", Progress("t", stream=stream), seconds=0.02)
    work.mkdir()
    found.watch(work)
    local(work, "paused", 3)
    assert found.beat().step == 3
    (work / "heartbeat.json").write_bytes(content)
    first, second = found.beat(), found.beat()
    # A pause that is over by now would else count as one that lasts.
    assert (first.state, first.step) == ("training", 3)
    assert first.note == "the trainer's heartbeat cannot be read"
    assert second.sequence > first.sequence
    assert stream.getvalue().count("the trainer's heartbeat cannot be read") == 1
    assert "heartbeat.json" in stream.getvalue()
    local(work, "training", 4)
    assert (found.beat().step, found.beat().note) == (4, "")


def test_the_thread_outlives_a_broken_file(store: Store, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "heartbeat.json").write_text('{"time": "late", "step": {}, "state": 1}')
    found = beats(store)
    found.watch(work)
    with found:
        end = time.monotonic() + 10
        while (seen := messages.read_heartbeat(store, PLACE)) is None or seen.sequence < 3:
            assert time.monotonic() < end
            time.sleep(0.01)
    assert seen.note == "the trainer's heartbeat cannot be read"


def test_it_reaches_the_store_until_the_block_ends(store: Store) -> None:
    with beats(store):
        end = time.monotonic() + 10
        while (seen := messages.read_heartbeat(store, PLACE)) is None or seen.sequence < 3:
            assert time.monotonic() < end
            time.sleep(0.01)
    last = messages.read_heartbeat(store, PLACE)
    time.sleep(0.1)
    assert messages.read_heartbeat(store, PLACE) == last
    with beats(store):
        time.sleep(0.1)
    again = messages.read_heartbeat(store, PLACE)
    assert last is not None
    assert again is not None
    # Another start is told apart, although it counts anew.
    assert again.start != last.start
