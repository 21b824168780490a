import json

import pyarrow.parquet as pq
import pytest

from components.data.__main__ import main
from components.data.rubric_rows import read_rubric_rows
from components.judge.verdict import Criterion

ASKS = "def check_following(instruction, response):\n    return llm_score(instruction, response, 'x')\n"
ROWS = [
    {
        "id": "a",
        "prompt": "Write about a town.",
        "checkers": ["[llm] Content: Name the river of it.", "[rule] Digit: At least 30 words."],
        "functions": [ASKS, "def check_following(instruction, response):\n    raise SystemExit(9)\n"],
    },
    {"id": "b", "prompt": "Say hello.", "checkers": ["[rule] Digit: At most 3 words."], "functions": ["open('x')"]},
]


def source(folder):
    path = folder / "verif.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


@pytest.mark.parametrize("name", ["out.parquet", "out.jsonl"])
def test_the_command_writes_rows_that_the_reader_takes(tmp_path, capsys, name):
    out = tmp_path / name
    assert main(["convert", "verif-to-rubric", str(source(tmp_path)), str(out)]) == 0
    (found,) = read_rubric_rows(out.read_bytes(), source=name)
    assert found.item.criteria == (
        Criterion("Content: Name the river of it.", 1.0, "llm", ("source:verinstruct", "verifier:llm")),
    )
    assert (found.item.question, found.data_source) == ("Write about a town.", "verinstruct")
    said = capsys.readouterr()
    assert "1 rows with 1 criteria" in said.out
    assert "left out, no criterion derived" in said.err
    assert "line 2" in said.err
    assert not (tmp_path / "x").exists()


def test_parquet_has_the_columns_of_rubric_rows(tmp_path):
    out = tmp_path / "out.parquet"
    assert main(["convert", "verif-to-rubric", str(source(tmp_path)), str(out), "--all-to-judge", "--name", "v"]) == 0
    table = pq.read_table(out)
    assert table.column_names == ["prompt", "data_source", "ability", "reward_model", "extra_info"]
    first, second = table.to_pylist()
    assert first["extra_info"]["reward_model"] == first["reward_model"]
    assert (first["extra_info"]["original_id"], second["extra_info"]["original_id"]) == ("a", "b")
    assert [line["criterion"] for line in first["reward_model"]["rubrics"]] == [
        "Content: Name the river of it.",
        "Digit: At least 30 words.",
    ]
    assert first["reward_model"]["rubrics"][0]["tags"] == ["source:v", "verifier:llm"]


@pytest.mark.parametrize(
    ("given", "out", "words"),
    [
        ("verif.jsonl", "out.csv", "name OUT .parquet or .jsonl"),
        ("verif.jsonl", "no/out.jsonl", "there is no folder"),
        ("none.jsonl", "out.jsonl", "cannot be read"),
        ("bad.jsonl", "out.jsonl", "is not \\[llm\\] or \\[rule\\]"),
    ],
)
def test_mistakes_are_told_and_write_nothing(tmp_path, capsys, given, out, words):
    source(tmp_path)
    (tmp_path / "bad.jsonl").write_text(json.dumps({**ROWS[0], "checkers": ["x", "y"]}))
    before = sorted(path.name for path in tmp_path.iterdir())
    assert main(["convert", "verif-to-rubric", str(tmp_path / given), str(tmp_path / out)]) == 1
    said = capsys.readouterr()
    assert words.replace("\\", "") in said.err
    assert said.out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "more",
    [
        {"id": "half \ud800"},
        {
            "checkers": ["[llm] x", ROWS[0]["checkers"][1]],
            "functions": [ASKS.replace("'x'", r"'the half of a \ud800 letter is there'"), ""],
        },
    ],
)
@pytest.mark.parametrize("name", ["out.parquet", "out.jsonl"])
def test_what_no_table_can_hold_is_told_and_writes_nothing(tmp_path, capsys, name, more):
    (tmp_path / "in.jsonl").write_text(json.dumps(ROWS[0]) + "\n" + json.dumps({**ROWS[0], **more}))
    assert main(["convert", "verif-to-rubric", str(tmp_path / "in.jsonl"), str(tmp_path / name)]) == 1
    said = capsys.readouterr().err
    assert "which is no character" in said
    assert "in.jsonl, line 2" in said
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
