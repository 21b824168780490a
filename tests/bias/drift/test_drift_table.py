"""Drift rows: means and intervals by hand, unknown values counted and never read as zero."""

import math

import pytest

from components.bias.drift import stored
from components.bias.drift.table import Judged, changes, drift_rows, estimate, training_curve
from components.core.contracts import GENERATIONS, ROLLOUTS, SCORES, VERDICTS, write_table
from components.core.errors import ContractError


def by_name(rows):
    return {(row.feature, row.criterion): row.mean for row in rows}


def test_the_interval_is_students_t_over_prompts():
    # Prompt means 1, 2, 3, 4, 5: error sqrt(2.5 / 5), t(4) at 97.5 % = 2.776445 (any table).
    found = estimate([1.0, 2.0, 3.0, 4.0, 5.0], list("abcde"), 0.95)
    half = 2.776445 * math.sqrt(0.5)
    assert (found.value, found.n, found.clusters) == (3.0, 5, 5)
    assert (found.low, found.high) == (pytest.approx(3 - half, abs=1e-5), pytest.approx(3 + half, abs=1e-5))


def test_responses_of_one_prompt_are_one_cluster():
    found = estimate([0.0, 0.0, 1.0, 1.0], ["a", "a", "b", "b"], 0.95, scale=(0.0, 1.0))
    # Cluster sums of residuals -1 and +1: error sqrt(2 / 1 * 2) / 4 = 0.5, t(1) = 12.7: cut at the scale's ends.
    assert (found.value, found.low, found.high, found.clusters) == (0.5, 0.0, 1.0, 2)


def test_what_never_varies_has_wilsons_interval_or_none():
    share = estimate([0.0] * 10, list("abcdefghij"), 0.95, scale=(0.0, 1.0))
    assert share.low == 0.0
    # Wilson's upper bound of 0 of 10: z^2 / (10 + z^2) = 0.2775.
    assert share.high == pytest.approx(0.2775, abs=1e-4)
    length = estimate([7.0] * 3, list("abc"), 0.95)
    assert (length.value, length.low) == (7.0, None)
    assert "same" in length.why


def test_unknown_values_are_counted_and_left_out():
    responses = [
        Judged("a", "word", abstained=False, proxy=0.5, criteria={"c": 1.0}),
        Judged("b", "", abstained=True, proxy=None, criteria={"c": None}),
        Judged("c", "two words", abstained=False, proxy=0.7, criteria={"c": 0.0}),
    ]
    rows = by_name(drift_rows(4, responses, 0.95))
    assert rows["proxy", ""].value == pytest.approx(0.6)
    assert (rows["proxy", ""].n, rows["proxy", ""].unknown) == (2, 1)
    assert rows["abstained", ""].value == pytest.approx(1 / 3)
    assert (rows["criterion", "c"].value, rows["criterion", "c"].unknown) == (0.5, 1)
    assert rows["words", ""].value == 1.0
    assert rows["hedges", ""].unknown == 1
    assert ("gold", "") not in rows
    assert ("tokens", "") not in rows


def test_a_reward_that_is_unknown_throughout_stands_as_unknown():
    rows = by_name(drift_rows(0, [Judged("a", "x", abstained=True), Judged("b", "y", abstained=True)], 0.95))
    assert rows["proxy", ""].value is None
    assert rows["proxy", ""].unknown == 2


def test_changes_are_paired_by_prompt():
    first = [Judged(row, "word " * 10) for row in "abcd"]
    last = [Judged(row, "word " * (10 + more)) for row, more in zip("abce", (2, 4, 6, 90), strict=True)]
    found = {change.feature: change for change in changes(first, last, 0.95, resamples=500, seed=1)}
    assert found["words"].change.value == 4.0
    assert (found["words"].change.n, found["words"].change.unknown) == (3, 2)
    assert found["words"].change.low >= 2.0
    assert found["variety"].change.value is None
    assert "gold" not in found


def test_the_training_curve_goes_by_step():
    rollouts = {
        2: [
            Judged("a", "x", proxy=0.2, gold=1.0, abstained=False),
            Judged("b", "x", proxy=0.4, gold=0.0, abstained=False),
        ],
        1: [Judged("a", "x", proxy=None, abstained=True)],
    }
    one, two = training_curve(rollouts, 0.95)
    assert (one.step, one.proxy.value, one.gold.why, one.abstained.value) == (1, None, "no response was checked", 1.0)
    assert (two.step, two.proxy.value, two.gold.value) == (2, pytest.approx(0.3), 0.5)


def generation(model, row, texts):
    return {
        "model": model,
        "row_id": row,
        "split": "heldout",
        "question": "q",
        "responses": texts,
        "finished": [True] * len(texts),
        "response_tokens": [3] * len(texts),
    }


def score(model, row, reward, gold):
    return {
        "model": model,
        "step": -1,
        "row_id": row,
        "sample_id": f"{model}-{row}-0",
        "sample_index": 0,
        "status": "abstained" if reward is None else "scored",
        "judge_reward": reward,
        "gold": gold,
        "keyword": gold,
        "echo": None,
        "length_ok": None,
        "words": 1,
        "gold_detail": "{}",
    }


def verdict(sample, status, time):
    return {
        "sample_id": sample,
        "row_id": "r",
        "criterion": "mentions tea",
        "criterion_index": 0,
        "status": status,
        "probability": None,
        "log_ratio": None,
        "reason": None if status != "unknown" else "timeout",
        "judge": "j",
        "protocol": "rubric",
        "attempts": 1,
        "seconds": 0.1,
        "prompt_tokens": 1,
        "response_chars": 1,
        "raw_id": None,
        "time": time,
        "mass": None,
        "explanation": None,
    }


def test_heldout_responses_are_joined_with_scores_and_newest_verdicts(tmp_path):
    write_table(
        tmp_path / "g.parquet", [generation("base", "r1", ["tea"]), generation("base", "r2", ["no"])], GENERATIONS
    )
    write_table(tmp_path / "s.parquet", [score("base", "r1", 0.5, True), score("base", "r2", None, None)], SCORES)
    verdicts = [
        verdict("base-r1-0", "met", 2.0),
        verdict("base-r1-0", "unknown", 1.0),
        verdict("base-r2-0", "unknown", 1.0),
    ]
    write_table(tmp_path / "v.parquet", verdicts, VERDICTS)
    one, two = stored.heldout(
        tmp_path / "g.parquet", "base", scores=tmp_path / "s.parquet", verdicts=tmp_path / "v.parquet"
    )
    assert (one.proxy, one.gold, one.abstained, one.criteria) == (0.5, 1.0, False, {"mentions tea": 1.0})
    assert (two.proxy, two.gold, two.abstained, two.criteria) == (None, None, True, {"mentions tea": None})
    with pytest.raises(ContractError, match="no response of the model 'other'"):
        stored.heldout(tmp_path / "g.parquet", "other")
    write_table(tmp_path / "s.parquet", [score("base", "r1", 0.5, True)], SCORES)
    with pytest.raises(ContractError, match="has no score"):
        stored.heldout(tmp_path / "g.parquet", "base", scores=tmp_path / "s.parquet")


def test_of_a_repeated_step_the_last_attempt_counts(tmp_path):
    def row(attempt, text, reward):
        return {
            "step": 1,
            "row_id": "r",
            "sample_id": f"{attempt}",
            "sample_index": 0,
            "question": "q",
            "response": text,
            "response_tokens": 1,
            "finished": True,
            "status": "abstained" if reward is None else "scored",
            "reward": reward,
            "reason": None if reward is not None else "known_weight",
            "known_weight": 1.0,
            "parts": "{}",
            "attempt": attempt,
        }

    write_table(tmp_path / "r.parquet", [row(1, "old", 0.1), row(2, "new", None)], ROLLOUTS)
    (found,) = stored.rollouts(tmp_path / "r.parquet")[1]
    assert (found.text, found.proxy, found.abstained) == ("new", None, True)
