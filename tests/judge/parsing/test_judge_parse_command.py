"""``python -m components.judge parse``."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from components.judge.parsing.cli import main

ROOT = Path(__file__).parents[3]


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
        ('{"id": "r9", "reply": "x", "criteria": -3}', "row r9: criteria is -3"),
        ('{"id": "r9", "reply": "x", "criteria": []}', "row r9: criteria is 0"),
        ('{"id": "r9", "reply": "x", "criteria": 2.5}', "row r9: criteria is 2.5"),
        ('{"id": "r9", "reply": "x", "criteria": 1000000000}', "from 1 to 10000"),
        ('{"id": "r9", "reply": "x", "criteria": 1' + "0" * 4000 + "}", "row r9: criteria is enormous"),
        ('{"id": "r9", "reply": "x", "criteria": 1' + "0" * 6000 + "}", "not JSON"),
        ('{"id": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, named: str) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text('{"id": 0, "reply": "{}", "criteria": 1}\n' + line + "\n")
    assert main([str(file)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert named in error
    assert "line 2" in error


@pytest.mark.parametrize("content", ["", "\n \n\t\n", "\ufeff"])
def test_a_file_without_lines_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str) -> None:
    file = tmp_path / "empty.jsonl"
    file.write_text(content, encoding="utf-8")
    assert main([str(file)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("error: ")
    assert "no lines" in told.err
    assert "empty.jsonl" in told.err


def test_strange_text_is_read(tmp_path: Path) -> None:
    """In a process of its own, whose output has to be encoded."""
    file = tmp_path / "replies.jsonl"
    lines = [
        r'{"id": "\ud800", "reply": "{\"c1\": \"met\", \"note\": \"\udfff\"}", "criteria": 1}',
        json.dumps({"id": "deep", "reply": "[" * 100_000 + "]" * 100_000, "criteria": 1}),
        json.dumps({"id": "mark", "reply": "\ufeff{}", "criteria": ["a", "b"]}),
    ]
    file.write_text("\ufeff" + "\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "components.judge", "parse"]
    done = subprocess.run([*command, str(file)], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()] == [
        {"id": "\ud800", "verdicts": ["met"], "reasons": [None]},
        {"id": "deep", "verdicts": ["unknown"], "reasons": ["unparseable"]},
        {"id": "mark", "verdicts": ["unknown"] * 2, "reasons": ["unparseable"] * 2},
    ]
    piped = subprocess.run([*command, "-"], cwd=ROOT, capture_output=True, check=False, input=file.read_bytes())
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, done.stdout, b"")
    nothing = subprocess.run([*command, "-"], cwd=ROOT, capture_output=True, check=False, input=b"\xff\xfe")
    assert nothing.returncode == 2
    assert nothing.stderr.startswith(b"error: ")
    assert b"Traceback" not in nothing.stderr


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.jsonl")]) == 2
    assert "none.jsonl" in capsys.readouterr().err
