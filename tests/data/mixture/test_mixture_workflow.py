"""Rows of a workflow experiment: the prompt asks for a workflow, and the problem is kept for whoever runs it."""

from pathlib import Path

import pytest
from test_mixture_prepare import loaded, prepare, small, table

from components.core.spec import load_experiment
from components.data.step import STEP
from components.tasks.gold import CodeGold, parse_gold
from components.workflow.prompts import layer1
from components.workflow.prompts.layer1 import Example, policy_prompt, with_examples
from components.workflow.prompts.problems import problem_of


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    return prepare(load_experiment("workflow_small"), tmp_path_factory.mktemp("workflow"))


def tables(out: Path) -> list[dict]:
    paths = [out / "train.parquet", out / "heldout.parquet", *(out / "tests").glob("*.parquet")]
    return [row for path in paths for row in table(path)]


def test_every_table_asks_for_workflows(out):
    rows = tables(out)
    assert {row["data_source"] for row in rows} == {"gsm8k", "math", "squad2", "hotpotqa", "humaneval", "mbpp"}
    for row in rows:
        problem = problem_of(row)
        (turn,) = row["prompt"]
        assert turn == {"role": "user", "content": policy_prompt(problem)}
        assert (problem.text, problem.domain) == (row["extra_info"]["question"], row["ability"])
        assert "Example 1" in with_examples(turn["content"], [Example("a", "b", 0.5)])


def test_problems_are_the_tasks_alone_and_no_prompt_holds_a_hidden_test(out):
    for row in tables(out):
        problem, gold = problem_of(row), parse_gold(row["reward_model"]["ground_truth"])
        assert "step by step" not in problem.text
        if row["ability"] != "code":
            assert problem.public_tests is None
            continue
        assert isinstance(gold, CodeGold)
        assert problem.entry_point is not None
        if row["data_source"] == "humaneval":
            assert problem.text == gold.prompt
            assert "check(candidate)" not in row["prompt"][0]["content"]
            assert "candidate" not in problem.public_tests
        else:
            assert problem.public_tests == gold.tests
            assert gold.tests in problem.text


def test_exports_and_ids_are_of_the_problems(out, tmp_path):
    import json

    lines = [json.loads(line) for line in (out / "test_gsm8k.jsonl").read_text().splitlines()]
    rows = table(out / "tests" / "gsm8k.parquet")
    assert [line["problem"] for line in lines] == [row["extra_info"]["question"] for row in rows]
    plain = table(prepare(small(), tmp_path) / "tests" / "gsm8k.parquet")
    assert not {row["extra_info"]["id"] for row in rows} & {row["extra_info"]["id"] for row in plain}
    assert [row["reward_model"] for row in rows] == [row["reward_model"] for row in plain]


def test_a_system_prompt_stands_in_front(tmp_path):
    experiment = load_experiment("workflow_small", ("policy.system_prompt=Be brief.",))
    for row in table(prepare(experiment, tmp_path) / "heldout.parquet"):
        assert [turn["role"] for turn in row["prompt"]] == ["system", "user"]
        assert row["prompt"][1]["content"] == policy_prompt(problem_of(row))


def test_the_version_of_the_prompts_decides_the_rows_of_workflows_alone(out, monkeypatch):
    workflow, plain = load_experiment("workflow_small"), small()
    before = [STEP.depends(each) for each in (workflow, plain)]
    monkeypatch.setattr(layer1, "version", lambda: "another")
    after = [STEP.depends(each) for each in (workflow, plain)]
    assert before[0] != after[0]
    assert before[1] == after[1]
    assert loaded(out / "info.json")["prompts"] == {"ask_for": "workflows", "version": before[0]["workflow_prompts"]}


def test_a_mixed_baselines_rows_have_no_trace_of_workflows(tmp_path):
    out = prepare(small(), tmp_path)
    assert "prompts" not in loaded(out / "info.json")
    for row in tables(out):
        assert row["prompt"][-1]["content"] == row["extra_info"]["question"]
