"""The command ``python -m components.reward rubric``: worked rows, abstaining, and input that defines no reward."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from components.reward.__main__ import main

RUBRIC = [{"text": "a", "points": 5}, {"text": "b", "points": 3}, {"text": "c", "points": 2}]


def row(verdicts: list[Any], *penalties: float, **changes: Any) -> dict[str, Any]:
    criteria = [*RUBRIC, *({"text": f"penalty {number}", "points": points} for number, points in enumerate(penalties))]
    return {"id": "r1", "criteria": criteria, "verdicts": verdicts} | changes


def run(tmp_path: Path, *rows: Any, options: tuple[str, ...] = ()) -> tuple[int, list[dict[str, Any]], str]:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in rows))
    done = subprocess.run(
        [sys.executable, "-m", "components.reward", "rubric", str(file), *options],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def printed(capsys: pytest.CaptureFixture[str], tmp_path: Path, *rows: Any, options: tuple[str, ...] = ()) -> Any:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in rows))
    status = main(["rubric", str(file), *options])
    captured = capsys.readouterr()
    return status, [json.loads(line) for line in captured.out.splitlines()], captured.err


def test_the_module_is_a_command(tmp_path: Path):
    # (5 + 3 - 4) / 10, by hand.
    status, lines, errors = run(tmp_path, row(["met", "met", "unmet", "met"], -4))
    assert (status, errors) == (0, "")
    assert lines == [{"id": "r1", "clipped": 0.4, "unclipped": 0.4, "status": "scored", "known_weight": 1.0}]


@pytest.mark.parametrize(
    ("given", "clipped", "unclipped", "known"),
    [
        # (5 + 3 - 10) / 10
        (row(["met", "met", "unmet", "met"], -10), 0.0, -0.2, 1.0),
        # 5 / (5 + 3): the unknown one leaves both sums
        (row(["met", "unmet", "unknown"]), 0.625, 0.625, 0.8),
        # (5 x 0.5 + 3 x 1 + 2 x 0.25) / 10
        (row([0.5, 1, 0.25]), 0.6, 0.6, 1.0),
        (row(["unmet", "unmet", "unmet"]), 0.0, 0.0, 1.0),
    ],
)
def test_worked_rows(capsys: Any, tmp_path: Path, given: Any, clipped: float, unclipped: float, known: float):
    _, (line,), _ = printed(capsys, tmp_path, given)
    assert line["status"] == "scored"
    assert line["clipped"] == pytest.approx(clipped)
    assert line["unclipped"] == pytest.approx(unclipped)
    assert line["known_weight"] == pytest.approx(known)


@pytest.mark.parametrize(
    ("given", "known"),
    [
        (row(["unknown", "met", "met"]), 0.5),
        (row(["unknown"] * 3), 0.0),
        (row(["met", "met", "met", "unknown"], -1), 1.0),
    ],
)
def test_what_is_not_known_is_no_number(capsys: Any, tmp_path: Path, given: Any, known: float):
    status, (line,), _ = printed(capsys, tmp_path, given)
    assert status == 0
    expected = {"id": "r1", "clipped": None, "unclipped": None, "status": "abstained", "known_weight": known}
    assert line == pytest.approx(expected)


def test_options(capsys: Any, tmp_path: Path):
    half = row(["unknown", "met", 0.75])
    _, (line,), _ = printed(capsys, tmp_path, half, options=("--min-known-weight", "0.5"))
    assert line["clipped"] == pytest.approx((3 + 2 * 0.75) / 5)
    _, (line,), _ = printed(capsys, tmp_path, half, options=("--min-known-weight", "0.5", "--value", "binary"))
    assert line["clipped"] == 1.0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (row([], criteria=[]), "the rubric is empty"),
        (row(["met"] * 2, criteria=[{"text": "a", "points": 1}, {"text": "a", "points": 2}]), "criterion twice: 'a'"),
        (row(["met"], criteria=[{"text": "a", "points": -1}]), "no positive points"),
        (row(["met"]), "1 verdicts for 3 criteria"),
        (row(["met", "met", "PRESENT"]), "'PRESENT' is no verdict"),
        (row(["met", "met", None]), "None is no verdict"),
        (row(["met", "met", -1]), "-1 is no verdict"),
        (row(["met", "met", True]), "True is no verdict"),
        (row(["met", "met", 1.5]), "1.5 is no verdict"),
        (row(["met"], criteria=[{"text": "a", "points": 0}]), "not zero"),
        (row(["met"], criteria=[{"text": "a", "points": None}]), "points must be a number, got None"),
        (row(["met"], criteria=[{"text": " ", "points": 1}]), "needs a text"),
        (row(["met"] * 2, criteria=[{"text": t, "points": 1e308} for t in "ab"]), "too large"),
        (
            row(["met"] * 2, criteria=[{"text": "a", "points": 5e-324}, {"text": "b", "points": -1e308}]),
            "too different in size",
        ),
    ],
)
def test_bad_rows_are_named_with_line_and_id(capsys: Any, tmp_path: Path, given: dict[str, Any], told: str):
    good = row(["met"] * 3, id="good")
    status, lines, errors = printed(capsys, tmp_path, good, given | {"id": "bad-7"}, good)
    assert status == 1
    assert [line["id"] for line in lines] == ["good", "good"]
    assert told in errors
    assert "line 2, id 'bad-7'" in errors
    assert "remedy:" in errors or "verdicts for" in errors


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("{", "no JSON"),
        ("[1]", "no JSON object"),
        ('{"criteria": [], "verdicts": []}', "'id' must be"),
        ('{"id": 3, "criteria": "x", "verdicts": []}', "'criteria' must be a list"),
        ("[" * 100_000, "no JSON"),
        ('{"id": 1, "criteria": [{"text": "a", "points": NaN}], "verdicts": ["met"]}', "finite"),
    ],
)
def test_lines_that_are_no_rows(capsys: Any, tmp_path: Path, given: str, told: str):
    status, lines, errors = printed(capsys, tmp_path, given)
    assert (status, lines) == (1, [])
    assert told in errors
    assert "line 1" in errors


def test_a_missing_file_and_bytes_that_are_no_text(capsys: Any, tmp_path: Path):
    assert main(["rubric", str(tmp_path / "none.jsonl")]) == 1
    assert "No such file" in capsys.readouterr().err
    (tmp_path / "latin.jsonl").write_bytes(b'{"id": "\xe9"}')
    assert main(["rubric", str(tmp_path / "latin.jsonl")]) == 1
    assert "not UTF-8" in capsys.readouterr().err


def test_separators_inside_texts_and_marks_in_front_do_not_split_lines(capsys: Any, tmp_path: Path):
    text = "﻿" + json.dumps(row(["met"] * 3, id="a\u2028b"), ensure_ascii=False) + "\r\n\r\n"
    (tmp_path / "rows.jsonl").write_bytes(text.encode())
    assert main(["rubric", str(tmp_path / "rows.jsonl")]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "a\u2028b"
