"""The table about the workflows of an evaluation."""

import re

from components.report.tasks.models import Gain, Model
from pipelines.workflow_table import accuracy_table, workflow_counts, workflow_table


def model(name: str, gains: dict[str, Gain], **changes: object) -> Model:
    counts = {"answers": 8, "right": 2, "unknown": 1, "valid": 5, "checked": 7}
    spent = {"tokens": 400, "seconds": 12.0, "money": None}
    return Model(name=name, label=name, means={}, gains=gains, **{**counts, **spent, **changes})  # type: ignore[arg-type]


MODELS = [
    model("base", {"weighted_4_3_3": Gain(4, 0.125, 0.25, 0.125, -0.2, 0.45)}),
    model("trained", {}),
    model("direct", {"weighted_4_3_3": Gain(4, 0.5, 0.25, -0.25, None, None)}, tokens=1000),
    model("hand_written", {"weighted_4_3_3": Gain(0, None, None, None, None, None)}, answers=0, right=0),
    model("random_valid", {}),
]


def test_each_writer_has_a_row_and_stands_beside_the_given_model() -> None:
    head, *rows = [re.split(r" {2,}", line) for line in workflow_table(MODELS, given="model").splitlines()]
    assert head[-1] == "model less this, in points"
    assert rows == [
        # 400 tokens for 8 answers.
        ["base", "8", "5 of 7", "2", "1", "50", "+12.5 (-20.0 to +45.0)"],
        ["model", "8", "5 of 7", "2", "1", "50"],
        ["direct", "8", "5 of 7", "2", "1", "125", "-25.0 (no interval)"],
        # What is not known is a word.
        ["hand_written", "0", "5 of 7", "0", "1", "unknown", "unknown"],
        ["random_valid", "8", "5 of 7", "2", "1", "50", "unknown"],
    ]


def test_the_file_has_the_counts_and_no_money_without_a_price() -> None:
    found = workflow_counts(MODELS, given="model")
    assert list(found) == ["base", "model", "direct", "hand_written", "random_valid"]
    assert found["direct"] == {
        "answers": 8,
        "right": 2,
        "unknown": 1,
        "valid": 5,
        "checked": 7,
        "tokens": 1000,
        "seconds": 12.0,
        "money": None,
    }


def test_accuracies_stand_side_by_side() -> None:
    def result(first: float | None, second: float, mean: float | None) -> dict[str, object]:
        sets = [("gsm8k", first), ("mbpp", second)]
        means = {} if mean is None else {"macro": {"value": mean}}
        return {"datasets": [{"dataset": name, "metrics": {"accuracy": share}} for name, share in sets], "means": means}

    text = accuracy_table({"model": result(0.5, 0.25, 0.375), "direct": result(None, 1.0, None)})
    assert [re.split(r" {2,}", line) for line in text.splitlines()] == [
        ["accuracy", "model", "direct"],
        ["gsm8k", "50.0 %", "unknown"],
        ["mbpp", "25.0 %", "100.0 %"],
        ["macro", "37.5 %", "unknown"],
    ]
