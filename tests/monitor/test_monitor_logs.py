"""Reading what a training writes, without ever being in its way."""

import sqlite3
from pathlib import Path

import pytest
from training_files import ANSWERS, Work, experiment, invalid, right, workflow, wrong

from components.monitor.buffer_fill import fill_of_work
from components.monitor.logs import Logs, reading
from components.monitor.work import WorkFolder
from components.workflow.buffer.database import FILE


@pytest.fixture
def work(tmp_path: Path) -> Work:
    found = Work(tmp_path, experiment())
    found.begin()
    return found


def test_responses_come_with_their_domain_and_what_became_of_their_workflow(work: Work) -> None:
    work.answer(*ANSWERS)
    found = WorkFolder(work.folder).look()
    assert [(each.row_id, each.dataset, each.domain) for each in found.samples[:3]] == [
        ("m1", "gsm8k", "math"),
        ("m1", "gsm8k", "math"),
        ("q1", "squad2", "qa"),
    ]
    first, second = found.samples[0], found.samples[1]
    assert (first.right, first.valid, first.reward) == (1.0, 1.0, pytest.approx(0.9))
    assert first.outcome is not None
    assert (first.outcome.operators, first.outcome.tokens) == (("Custom",), 100)
    assert (second.right, second.valid) == (0.0, 0.0)
    assert found.samples[6].right is None
    assert found.notes == []


def test_what_is_added_between_two_looks_is_read_and_nothing_twice(work: Work) -> None:
    watched = WorkFolder(work.folder)
    work.answer(*ANSWERS[:3])
    assert len(watched.look().samples) == 3
    assert len(watched.look().samples) == 3
    work.answer(*ANSWERS[3:])
    assert len(watched.look().samples) == 8


def test_a_workflow_that_was_tried_again_counts_by_its_newest_try(work: Work) -> None:
    logs = Logs(work.folder)
    work.answer(invalid(1, "m1", 0))
    assert logs.read()[1]["1-1-m1-0"]["status"] == "invalid"
    assert work.workflows is not None
    # Its row was the last one, so that the new one gets the same number.
    work.workflows.append(workflow(right(1, "m1", 0)))
    assert logs.read()[1]["1-1-m1-0"]["status"] == "answered"
    work.answer(wrong(1, "m1", 1))
    work.workflows.append(workflow(invalid(1, "m1", 0)))
    assert [logs.read()[1][f"1-1-m1-{index}"]["status"] for index in (0, 1)] == ["invalid", "answered"]


def test_steps_that_a_resumed_run_does_again_do_not_count_twice(work: Work) -> None:
    work.answer(right(1, "m1", 0), right(2, "m1", 0), right(3, "m1", 0))
    work.metrics(1)
    work.metrics(2)
    watched = WorkFolder(work.folder)
    assert sorted(watched.look().metrics) == [1, 2]
    attempt = work.begin(resumed_from=1)
    found = watched.look()
    assert [sample.step for sample in found.samples] == [1]
    assert sorted(found.metrics) == [1]
    work.answer(wrong(2, "m1", 0), attempt=attempt)
    work.metrics(2, attempt=attempt)
    found = watched.look()
    assert [(sample.step, sample.reward) for sample in found.samples] == [
        (1, pytest.approx(0.9)),
        (2, pytest.approx(-0.6)),
    ]
    assert sorted(found.metrics) == [1, 2]


def test_a_database_that_was_replaced_is_read_anew(work: Work) -> None:
    work.answer(right(1, "m1", 0), right(1, "m1", 1))
    watched = WorkFolder(work.folder)
    assert len(watched.look().samples) == 2
    work.log.close()
    for path in work.folder.glob("rollouts.sqlite*"):
        path.unlink()
    assert len(watched.look().samples) == 0


def test_an_open_reader_keeps_no_writer_waiting(work: Work) -> None:
    work.answer(right(1, "m1", 0))
    writer = sqlite3.connect(work.folder / "rollouts.sqlite", timeout=0)
    with reading(work.folder / "rollouts.sqlite") as reader:
        rows = reader.execute("SELECT sample_id FROM rollouts")
        # In the midst of a look.
        assert rows.fetchone() is not None
        with writer:
            writer.execute("INSERT INTO attempts (resumed_from) VALUES (7)")
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.execute("DELETE FROM rollouts")
    writer.close()


def test_a_writer_keeps_no_reader_waiting(work: Work) -> None:
    work.answer(right(1, "m1", 0))
    writer = sqlite3.connect(work.folder / "rollouts.sqlite", timeout=0, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("DELETE FROM rollouts")
    assert len(WorkFolder(work.folder).look().samples) == 1
    writer.execute("ROLLBACK")
    writer.close()


def test_nothing_is_read_of_a_folder_without_logs(tmp_path: Path) -> None:
    found = WorkFolder(tmp_path / "work" / "x" / "train-grpo" / "1").look()
    assert (found.samples, found.metrics, found.buffer) == ([], {}, None)


def test_a_buffer_is_counted_by_different_workflows_up_to_its_capacity(work: Work) -> None:
    work.buffer(("math", "a"), ("math", "a"), ("math", "b"), ("math", "c"), ("qa", "a"))
    assert fill_of_work(work.folder, 100) == {"math": 3, "qa": 1}
    assert fill_of_work(work.folder, 2) == {"math": 2, "qa": 1}


def test_the_buffer_is_counted_without_a_lock_while_somebody_writes(work: Work) -> None:
    work.buffer(("math", "a"))
    watched = WorkFolder(work.folder)
    assert watched.look().buffer == {"math": 1}
    writer = sqlite3.connect(work.folder / FILE, timeout=0, isolation_level=None)
    # Readers by SQLite would be refused now.
    writer.execute("BEGIN EXCLUSIVE")
    writer.execute("DELETE FROM entries")
    assert watched.look().buffer == {"math": 1}
    writer.execute("COMMIT")
    assert fill_of_work(work.folder, 100) == {}
    assert watched.look().buffer == {}
    writer.close()
