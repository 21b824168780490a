"""Reading and joining the tables, and what is refused."""

import pytest

from components.core.contracts import (
    CALLS,
    GENERATIONS,
    METRICS,
    PROMPTS,
    ROLLOUTS,
    SCORES,
    VERDICTS,
    read_table,
    write_table,
)
from components.core.errors import ContractError
from components.report.evidence import read_evidence
from components.rules.checker import JUDGE


def change(path, schema, edit):
    """Rewrite a table after ``edit`` has changed its rows in place."""
    rows = read_table(path, schema).to_pylist()
    rows = edit(rows) or rows
    write_table(path, rows, schema)


@pytest.fixture
def inputs(world, tmp_path):
    return world.write(tmp_path)


def test_every_response_meets_its_score(inputs, world):
    evidence = read_evidence(inputs)
    assert len(evidence.answers) == 2 * len(world.base)
    answer = next(one for one in evidence.answers if one.score.sample_id == "trained-heldout-060-0")
    assert answer.response == "The sentence mentions an animal, which is a otter."
    assert answer.score.echo
    assert answer.score.judge_reward == 0.9
    assert evidence.templates["heldout-009"] == "Template 1 about the {}."


def test_verdicts_are_counted_with_their_reasons(inputs):
    calls = read_evidence(inputs).calls
    # A call gives both verdicts of a sample. Two samples went unanswered, at three requests; the other 190 took one.
    assert calls["evaluation"].verdicts == 2 * 2 * 96
    assert calls["evaluation"].unknown == {"timeout": 4}
    assert calls["evaluation"].calls == 2 * 96
    assert calls["evaluation"].attempts == 190 + 2 * 3
    assert calls["evaluation"].prompt_tokens == 192 * 80
    assert calls["evaluation"].completion_tokens == 192 * 3
    assert calls["evaluation"].seconds == 192 * 0.25
    assert (calls["evaluation"].rule_checks, calls["evaluation"].rule_seconds) == (0, 0.0)
    assert calls["training"].unknown == {"timeout": 8}


def test_checks_by_rules_are_no_calls_of_the_judge(inputs):
    def by_rules(rows):
        # The lines of the first two rollouts: two samples, each checked as a whole.
        for row in rows[:4]:
            row.update(judge=JUDGE, protocol="rule/python/00", seconds=2.0, attempts=1, prompt_tokens=0)

    change(inputs["training"] / "verdicts.parquet", VERDICTS, by_rules)
    change(inputs["training"] / "calls.parquet", CALLS, lambda rows: rows[2:])
    found = read_evidence(inputs).calls["training"]
    assert (found.rule_checks, found.rule_seconds) == (4, 4.0)
    assert (found.verdicts, found.calls, found.seconds) == (256, 126, 126 * 0.25)
    assert (found.judges, found.protocols) == (("smollm2-lr",), ("likelihood_ratio:0123456789ab",))


def test_an_answer_from_the_cache_and_a_refused_question_are_no_calls(inputs):
    def unasked(rows):
        rows[0].update(attempts=0, from_cache=True, seconds=0.0)
        rows[1].update(attempts=0, reason="too_long", seconds=0.0)

    change(inputs["scores"] / "calls.parquet", CALLS, unasked)
    found = read_evidence(inputs).calls["evaluation"]
    assert (found.calls, found.cached) == (190, 1)


def test_a_step_done_again_counts_once(inputs):
    def again(rows):
        return [
            *rows,
            *({**row, "sample_id": f"again-{row['sample_id']}", "attempt": 2} for row in rows if row["step"] == 8),
        ]

    change(inputs["training"] / "rollouts.parquet", ROLLOUTS, again)
    evidence = read_evidence(inputs)
    assert evidence.repeated == 16
    assert len(evidence.rollouts) == 128
    assert {r.sample_id.split("-")[0] for r in evidence.rollouts if r.step == 8} == {"again"}
    assert sum(r.score is None for r in evidence.rollouts) == 16


def test_of_a_metric_logged_twice_the_later_counts_and_a_nan_is_no_number(inputs):
    rows = [
        {"step": 1, "name": "timing_s/step", "value": 9.0},
        {"step": 1, "name": "timing_s/step", "value": 11.0},
        {"step": 1, "name": "critic/values/mean", "value": float("nan")},
    ]
    write_table(inputs["training"] / "metrics.parquet", rows, METRICS)
    assert read_evidence(inputs).metrics == {"timing_s/step": {1: 11.0}}


def test_a_missing_table_is_named(inputs):
    (inputs["scores"] / "rollout_scores.parquet").unlink()
    with pytest.raises(ContractError, match=r"rollout_scores\.parquet"):
        read_evidence(inputs)


def test_a_response_without_a_score_is_refused(inputs):
    change(inputs["scores"] / "scores.parquet", SCORES, lambda rows: rows[1:])
    with pytest.raises(ContractError, match="1 responses have no score"):
        read_evidence(inputs)


def test_a_score_without_a_response_is_refused(inputs):
    change(inputs["generations"] / "generations.parquet", GENERATIONS, lambda rows: rows[1:])
    with pytest.raises(ContractError, match="never generated"):
        read_evidence(inputs)


def test_a_response_scored_twice_is_refused(inputs):
    change(inputs["scores"] / "scores.parquet", SCORES, lambda rows: [*rows, rows[0]])
    with pytest.raises(ContractError, match="scored twice"):
        read_evidence(inputs)


def test_both_models_must_be_there(inputs):
    for path, schema in (
        (inputs["scores"] / "scores.parquet", SCORES),
        (inputs["generations"] / "generations.parquet", GENERATIONS),
    ):
        change(path, schema, lambda rows: [row for row in rows if row["model"] == "base"])
    with pytest.raises(ContractError, match="trained"):
        read_evidence(inputs)


def test_an_abstained_sample_with_a_number_is_refused(inputs):
    def lie(rows):
        rows[0].update(status="abstained", judge_reward=0.0)

    change(inputs["scores"] / "scores.parquet", SCORES, lie)
    with pytest.raises(ContractError, match="is abstained and has a judge_reward"):
        read_evidence(inputs)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_reward_that_is_no_number_is_refused(inputs, value):
    def spoil(rows):
        rows[0].update(judge_reward=value)

    change(inputs["scores"] / "scores.parquet", SCORES, spoil)
    with pytest.raises(ContractError, match="judge_reward"):
        read_evidence(inputs)


def test_a_rollout_with_two_rows_is_refused(inputs):
    change(inputs["training"] / "rollouts.parquet", ROLLOUTS, lambda rows: [*rows, rows[0]])
    with pytest.raises(ContractError, match="there twice"):
        read_evidence(inputs)


def test_prompts_of_another_shape_are_refused(inputs):
    path = inputs["data"] / "heldout.parquet"
    write_table(path, [], METRICS)
    with pytest.raises(ContractError, match="columns differ"):
        read_evidence(inputs)
    assert PROMPTS.names != METRICS.names
