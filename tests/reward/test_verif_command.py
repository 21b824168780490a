"""The command ``python -m components.reward verif``, and what both commands take for granted or refuse."""

import json
from pathlib import Path
from typing import Any

import pytest

from components.reward.__main__ import main

SOFT, HARD = {"text": "is polite"}, {"text": "at most 50 words", "verifier": "rule"}
HARDER = {"text": "no comma", "verifier": "rule"}


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    def run(command: str, *rows: dict[str, Any], options: tuple[str, ...] = ()) -> tuple[int, list[Any], str]:
        file = tmp_path / "rows.jsonl"
        file.write_text("".join(json.dumps({"id": "r"} | each) + "\n" for each in rows))
        status = main([command, str(file), *options])
        captured = capsys.readouterr()
        return status, [json.loads(line) for line in captured.out.splitlines()], captured.err

    return run


@pytest.mark.parametrize(
    ("criteria", "verdicts", "reward", "rules", "judge"),
    [
        ([HARD, HARDER, SOFT], ["met", "unmet", "met"], 0.5, 0.5, 1.0),
        ([HARD, SOFT, HARDER], ["met", 0.5, "met"], 0.5, 1.0, 0.5),
        ([HARD, HARDER], ["met", "unmet"], 0.5, 0.5, 1.0),
        ([HARD, HARDER], [1, 0.0], 0.5, 0.5, 1.0),
        ([SOFT], ["unmet"], 0.0, 1.0, 0.0),
        # Points weigh what the judge says, and not the checks.
        ([HARD | {"points": 9}, HARDER, SOFT | {"points": 3}, {"text": "b"}], ["met", "unmet", 1, 0], 0.375, 0.5, 0.75),
    ],
)
def test_worked_rows(printed: Any, criteria: Any, verdicts: Any, reward: float, rules: float, judge: float):
    status, lines, errors = printed("verif", {"criteria": criteria, "verdicts": verdicts})
    assert (status, errors) == (0, "")
    assert lines == [{"id": "r", "reward": reward, "rules": rules, "judge": judge, "status": "scored"}]


def test_rules_of_one_text_are_told_apart_by_what_the_line_has_of_them(printed: Any):
    rules = [
        {"text": "short", "verifier": "rule", "rule": {"name": "word_count_range", "max_count": n}} for n in (1, 2)
    ]
    row = {"criteria": [*rules, {"text": "short"}], "verdicts": ["met", "unmet", "met"]}
    status, lines, errors = printed("rubric", row)
    assert (status, errors) == (0, "")
    assert lines[0]["clipped"] == pytest.approx(2 / 3)
    status, _, errors = printed("rubric", row | {"criteria": [rules[0], rules[0], SOFT]})
    assert status == 1
    assert "criterion twice: 'short'" in errors


@pytest.mark.parametrize("verdicts", [["met", "met", "unknown"], ["met", "unknown", "met"]])
def test_what_is_not_known_is_no_number(printed: Any, verdicts: list[str]):
    _, (line,), _ = printed("verif", {"criteria": [HARD, HARDER, SOFT], "verdicts": verdicts})
    assert line == {"id": "r", "reward": None, "rules": None, "judge": None, "status": "abstained"}


def test_options(printed: Any):
    row = {"criteria": [HARD, HARDER, SOFT], "verdicts": ["met", "unknown", 0.75]}
    _, (line,), _ = printed("verif", row, options=("--min-known-weight", "0.5"))
    assert (line["reward"], line["rules"], line["judge"]) == (0.75, 1.0, 0.75)
    _, (line,), _ = printed("verif", row, options=("--min-known-weight", "0.5", "--value", "binary"))
    assert line["reward"] == 1.0


@pytest.mark.parametrize(
    ("command", "row", "told", "remedy"),
    [
        ("verif", {"criteria": [], "verdicts": []}, "neither a rule nor a constraint", "at least one line"),
        ("verif", {"criteria": [SOFT | {"points": -1}], "verdicts": ["met"]}, "is a penalty", "reward.combine: rubric"),
        ("verif", {"criteria": [HARD | {"points": -1}], "verdicts": ["met"]}, "is a penalty", "reward.combine: rubric"),
        ("verif", {"criteria": [HARD, SOFT], "verdicts": ["met"]}, "1 verdicts for 2 criteria", "one verdict a criter"),
        ("rubric", {"criteria": [SOFT], "verdicts": ["met"] * 3}, "3 verdicts for 1 criteria", "one verdict a criter"),
        (
            "verif",
            {"criteria": [SOFT | {"verifier": "code"}], "verdicts": ["met"]},
            "must be llm or rule",
            "as in",
        ),
        ("verif", {"criteria": [SOFT, HARD], "verdicts": ["met", 0.7]}, "0.7 is no verdict of a rule", "met, unmet"),
        ("verif", {"criteria": [HARD, SOFT], "verdicts": [1e-9, 0.5]}, "1e-09 is no verdict of a rule", "met, unmet"),
        ("rubric", {"criteria": [SOFT, HARD], "verdicts": ["met", 0.7]}, "0.7 is no verdict of a rule", "met, unmet"),
        ("rubric", {"criteria": [SOFT | {"point": 2}], "verdicts": ["met"]}, "unknown key 'point'", "as in"),
        ("verif", {"criteria": [SOFT | {"weight": 2}], "verdicts": ["met"]}, "unknown key 'weight'", "as in"),
    ],
)
def test_rows_that_are_refused(printed: Any, command: str, row: Any, told: str, remedy: str):
    good = {"criteria": [SOFT], "verdicts": ["met"]}
    status, lines, errors = printed(command, good, row | {"id": "bad"}, good)
    assert (status, len(lines)) == (1, 2)
    assert told in errors
    assert "line 2, id 'bad'" in errors
    assert remedy in errors.partition("remedy:")[2]


def test_a_line_without_points_has_one(printed: Any):
    _, (line,), _ = printed("rubric", {"criteria": [SOFT, {"text": "b", "points": 3}], "verdicts": ["met", "unmet"]})
    assert line["clipped"] == 0.25


@pytest.mark.parametrize("command", ["rubric", "verif"])
def test_other_keys_of_a_line_are_named_and_passed_over(printed: Any, command: str):
    status, lines, errors = printed(command, {"criteria": [SOFT], "verdicts": ["met"], "note": "mine"})
    assert (status, len(lines)) == (0, 1)
    assert "unknown key 'note'" in errors
    assert "line 1, id 'r'" in errors


def test_lines_of_prepared_rows_can_be_used_as_they_are(printed: Any):
    criterion = HARD | {"points": 1.0, "tags": ["source:a"], "rule": {"name": "python", "function": "x"}}
    for command in ("rubric", "verif"):
        assert printed(command, {"criteria": [criterion], "verdicts": ["met"]})[0] == 0
