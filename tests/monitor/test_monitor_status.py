"""How a run stands is told as it is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from training_files import Work, experiment, right

from components.core.services.process import ProcessId
from components.monitor.status import Kind, Stand
from components.monitor.work import WorkFolder
from components.reward.abstain_guard import PAUSED


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path, experiment())


def gone() -> str:
    """A process that lived."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = str(ProcessId.of(child.pid))
    child.kill()
    child.communicate()
    return process


def stand(work: Work) -> Stand:
    return WorkFolder(work.folder).look().stand


def test_the_policy_is_made_ready_before_the_trainer_starts(work: Work) -> None:
    work.signed_by()
    assert stand(work).kind is Kind.PREPARING


def test_a_heartbeat_is_a_sign_of_life(work: Work) -> None:
    work.signed_by()
    work.begin()
    work.beat(1, "starting")
    assert stand(work).kind is Kind.PREPARING
    work.beat(2, "training")
    assert stand(work) == Stand(Kind.TRAINING, 2)
    work.beat(2, "3 of 16 responses judged")
    assert stand(work) == Stand(Kind.TRAINING, 2, "3 of 16 responses judged")


def test_a_run_that_waits_for_its_judge_is_paused_with_the_reason(work: Work) -> None:
    work.signed_by()
    work.begin()
    work.beat(2, "paused")
    (work.folder / PAUSED).write_text("the executor is away\n")
    assert stand(work) == Stand(Kind.PAUSED, 2, "the executor is away")
    assert not stand(work).over


def test_a_killed_run_is_stopped_and_says_where_it_goes_on(work: Work) -> None:
    work.begin()
    work.signed_by(gone())
    work.beat(3, age=60)
    work.metrics(1)
    found = stand(work)
    assert (found.kind, found.step) == (Kind.STOPPED, 1)
    assert "from the start" in found.detail
    checkpoint = work.folder / "checkpoints" / "global_step_1"
    checkpoint.mkdir(parents=True)
    (checkpoint / "gavel-complete.json").write_text("{}")
    assert "from the checkpoint of step 1" in stand(work).detail
    assert stand(work).over


def test_a_process_that_lives_and_does_not_beat_is_told(work: Work) -> None:
    work.begin()
    work.signed_by()
    work.beat(2, age=90)
    found = stand(work)
    assert (found.kind, found.over) == (Kind.SILENT, False)
    assert "1:30" in found.detail


def test_a_run_that_its_judge_ended_has_failed_with_the_words(work: Work) -> None:
    work.begin()
    (work.folder / "fatal.json").write_text(json.dumps({"what": "the key is wrong", "where": "x", "remedy": "mend it"}))
    work.signed_by(gone())
    assert stand(work) == Stand(Kind.FAILED, 0, "the key is wrong mend it")


def test_a_run_at_its_last_step_is_trained_until_it_is_published(work: Work) -> None:
    work.begin()
    work.answer(right(1, "m1", 0), right(2, "m1", 0))
    work.metrics(1)
    work.metrics(2)
    work.signed_by()
    work.beat(3, age=60)
    # tiny_workflow has two steps.
    assert stand(work) == Stand(Kind.TRAINED, 2)
    work.signed_by(gone())
    assert stand(work).kind is Kind.STOPPED


@pytest.mark.parametrize("text", ["", "null", "{", '{"time": "now"}'])
def test_a_heartbeat_that_cannot_be_read_is_none(work: Work, text: str) -> None:
    work.begin()
    work.signed_by(gone())
    (work.folder / "heartbeat.json").write_text(text)
    assert stand(work).kind is Kind.STOPPED
