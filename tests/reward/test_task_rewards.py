"""Rewards of tasks that gold, a judge or both decide; expected values by the formula in fractions, or by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from verdicts import BROKEN, llm, unknown

from components.core.spec.reward import RewardSpec
from components.judge.rule import Rule
from components.judge.verdict import Criterion, Sample, Verdict, VerdictStatus
from components.reward.rewarder import Rewarder, reward_of
from components.tasks.gold import QaGold, to_json

TASK = Rule.parse({"name": "task", "gold": to_json(QaGold("squad2", ("a cat",))), "metric": "f1"})


def line(points: float) -> Criterion:
    return Criterion("The answer is one of the known answers.", points, "rule", rule=TASK)


def gold(value: float) -> Verdict:
    status = VerdictStatus.MET if value == 1 else VerdictStatus.UNMET
    return Verdict(status, value, None, None, "rule", "rule/task/0", 1)


def judged(value: float | None) -> Verdict:
    """Of a protocol that gives no probabilities where None."""
    return Verdict(VerdictStatus.MET if value is None else VerdictStatus.UNMET, value, None, None, "j", "p", 1)


def spec(**changes: object) -> RewardSpec:
    return RewardSpec.model_validate({"name": "r", "protocol": "rubric", "value": "binary", **changes})


def sample(*criteria: Criterion) -> Sample:
    return Sample("r", "s", "Q?", "a cat", criteria)


@pytest.mark.parametrize(
    ("criteria", "verdicts", "value"),
    [
        # Gold alone, by its F1, also where the judge's verdicts count as yes or no.
        ((line(1),), (gold(2 / 3),), 2 / 3),
        # The judge decides; what gold found is recorded and counts for nothing, whatever it is.
        ((line(0), llm("is equal to: a cat")), (gold(0.0), judged(None)), 1.0),
        ((line(0), llm("is equal to: a cat")), (gold(1.0), judged(0.0)), 0.0),
        ((line(0), llm("is equal to: a cat")), (BROKEN, judged(None)), 1.0),
        # Both: (0.5 + 1) / 2.
        ((line(1), llm("is equal to: a cat")), (gold(0.5), judged(None)), 0.75),
    ],
)
def test_who_decides(criteria: tuple[Criterion, ...], verdicts: tuple[Verdict, ...], value: float) -> None:
    found = reward_of(spec(), sample(*criteria), verdicts)
    assert found.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("criteria", "verdicts"),
    [
        ((line(1),), (BROKEN,)),
        ((line(0), llm("is equal to: a cat")), (gold(1.0), unknown())),
        ((line(1), llm("is equal to: a cat")), (BROKEN, judged(None))),
    ],
)
def test_what_is_not_known_is_no_reward(criteria: tuple[Criterion, ...], verdicts: tuple[Verdict, ...]) -> None:
    found = reward_of(spec(), sample(*criteria), verdicts)
    assert (found.status, found.value) == ("abstained", None)


def test_verif_multiplies_by_golds_value_and_leaves_recorded_lines_out() -> None:
    protocol = spec(combine="verif", protocol="verif")
    both = sample(line(1), llm("is equal to: a cat"))
    assert reward_of(protocol, both, [gold(0.5), judged(None)]).value == pytest.approx(0.5)
    recorded = sample(line(0), llm("is equal to: a cat"))
    assert reward_of(protocol, recorded, [gold(0.0), judged(None)]).value == 1.0
    assert reward_of(protocol, recorded, [BROKEN, judged(None)]).value == 1.0


VALUES = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1)])


@given(given_gold=VALUES, given_judge=VALUES, points=st.integers(0, 5), judge_points=st.integers(1, 5))
def test_the_formula_in_fractions(given_gold: Fraction, given_judge: Fraction, points: int, judge_points: int) -> None:
    criteria = (line(points), llm("is equal to: a cat", judge_points))
    verdicts = (gold(float(given_gold)), judged(float(given_judge)))
    found = reward_of(spec(protocol="rubric_token", value="probability"), sample(*criteria), verdicts)
    expected = (points * given_gold + judge_points * given_judge) / (points + judge_points)
    assert found.value == pytest.approx(float(expected))


class Checks:
    """Says what it is told of the rule's line."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict

    async def check(self, sample: Sample) -> list[Verdict | None]:
        return [self.verdict if criterion.verifier == "rule" else None for criterion in sample.criteria]

    async def close(self) -> None: ...


@pytest.mark.parametrize(("verdict", "value"), [(gold(2 / 3), 2 / 3), (gold(0.0), 0.0), (BROKEN, None)])
async def test_without_a_judge_gold_is_the_whole_reward(verdict: Verdict, value: float | None) -> None:
    rewarder = Rewarder(spec(combine="rule_only"), None, lambda: Checks(verdict))
    found = await rewarder.reward(sample(line(1)))
    assert found.reward.value == (None if value is None else pytest.approx(value))
    assert found.rules_failed is (value is None)
    await rewarder.close()


def test_only_a_line_that_code_decides_may_have_no_points() -> None:
    assert line(0).points == 0
    with pytest.raises(ValueError, match="not zero"):
        Criterion("is polite", 0.0)
