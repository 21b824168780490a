"""What the command makes of the places that people name."""

import subprocess
import sys
from pathlib import Path

import pytest

from components.judge.__main__ import main
from components.judge.memory import Entry, Ledger
from components.judge.verdict import Criterion, Sample, UnknownReason, Verdict, VerdictStatus

SAMPLE = Sample("row", "s7", "q", "A cat.", (Criterion("mentions an animal"),))


def fill(path: Path, name: str = "j") -> None:
    path.parent.mkdir(parents=True)
    verdict = Verdict(VerdictStatus.UNKNOWN, None, None, UnknownReason.UNPARSEABLE, name, "rubric/1", 2)
    with Ledger(path) as ledger:
        row = Entry.of(SAMPLE, 0, verdict, seconds=0.1, prompt_tokens=3)
        ledger.add([row], raw=b"It is fine, I think.", detail="criterion 1: the reply came and is unparseable")


def test_a_folder_of_work_holds_its_ledgers_somewhere_below(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(tmp_path / "work" / "train-grpo" / "aa" / "ledger.sqlite", "one")
    fill(tmp_path / "work" / "score" / "bb" / "ledger.sqlite", "other")
    assert main(["ledger", str(tmp_path / "work")]) == 0
    told = capsys.readouterr().out
    assert "one" in told
    assert "other" in told
    (tmp_path / "empty").mkdir()
    assert main(["ledger", str(tmp_path / "empty")]) == 1
    assert "STATE/work/EXPERIMENT/STEP" in capsys.readouterr().err


def test_failures_are_shown_with_what_the_judge_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(tmp_path / "w" / "ledger.sqlite")
    assert main(["ledger", str(tmp_path / "w"), "--failures", "--parquet", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().out
    assert "s7: criterion 1: the reply came and is unparseable" in told
    assert "it said: 'It is fine, I think.'" in told
    assert {each.name for each in (tmp_path / "out").iterdir()} == {
        "verdicts.parquet",
        "calls.parquet",
        "failures.parquet",
    }


def test_a_published_table_is_not_told_to_be_moved_away(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "calls.parquet"
    path.write_bytes(b"PAR1 and so on")
    assert main(["ledger", str(path)]) == 1
    told = capsys.readouterr().err
    assert "STORE/EXPERIMENT" in told
    assert "move" not in told


def test_a_reader_who_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    fill(tmp_path / "w" / "ledger.sqlite")
    command = [sys.executable, "-m", "components.judge", "ledger", str(tmp_path / "w"), "--failures"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.close()
    assert child.stderr is not None
    assert child.stderr.read() == b""
    assert child.wait(60) == 0
