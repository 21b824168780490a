"""Figures of test sets, counted by hand."""

import json
import math
from typing import Any

import pytest

from components.tasks.gold import CodeGold, MathGold, QaGold
from components.tasks.results import table
from components.tasks.statistics import Sampling, comparison, measure, results, set_weights

SAMPLING = Sampling(400, 0.95, 1)
QA = {"a": QaGold("squad2", ("Paris",)), "b": QaGold("squad2", ("two",)), "c": QaGold("squad2", ())}


def scored(task: str, correct: bool | None, **more: Any) -> dict[str, Any]:
    index, parts = more.pop("index", 0), more.pop("parts", {})
    known = None if correct is None else float(correct)
    return {
        "row_id": task,
        "sample_index": index,
        "correct": correct,
        "exact": more.get("exact", known),
        "f1": more.get("f1", known),
        "parts": json.dumps(parts),
    }


def figures(name: str, rows: list[dict[str, Any]], golds: Any, ks: tuple[int, ...] = (1,)) -> dict[str, Any]:
    found = results(
        "trained", {name: measure(name, rows, golds, ks)}, SAMPLING, comparable=True, samples={name: len(rows)}
    )
    entry: dict[str, Any] = found["datasets"][0]
    return entry


def test_questions_with_and_without_an_answer_stand_apart() -> None:
    rows = [scored("a", True), scored("b", False, f1=0.5), scored("c", True)]
    entry = figures("squad2", rows, QA)
    assert entry["metrics"] == {
        "accuracy": pytest.approx(2 / 3),
        "f1": pytest.approx(2.5 / 3),
        "has_ans_accuracy": 0.5,
        "has_ans_f1": 0.75,
        "no_ans_accuracy": 1.0,
    }
    assert entry["counts"] == {
        "accuracy": 3,
        "f1": 3,
        "has_ans_accuracy": 2,
        "has_ans_f1": 2,
        "no_ans_accuracy": 1,
    }
    # One task has nothing to be resampled.
    assert entry["intervals"]["no_ans_accuracy"] is None


def test_pass_at_k_is_the_unbiased_estimator() -> None:
    """FACTS H: n 10, c 3: pass@1 0.3, pass@5 0.9167; with another task that never passes, half of each."""
    gold = {task: CodeGold("mbpp", "p", None, "assert f()") for task in "xy"}
    rows = [scored("x", number < 3, index=number) for number in range(10)]
    rows += [scored("y", False, index=number) for number in range(10)]
    entry = figures("mbpp", rows, gold, (1, 5))
    assert entry["metrics"] == {
        "accuracy": pytest.approx(0.15),
        "pass@1": pytest.approx(0.15),
        "pass@5": pytest.approx(0.91667 / 2, abs=1e-5),
    }
    assert (entry["n"], entry["samples"]) == (2, 20)


def test_what_could_not_be_checked_is_left_out_and_counted() -> None:
    gold = {task: MathGold("gsm8k", "1") for task in "abc"}
    rows = [scored("a", True), scored("b", None), scored("c", False)]
    entry = figures("gsm8k", rows, gold)
    assert (entry["metrics"]["accuracy"], entry["n"], entry["unknown"]) == (0.5, 2, 1)
    nothing = figures("gsm8k", [scored("a", None)], gold)
    assert (nothing["metrics"]["accuracy"], nothing["n"], nothing["unknown"]) == (None, 0, 1)


def test_joint_figures_are_there_only_where_facts_were_asked() -> None:
    gold = {"a": QaGold("hotpotqa", ("x",), (("T", 0),))}
    parts = {"supporting_exact": 0.0, "supporting_f1": 0.5, "joint_exact": 0.0, "joint_f1": 0.4}
    entry = figures("hotpotqa", [scored("a", True, parts=parts)], gold)
    assert entry["metrics"] == {"accuracy": 1.0, "f1": 1.0, **parts}
    assert set(figures("hotpotqa", [scored("a", True)], gold)["metrics"]) == {"accuracy", "f1"}


def test_the_two_means_over_sets() -> None:
    """Math 1 and 0, questions 0.5, code 0.25: macro (1 + 0 + 0.5 + 0.25) / 4; 4:3:3 0.4 x 0.5 + 0.3 x 0.5 + 0.3 x 0.25.
    The mixed table is no set."""

    def share(right: int, of: int) -> dict[str, dict[str, list[float | None]]]:
        return {"accuracy": {f"{number}": [float(number < right)] for number in range(of)}}

    measured = {
        "gsm8k": share(2, 2),
        "math": share(0, 3),
        "squad2": share(2, 4),
        "mbpp": share(1, 4),
        "mixed": share(9, 9),
    }
    found = results("trained", measured, SAMPLING, comparable=False, samples=dict.fromkeys(measured, 0))
    assert found["means"]["macro"]["value"] == pytest.approx(0.4375)
    assert found["means"]["weighted_4_3_3"]["value"] == pytest.approx(0.425)
    low, high = found["means"]["macro"]["interval"]
    # The last two sets vary: each has a standard error of about 0.25, a quarter of which counts. Of 2 of 2 and 0 of 3
    # Wilson's intervals reach 0.66 and 0.56, a quarter of which counts, too.
    assert 0.4375 - 0.5 < low < 0.4375 - 0.16
    assert 0.4375 + 0.14 < high < 0.4375 + 0.4
    assert [entry["dataset"] for entry in found["datasets"]] == list(measured)
    assert not any(entry["comparable"] for entry in found["datasets"])
    assert "math (not comparable)" in table(found)


def test_domains_that_are_missing_leave_their_weight_to_the_others() -> None:
    assert set_weights(["gsm8k", "math", "squad2"]) == pytest.approx({"gsm8k": 2 / 7, "math": 2 / 7, "squad2": 3 / 7})
    full = set_weights(["gsm8k", "math", "squad2", "hotpotqa", "humaneval", "mbpp"])
    assert full == pytest.approx(
        {"gsm8k": 0.2, "math": 0.2, "squad2": 0.15, "hotpotqa": 0.15, "humaneval": 0.15, "mbpp": 0.15}
    )


def test_changes_are_paired_by_task() -> None:
    before = {"gsm8k": {"accuracy": {"a": [0.0], "b": [1.0], "c": [0.0], "d": [None]}}}
    after = {"gsm8k": {"accuracy": {"a": [1.0], "b": [1.0], "c": [1.0], "d": [1.0]}}}
    found = comparison(before, after, SAMPLING)["gsm8k"]["accuracy"]
    assert (found["n"], found["dropped"], found["rose"], found["fell"]) == (3, 1, 2, 0)
    assert found["gain"] == pytest.approx(2 / 3)
    # Two changes of one kind: 2 x 1/4.
    assert found["sign_p"] == 0.5


def test_changes_of_the_two_means_add_up_the_sets_intervals() -> None:
    """Math rises by 7 and falls by 1 of 21 (Fagerland and others 2014: 0.026 to 0.517), questions do not change in 10
    (0.2775 either way): macro (6 / 21 + 0) / 2; 4:3:3 without code 4/7 and 3/7."""
    rises = [0.0] * 7 + [1.0] + [0.0] * 13
    after = [1.0] * 7 + [0.0] + [0.0] * 13

    def side(values: list[float]) -> dict[str, Any]:
        same: dict[str, list[float | None]] = {f"q{number}": [1.0] for number in range(10)}
        accuracy: dict[str, list[float | None]] = {f"{number}": [value] for number, value in enumerate(values)}
        mixed: dict[str, list[float | None]] = {"m": [values[0]]}
        return {"math": {"accuracy": accuracy}, "squad2": {"accuracy": same, "f1": same}, "mixed": {"accuracy": mixed}}

    found = comparison(side(rises), side(after), SAMPLING)
    gain = 6 / 21
    for name, share in (("macro", 0.5), ("weighted_4_3_3", 4 / 7)):
        change = found[name]["accuracy"]
        below = math.hypot(share * (gain - 0.0260), (1 - share) * 0.2775)
        above = math.hypot(share * (0.5172 - gain), (1 - share) * 0.2775)
        assert change["gain"] == pytest.approx(share * gain)
        assert (change["low"], change["high"]) == pytest.approx((share * gain - below, share * gain + above), abs=1e-3)
        assert change["trained"] - change["base"] == pytest.approx(change["gain"])
        assert (change["n"], change["rose"], change["fell"], change["sets"]) == (31, 7, 1, ["math", "squad2"])
        assert set(found["math"]["accuracy"]) >= {
            "n",
            "base",
            "trained",
            "gain",
            "low",
            "high",
            "rose",
            "fell",
            "sign_p",
        }
    # One task of a set has no interval, and so has no mean over sets.
    single = {"gsm8k": {"accuracy": {"a": [0.0]}}}
    alone = comparison(single, single, SAMPLING)["macro"]["accuracy"]
    assert (alone["gain"], alone["low"]) == (0.0, None)
    nothing = {"gsm8k": {"accuracy": {"a": [None]}}}
    assert "macro" not in comparison(nothing, nothing, SAMPLING)


def test_the_former_systems_readers_find_their_keys() -> None:
    gold = {task: MathGold("gsm8k", "1") for task in "ab"}
    measured = {"gsm8k": measure("gsm8k", [scored("a", True), scored("b", False)], gold, (1,))}
    found = json.loads(json.dumps(results("trained", measured, SAMPLING, comparable=True, samples={"gsm8k": 2})))
    # jq '.datasets[] | {name: .dataset, accuracy: .metrics.accuracy}'
    read = [{"name": each["dataset"], "accuracy": each["metrics"]["accuracy"]} for each in found["datasets"]]
    assert read == [{"name": "gsm8k", "accuracy": 0.5}]


@pytest.mark.parametrize(("right", "ends"), [(0, (0.0, 0.4899)), (4, (0.5101, 1.0))])
def test_all_wrong_or_all_right_is_not_certain(right: int, ends: tuple[float, float]) -> None:
    """Wilson's interval of 0 of 4 at 95 %: 1.96^2 / (4 + 1.96^2)."""
    golds = {f"{number}": MathGold("gsm8k", "1") for number in range(4)}
    entry = figures("gsm8k", [scored(name, int(name) < right) for name in golds], golds)
    assert entry["intervals"]["accuracy"] == pytest.approx(ends, abs=1e-4)
