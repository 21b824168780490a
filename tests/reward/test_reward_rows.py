"""Rows that a way to combine has no number for, in the check before training and in its table of prompts."""

import json
from pathlib import Path

import pytest
from prompt_tables import write_prompts
from verdicts import llm, rule

from components.core.errors import ContractError
from components.core.spec import load_experiment
from components.core.spec.reward import RewardSpec
from components.judge.rubrics import rubric_json
from components.judge.rule import Rule
from components.judge.verdict import Criterion
from components.reward.rows import check_row
from components.train.prompts import check_rewarded_rows

OTHER = Rule.parse({"name": "math_verify", "answer": "5"})


@pytest.mark.parametrize(
    ("combine", "criteria", "told"),
    [
        ("rule_only", [llm("a")], "no rule line with positive points"),
        ("rule_only", [llm("a"), rule("b", -1)], "no rule line with positive points"),
        ("verif", [llm("a"), llm("b", -1)], "'b' is a penalty"),
        ("verif", [llm("a"), rule("b", -1)], "'b' is a penalty"),
        ("verif", [], "no line with positive points"),
        ("rubric", [], "no line with positive points"),
        ("rubric", [llm("a", -1)], "no line with positive points"),
        ("rubric", [llm("a", 1e308), llm("b", 1e308)], "too large"),
        ("verif", [llm("a", 1e308), llm("b", 1e308)], "too large"),
        ("rubric", [llm("a", 1), llm("b", -1e308), llm("c", -1e308)], "too large"),
        ("rubric", [llm("a", 1e-320), llm("b", -1e308)], "too different in size"),
        ("rubric", [llm("a"), llm(" a", 2)], "a criterion twice: ' a'"),
        ("verif", [rule("a"), rule("a")], "a criterion twice: 'a'"),
        ("rule_only", [rule("a  b"), llm("a b"), rule("a b")], "a criterion twice: 'a b'"),
    ],
)
def test_no_number(combine: str, criteria: list[Criterion], told: str) -> None:
    with pytest.raises(ContractError, match=told) as caught:
        check_row(RewardSpec(name="r", combine=combine), criteria, "row r7")
    assert caught.value.where == "row r7"
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("combine", "criteria"),
    [
        ("rule_only", [rule("a"), llm("b", -1)]),
        ("verif", [rule("a")]),
        ("verif", [llm("a")]),
        ("rubric", [rule("a", -1), llm("b")]),
        ("rubric", [llm("a", 1e308), llm("b", -1e308)]),
        ("rubric", [rule("a"), llm("a"), rule("a", checked=OTHER)]),
        ("length", []),
        ("random", [llm("a", -1)]),
        ("format", []),
    ],
)
def test_a_number(combine: str, criteria: list[Criterion]) -> None:
    check_row(RewardSpec(name="r", combine=combine), criteria, "row r7")


def test_the_table_of_prompts_is_looked_through(tmp_path: Path) -> None:
    rubrics = {"good": [llm("a"), rule("b")], "bad": [llm("a")]}
    table = {name: json.loads(rubric_json(criteria)) for name, criteria in rubrics.items()}
    write_prompts(tmp_path / "train.parquet", table)
    given = "data.criteria=[{text: a, verifier: rule, rule: {name: word_count_range, min_count: 1, max_count: 9}}]"
    experiment = load_experiment("tiny", [given, "reward.combine=rule_only"])
    with pytest.raises(ContractError, match=r"no rule line(.|\n)*train.parquet, row bad"):
        check_rewarded_rows(experiment, tmp_path / "train.parquet")
    check_rewarded_rows(load_experiment("tiny"), tmp_path / "train.parquet")
