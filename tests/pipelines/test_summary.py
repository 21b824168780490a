"""The table at the end of a run."""

from components.core.step.runlog import StepLine
from pipelines.summary import summary_table

LINES = [
    StepLine("prepare-data", "reused", "i1", 0.4, uri="file:///s/a"),
    StepLine("train-grpo", "failed", "i2", 75.0, error="the trainer failed"),
]


def test_every_step_has_a_row_and_those_not_reached_say_so():
    rows = summary_table(LINES, ("prepare-data", "train-grpo", "report"), seconds=80, peak_bytes=3 * 1024**3)
    lines = rows.splitlines()
    assert lines[3].split() == ["prepare-data", "reused", "0:00", "file:///s/a"]
    assert lines[4].split(maxsplit=3) == ["train-grpo", "failed", "1:15", "the trainer failed"]
    assert lines[5].split() == ["report", "not", "reached"]
    assert lines[6] == "all: 1:20, peak memory 3.0 GiB"


def test_an_unknown_memory_is_left_out():
    assert summary_table([], (), seconds=1, peak_bytes=0).splitlines()[-1] == "all: 0:01"
