"""A row in which a key stands twice is refused with its line and the key, in every file of rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from components.core.errors import ContractError
from components.data.jsonl import read_jsonl
from components.data.rowfile import Row, read_rows, unpacked
from components.data.rubric_rows import read_rubric_rows
from components.data.turns import read_turns
from components.data.verif_rows import read_verif_rows
from components.judge.__main__ import main as judge
from components.judge.verdict import Criterion
from components.reward.rubric_rows import read_rows as read_by_hand
from components.score.ifeval.prompts import read_prompts

TWICE = '{"prompt": "x", "criteria": [{"text": "a", "points": 1, "points": 9}]}'
GOOD = '{"prompt": "y", "criteria": [{"text": "a"}]}'


def refused(where: str, key: str, caught: pytest.ExceptionInfo[Any]) -> None:
    assert caught.value.what == f"an object has the key {key!r} twice"
    assert caught.value.where.endswith(where)
    assert caught.value.remedy


def test_prompts_of_ones_own() -> None:
    with pytest.raises(ContractError) as caught:
        read_jsonl(f"{GOOD}\n{TWICE}\n".encode(), source="f.jsonl", criteria=(Criterion("a"),))
    refused("f.jsonl, line 2", "points", caught)


def test_rows_of_any_form() -> None:
    for reader in (read_rows, lambda content, source: read_rubric_rows(content, source=source)):
        with pytest.raises(ContractError) as caught:
            reader(f"{TWICE}\n".encode(), source="f.jsonl")
        refused("f.jsonl, line 1", "points", caught)
    with pytest.raises(ContractError) as caught:
        read_rows(f"[{TWICE}]".encode(), source="f.json")
    refused("f.json", "points", caught)


def test_text_inside_a_row_that_is_json_itself() -> None:
    model = json.dumps({"reward_model": '{"style": "rubric", "rubrics": [], "style": "rule"}', "prompt": "x"})
    with pytest.raises(ContractError) as caught:
        read_rubric_rows(model.encode(), source="f.jsonl")
    refused("f.jsonl, line 1", "style", caught)
    row = json.dumps(
        {"prompt": "x", "reward_model": {"ground_truth": '{"checkers": [], "checkers": [], "functions": []}'}}
    )
    with pytest.raises(ContractError) as caught:
        read_verif_rows(row.encode(), source="f.jsonl")
    refused("f.jsonl, line 1", "checkers", caught)


def test_a_prompt_that_is_some_json_stays_a_prompt_and_turns_are_refused() -> None:
    text = '{"a": 1, "a": 2}'
    (turn,) = read_turns(text, where="w", key="prompt")
    assert turn.content == text
    assert unpacked("{no") == "{no"
    with pytest.raises(ContractError, match="the key 'role' twice"):
        read_turns('[{"role": "user", "role": "user", "content": "x"}]', where="w", key="prompt")


def test_all_entries_of_a_list_are_told_at_once() -> None:
    with pytest.raises(ContractError) as caught:
        read_rows(b'[{"a": 1}, 2, "x"]', source="f.json")
    assert caught.value.what.startswith(
        "2 of 3 rows cannot be used:\n  row 1 (from 0): expected a JSON object, got int"
    )
    assert [row.value for row in read_rows(b'[{"a": 1}]', source="f.json")] == [{"a": 1}]
    assert isinstance(read_rows(b'[{"a": 1}]', source="f.json")[0], Row)


def test_rewards_and_replies_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = '{"id": "a", "criteria": [{"text": "x"}], "verdicts": ["met"], "verdicts": ["unmet"]}'
    (fault,) = read_by_hand([line], "f.jsonl")
    assert isinstance(fault, ContractError)
    assert (fault.what, fault.where) == ("an object has the key 'verdicts' twice", "f.jsonl, line 1")
    path = tmp_path / "r.jsonl"
    path.write_text('{"id": "a", "reply": "{}", "criteria": 1, "reply": "met"}\n')
    assert judge(["parse", str(path)]) == 2
    assert "the key 'reply' twice" in capsys.readouterr().err


def test_prompts_of_the_benchmark_tell_all_faulty_rows(tmp_path: Path) -> None:
    good = {"key": 1, "prompt": "a", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    rows = [json.dumps(good), json.dumps({**good, "key": True}), json.dumps({**good, "key": 3}), json.dumps(good)]
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join([*rows, '{"key": 9, "key": 9}', "{"]))
    with pytest.raises(ContractError) as caught:
        read_prompts(path)
    # What cannot be read at all comes first.
    assert caught.value.what.startswith("2 of 6 rows cannot be used:\n  line 5: an object has the key 'key' twice")
    path.write_text("\n".join(rows))
    with pytest.raises(ContractError) as caught:
        read_prompts(path)
    assert caught.value.what.splitlines()[0] == "3 of 4 rows cannot be used:"
    assert caught.value.what.splitlines()[1].startswith("  line 2: key cannot be True")
    path.write_text("\n".join(["{"] * 25))
    with pytest.raises(ContractError) as caught:
        read_prompts(path)
    assert caught.value.what.startswith("25 of 25 rows")
    assert caught.value.what.endswith("and 15 more")
