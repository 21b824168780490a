"""``python -m components.judge parse``."""

import json
from pathlib import Path

import pytest

from components.judge.parsing.cli import main


def test_one_line_out_for_every_line_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "replies.jsonl"
    lines = [
        {"id": "a", "reply": 'Sure: {"1": "PRESENT", "2": "NOT_PRESENT"}', "criteria": 2},
        {"id": 7, "reply": '{"c1": "met"}', "criteria": 2},
        {"id": "cut", "reply": '{"c1": "met"} but then', "criteria": 1, "finish": "length"},
        {"id": "nothing", "reply": None, "criteria": 1},
    ]
    file.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n", encoding="utf-8")
    assert main([str(file)]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"id": "a", "verdicts": ["met", "unmet"], "reasons": [None, None]},
        {"id": 7, "verdicts": ["met", "unknown"], "reasons": [None, "missing"]},
        {"id": "cut", "verdicts": ["unknown"], "reasons": ["truncated"]},
        {"id": "nothing", "verdicts": ["unknown"], "reasons": ["empty_reply"]},
    ]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("{", "not JSON"),
        ("[1]", "needs id, reply and criteria"),
        ('{"id": 1, "reply": "x"}', "needs id, reply and criteria"),
        ('{"id": "r9", "reply": 5, "criteria": 1}', "row r9"),
        ('{"id": "r9", "reply": "x", "criteria": 0}', "row r9: criteria is 0"),
        ('{"id": "r9", "reply": "x", "criteria": true}', "row r9: criteria is True"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, named: str) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text('{"id": 0, "reply": "{}", "criteria": 1}\n' + line + "\n")
    assert main([str(file)]) == 2
    error = capsys.readouterr().err
    assert named in error
    assert "line 2" in error


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.jsonl")]) == 2
    assert "none.jsonl" in capsys.readouterr().err
