"""What workflows earn: by hand, by the figures of FACTS D.4, and by properties that hold for every attempt."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from components.core.errors import ConfigError, ContractError
from components.core.spec.workflow_reward import WorkflowRewardSpec
from components.workflow.contract.outcome import Form, Invalid, InvalidReason
from components.workflow.ladders import FOLDER, load_workflow_reward
from components.workflow.reward import Attempt, WorkflowReward, unique_share, workflow_reward
from components.workflow.run.execution import Execution, FailReason, Status
from components.workflow.types import Call, Cost

GATED = load_workflow_reward("workflow")
DESCRIBED = load_workflow_reward("as-described")
NOTHING = Cost(0, 0, 0, 0.0, None)
CALL = Call("Custom", {}, {}, None, NOTHING, None)
PLAIN = "one two three four five six"
"""No sequence of three words twice."""


def answered(
    score: float | None,
    *,
    tokens: int = 1000,
    seconds: float = 3.0,
    calls: int = 2,
    money: float | None = None,
    form: Form = Form.EXACT,
    response: str = PLAIN,
    domain: str = "math",
    claimed: float = 0.0,
) -> Attempt:
    cost = Cost(calls, tokens, 0, seconds, money)
    done = Execution(Status.ANSWERED, "42", None, "", cost, claimed, (CALL,) * calls, 99.0)
    return Attempt(domain, response, done, form, score)


def value(spec: WorkflowRewardSpec, attempt: Attempt) -> float:
    found = workflow_reward(spec, attempt)
    assert found.value is not None
    return found.value


def ended(status: Status, reason: str) -> Attempt:
    return Attempt("math", PLAIN, Execution(status, None, reason, "why", NOTHING, None, (), 1.0), Form.EXACT, None)


def test_the_shipped_terms_by_hand() -> None:
    found = workflow_reward(GATED, answered(1.0))
    assert found.parts == pytest.approx(
        {"correctness": 0.65, "efficiency": 0.15, "simplicity": 0.10, "format": 0.05, "repetition": 0.0}
    )
    assert (found.status, found.right, found.reason) == ("scored", True, None)
    assert found.value == pytest.approx(0.95)
    dear = answered(1.0, tokens=20_000, seconds=40.0, calls=5, form=Form.MIXED, response="a b c d " * 3)
    # .65 - 0 (up to 33,000 tokens) + .1 * (-.3 + 0) / 2 + 0; four different sequences of ten are a share of 0.4.
    assert value(GATED, dear) == pytest.approx(0.65 - 0.015 - 0.05)
    assert value(GATED, dataclasses.replace(dear, score=0.0)) == pytest.approx(-0.325 - 0.05)


def test_efficiency_and_simplicity_of_a_wrong_answer_are_nothing() -> None:
    cheap, costly = answered(0.0, tokens=1, seconds=0.0, calls=1), answered(0.0, tokens=10**6, seconds=900.0, calls=40)
    assert value(GATED, cheap) == value(GATED, costly) == pytest.approx(-0.325 + 0.05)
    parts = workflow_reward(GATED, cheap).parts
    assert (parts["efficiency"], parts["simplicity"]) == (0, 0)


def test_the_cost_that_the_program_claims_counts_for_nothing() -> None:
    assert value(GATED, answered(1.0, claimed=0.0)) == value(GATED, answered(1.0, claimed=1e9))


@pytest.mark.parametrize("reason", list(InvalidReason))
def test_what_is_invalid_gets_the_lowest_value(reason: InvalidReason) -> None:
    attempt = Attempt("code", PLAIN, Invalid(reason, "why"), score=1.0)
    assert workflow_reward(GATED, attempt) == WorkflowReward("scored", -1.0, {}, None, f"invalid:{reason}")


@pytest.mark.parametrize("reason", list(FailReason))
def test_what_fails_gets_the_lowest_value(reason: FailReason) -> None:
    found = workflow_reward(GATED, dataclasses.replace(ended(Status.FAILED, reason), score=1.0))
    assert found == WorkflowReward("scored", -1.0, {}, None, f"failed:{reason}")


def test_what_is_not_known_is_no_number() -> None:
    priced = GATED.model_copy(update={"efficiency": GATED.efficiency.model_copy(update={"unit": "money"})})
    for spec, attempt, reason in (
        (GATED, ended(Status.ABSTAINED, "judge_down"), "judge_down"),
        (GATED, answered(None), "score_unknown"),
        (GATED, dataclasses.replace(answered(None), unknown="sandbox"), "sandbox"),
        (priced, answered(1.0, money=None), "no_price"),
    ):
        assert workflow_reward(spec, attempt) == WorkflowReward("abstained", None, {}, None, reason)
    assert value(priced, answered(1.0, money=1.0)) == pytest.approx(0.95)


@pytest.mark.parametrize(
    "wrong", [{"score": 1.5}, {"score": -0.1}, {"score": float("nan")}, {"form": None}, {"domain": "art"}]
)
def test_an_attempt_that_contradicts_itself_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ContractError):
        workflow_reward(GATED, dataclasses.replace(answered(1.0), **wrong))


REPEATING = "again and " * 50


def test_as_described_has_the_range_and_the_sign_error_of_the_former_formula() -> None:
    """FACTS D.4: 9.1, or 9.2 with repetition; -5.05 at least; up to 7.7 with a model that has no price."""
    best = answered(1.0, money=0.0005)
    assert value(DESCRIBED, best) == pytest.approx(9.1)
    assert value(DESCRIBED, dataclasses.replace(best, response=REPEATING)) == pytest.approx(9.2)
    worst = answered(0.0, money=1.0, seconds=100.0, calls=9, form=Form.BARE)
    assert value(DESCRIBED, worst) == pytest.approx(-5.05)
    assert value(DESCRIBED, answered(1.0, money=None)) == pytest.approx(7.6)
    assert value(DESCRIBED, answered(1.0, money=None, response=REPEATING)) == pytest.approx(7.7)
    assert DESCRIBED.scale == pytest.approx((-6.5, 9.2))
    assert value(DESCRIBED, ended(Status.FAILED, "exception")) == -6.5
    # The same text costs where the penalty is one.
    assert value(GATED, answered(1.0, response=REPEATING)) == pytest.approx(0.90)


def test_as_described_pays_a_wrong_answer_for_being_cheap() -> None:
    cheap, dear = (answered(0.0, money=money, seconds=seconds) for money, seconds in ((0.0005, 1.0), (0.1, 90.0)))
    assert value(DESCRIBED, cheap) - value(DESCRIBED, dear) == pytest.approx(0.15 * 18 + 0.1 * 7.5)


@pytest.mark.parametrize(
    ("text", "share"), [("", 1.0), ("a b", 1.0), ("a b c", 1.0), ("a b c a b c", 3 / 4), ("a a a a a", 1 / 3)]
)
def test_share_of_different_sequences(text: str, share: float) -> None:
    assert unique_share(text) == pytest.approx(share)


attempts = st.builds(
    answered,
    st.floats(0, 1) | st.sampled_from([0.0, 1.0]),
    tokens=st.integers(0, 10**7),
    seconds=st.floats(0, 10**4),
    calls=st.integers(1, 60),
    money=st.none() | st.floats(0, 10),
    form=st.sampled_from(Form),
    response=st.lists(st.sampled_from("abc"), max_size=30).map(" ".join),
    domain=st.sampled_from(["math", "code", "qa"]),
)


@given(attempts)
def test_every_reward_is_on_the_scale_and_the_sum_of_its_parts(attempt: Attempt) -> None:
    for spec in (GATED, DESCRIBED):
        found = workflow_reward(spec, attempt)
        assert found.value is not None
        assert spec.scale[0] < found.value <= spec.scale[1] + 1e-9
        assert found.value == pytest.approx(sum(found.parts.values()))
        if spec is GATED:
            assert all(abs(part) <= 1 for part in found.parts.values())
            assert found.parts["repetition"] <= 0


@given(attempts, st.floats(0, 1))
def test_a_better_answer_is_worth_no_less(attempt: Attempt, other: float) -> None:
    assert attempt.score is not None
    low, high = sorted((attempt.score, other))
    rewards = [value(GATED, dataclasses.replace(attempt, score=score)) for score in (low, high)]
    assert rewards[0] <= rewards[1]
    if low < GATED.right_from <= high:
        assert rewards[0] < rewards[1]


@given(attempts, st.integers(0, 10**6), st.floats(0, 1000), st.integers(0, 20))
def test_more_work_is_worth_no_more(attempt: Attempt, tokens: int, seconds: float, calls: int) -> None:
    result = attempt.result
    assert isinstance(result, Execution)
    cost = dataclasses.replace(
        result.cost, prompt_tokens=result.cost.prompt_tokens + tokens, seconds=result.cost.seconds + seconds
    )
    more = dataclasses.replace(result, cost=cost, trace=result.trace + (CALL,) * calls)
    assert value(GATED, dataclasses.replace(attempt, result=more)) <= value(GATED, attempt)


@given(attempts, attempts)
def test_no_wrong_answer_beats_a_right_one(one: Attempt, other: Attempt) -> None:
    """In mathematics and code, whatever else it is; no repetition pays."""
    right = dataclasses.replace(one, score=1.0)
    wrong = dataclasses.replace(other, score=0.0)
    assert value(GATED, wrong) < value(GATED, right)
    longer = dataclasses.replace(one, response=REPEATING)
    assert value(GATED, longer) <= value(GATED, one)


Rungs = list[tuple[float, float]]


def _rungs(least: float, bound: float) -> st.SearchStrategy[Rungs]:
    pair = st.tuples(st.floats(0, bound, exclude_max=True), st.floats(least, 1))
    return st.lists(pair, min_size=1, max_size=4, unique_by=lambda each: each[0])


rungs, costly = _rungs(-1, 1), _rungs(-1, 2)


def ladder(given: Rungs, last: float, bounds: str) -> dict[str, Any]:
    """Bounds and values, each sorted: the best value at the best bound."""
    ordered = sorted((each[0] for each in given), reverse=bounds == "at_least")
    values = sorted([*(each[1] for each in given), last], reverse=True)
    steps = [{"bound": at, "value": worth} for at, worth in zip(ordered, values, strict=False)]
    return {"bounds": bounds, "rungs": steps, "otherwise": values[-1]}


def test_every_spec_that_is_accepted_keeps_right_above_wrong() -> None:
    """Scores' ladders end near -1, and those of costs at 0: else most specs are refused, and nothing is seen."""
    accepted = 0

    @settings(max_examples=80, deadline=None)
    @given(rungs, costly, costly, st.floats(-1, 0), attempts, attempts)
    def holds(scores: Rungs, costs: Rungs, times: Rungs, last: float, one: Attempt, other: Attempt) -> None:
        nonlocal accepted
        tree = GATED.model_dump(mode="json")
        tree["correctness"]["qa"] = ladder([(1.0, 1.0), *scores], last, "at_least")
        tree["efficiency"]["ladder"] = ladder(costs, 0.0, "at_most")
        tree["simplicity"]["seconds"] = ladder(times, 0.0, "at_most")
        try:
            spec = WorkflowRewardSpec.model_validate_json(json.dumps(tree))
        except ValidationError:
            return
        accepted += 1
        for attempt in (one, other):
            assert -1 < value(spec, attempt) <= 1 + 1e-9
        right = dataclasses.replace(one, score=1.0, domain="qa")
        for score in (0.0, 0.5, 0.99):
            assert value(spec, dataclasses.replace(right, score=score)) < value(spec, right)

    holds()
    assert accepted


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("repetition: 0.05}", "repetition: 0.06}", "add up to 1.01"),
        ("failed: -1.0", "failed: -0.5", "not the lowest value"),
        ("value: -0.25", "value: 0.25", "pay for repetition"),
        ("value: -0.3}\n", "value: 0.3}\n", "do not fall"),
        ("bound: 17000", "bound: 3300", "do not rise"),
        ("bound: 0.6", "bound: 0.9", "do not fall"),
        ("exact: 1.0", "exact: 1.5", "outside of [-1, 1]"),
        ("value: 0.7", "value: 0.9", "a dear right answer gets"),
        ("unit: tokens", "unit: words", "unit"),
        ("right_from: 1.0", "right_from: 1.5", "right_from"),
        ("otherwise: -0.8", "otherwise: -0.8\n  more: 1", "more"),
        ("bounds: at_most", "bounds: at_least", "do not fall"),
        ("math: {bounds: at_least", "math: {bounds: at_most", "at_most, where at_least is meant"),
        ("rungs: [{bound: 1.0", "rungs: [{bound: 1.5", "no score reaches 1.5"),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = (FOLDER / "workflow.yaml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "mine.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_workflow_reward(tmp_path / "mine.yaml")
    assert said in str(caught.value)
    assert "mine.yaml" in str(caught.value)


def test_a_reward_that_there_is_not_is_told_with_those_that_there_are() -> None:
    with pytest.raises(ConfigError, match="as-described, workflow"):
        load_workflow_reward("other")
