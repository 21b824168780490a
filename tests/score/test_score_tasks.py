"""Rows of tasks: their gold is read, and the column ``gold`` is what their official check found."""

import json
from pathlib import Path

import pytest

from components.core.contracts import PROMPTS, SCORES, write_table
from components.core.errors import ContractError
from components.core.spec import load_experiment
from components.judge.verdict import Criterion, Sample, VerdictStatus
from components.report.rubrics import read_rubrics
from components.score.responses import Response, read_prompts
from components.score.task_verdicts import TaskVerdict, task_verdicts
from components.tasks.gold import MathGold, to_json

GOLD = MathGold("gsm8k", "1,024")
RUBRIC = [
    {
        "text": "The final answer is right.",
        "points": 1.0,
        "verifier": "rule",
        "rule": {"name": "task", "gold": to_json(GOLD), "metric": "exact"},
    }
]


def prompt_row(number: int, truth: str, split: str = "heldout") -> dict[str, object]:
    return {
        "prompt": [{"role": "user", "content": f"How many? {number}"}],
        "data_source": "gsm8k",
        "ability": "math",
        "reward_model": {"style": "task", "ground_truth": truth},
        "extra_info": {
            "id": str(number),
            "index": number,
            "split": split,
            "question": f"How many? {number}",
            "rubric": json.dumps(RUBRIC),
            "template": "gsm8k",
        },
    }


def test_the_gold_of_a_task_is_read(tmp_path: Path) -> None:
    path = tmp_path / "heldout.parquet"
    write_table(path, [prompt_row(0, to_json(GOLD))], PROMPTS)
    assert read_prompts(path)["0"].checks == GOLD
    write_table(path, [prompt_row(0, '{"dataset": "gsm8k"}')], PROMPTS)
    with pytest.raises(ContractError, match=r"lacks 'answer'") as caught:
        read_prompts(path)
    assert "row 0" in str(caught.value)


def test_the_report_counts_lines_of_tasks(tmp_path: Path) -> None:
    for name in ("train", "heldout"):
        write_table(tmp_path / f"{name}.parquet", [prompt_row(0, to_json(GOLD))], PROMPTS)
    found = read_rubrics(load_experiment("tiny"), tmp_path)
    assert found.own_gold
    assert (found.splits["training"].rules, found.splits["training"].judge) == (1, 0)


@pytest.mark.parametrize(
    ("task", "gold", "value"),
    [
        (TaskVerdict(VerdictStatus.MET, 1.0), True, 1.0),
        (TaskVerdict(VerdictStatus.UNMET, 0.4), False, 0.4),
        (TaskVerdict(VerdictStatus.UNKNOWN, None), None, None),
        (None, None, None),
    ],
)
def test_the_column_gold_is_the_official_checks(
    tmp_path: Path, task: TaskVerdict | None, gold: bool | None, value: float | None
) -> None:
    sample = Sample("0", "base-0-0", "How many?", "It is 1024.", (Criterion("is right"),))
    response = Response("base", -1, sample, 0, GOLD)
    assert response.is_task
    row = response.scored("scored", 0.75, task)
    assert row["gold"] is gold
    assert (row["keyword"], row["echo"], row["length_ok"], row["words"]) == (None, None, None, 3)
    assert json.loads(row["gold_detail"]) == {"dataset": "gsm8k", "value": value}
    assert write_table(tmp_path / "scores.parquet", [row], SCORES) == 1


def test_verdicts_of_tasks_are_told_from_all_others_and_the_newest_counts() -> None:
    def row(sample: str, judge: str, protocol: str, status: str, probability: float | None) -> dict[str, object]:
        return {
            "sample_id": sample,
            "judge": judge,
            "protocol": protocol,
            "status": status,
            "probability": probability,
        }

    found = task_verdicts(
        [
            row("a", "rule", "rule/task/1", "unknown", None),
            row("a", "rule", "rule/task/1", "met", 1.0),
            row("a", "rule", "rule/word_count_range/2", "unmet", 0.0),
            row("a", "someone", "semantic_equality/3", "unmet", None),
            row("b", "rule", "rule/task/1", "unmet", 0.5),
            row("c", "someone", "semantic_equality/3", "met", None),
        ]
    )
    assert found == {"a": TaskVerdict(VerdictStatus.MET, 1.0), "b": TaskVerdict(VerdictStatus.UNMET, 0.5)}
