"""The rubric's reward: worked rows, abstaining, and properties that hold for every rubric."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import ContractError
from components.judge.verdict import Criterion, UnknownReason, Verdict, VerdictStatus
from components.reward.rubric import rubric_reward


def known(probability: float) -> Verdict:
    status = VerdictStatus.MET if probability > 0.5 else VerdictStatus.UNMET
    return Verdict(status, probability, None, None, "j", "p", 1)


def unknown(reason: UnknownReason = UnknownReason.TIMEOUT) -> Verdict:
    return Verdict(VerdictStatus.UNKNOWN, None, None, reason, "j", "p", 3)


def rubric(*points: float) -> list[Criterion]:
    return [Criterion(f"criterion {number}", value) for number, value in enumerate(points)]


MET, UNMET = known(1.0), known(0.0)


@pytest.mark.parametrize(
    ("penalty", "clipped", "unclipped"),
    [(-4.0, 0.4, 0.4), (-10.0, 0.0, -0.2)],
)
def test_worked_rows(penalty: float, clipped: float, unclipped: float) -> None:
    reward = rubric_reward(rubric(5, 3, 2, penalty), [MET, MET, UNMET, MET], value="binary")
    assert reward.status == "scored"
    assert reward.value == pytest.approx(clipped)
    assert reward.parts["unclipped"] == pytest.approx(unclipped)
    assert reward.parts["earned"] == pytest.approx(0.8)
    assert reward.parts["penalty"] == pytest.approx(penalty / 10)


def test_a_penalty_that_is_not_met_costs_nothing() -> None:
    assert rubric_reward(rubric(5, -4), [MET, UNMET]).value == 1.0


def test_probability_weights_and_binary_does_not() -> None:
    verdicts = [known(0.75), known(0.4)]
    assert rubric_reward(rubric(1, 3), verdicts).value == pytest.approx((0.75 + 3 * 0.4) / 4)
    assert rubric_reward(rubric(1, 3), verdicts, value="binary").value == pytest.approx(0.25)


def test_unknown_positive_leaves_both_sums() -> None:
    reward = rubric_reward(rubric(8, 2), [MET, unknown()], min_known_weight=0.8)
    assert (reward.status, reward.value, reward.known_weight) == ("scored", 1.0, pytest.approx(0.8))


def test_too_little_known_abstains() -> None:
    reward = rubric_reward(rubric(7, 3), [MET, unknown()], min_known_weight=0.8)
    assert (reward.status, reward.value, reward.parts, reward.reason) == ("abstained", None, {}, "known_weight")
    assert reward.known_weight == pytest.approx(0.7)


@pytest.mark.parametrize("points", [-0.01, -4.0, -100.0])
def test_failure_never_hides_a_penalty(points: float) -> None:
    reward = rubric_reward(rubric(5, points), [MET, unknown()])
    assert (reward.status, reward.value, reward.reason) == ("abstained", None, "penalty_unknown")
    assert reward.known_weight == 1.0


@pytest.mark.parametrize("reason", list(UnknownReason))
def test_every_reason_abstains(reason: UnknownReason) -> None:
    reward = rubric_reward(rubric(1), [unknown(reason)], min_known_weight=1e-9)
    assert (reward.status, reward.value, reward.known_weight) == ("abstained", None, 0.0)


def test_bad_rubrics_are_errors() -> None:
    with pytest.raises(ContractError, match="empty"):
        rubric_reward([], [])
    with pytest.raises(ContractError, match="no positive points"):
        rubric_reward(rubric(-1, -2), [MET, MET])
    with pytest.raises(ContractError, match="1 verdicts for 2 criteria"):
        rubric_reward(rubric(1, 2), [MET])
    with pytest.raises(ContractError, match="twice: 'a'"):
        rubric_reward([Criterion("a", 1), Criterion("a", 2)], [MET, MET])
    with pytest.raises(ContractError, match="twice: 'a  b'"):
        rubric_reward([Criterion("a b", 1), Criterion("a  b", 2)], [MET, MET])
    with pytest.raises(ContractError, match="row-7"):
        rubric_reward([], [], where="row-7")


def test_a_protocol_without_probabilities_needs_binary() -> None:
    bare = Verdict(VerdictStatus.MET, None, None, None, "j", "rubric/1", 1)
    assert rubric_reward(rubric(1), [bare], value="binary").value == 1.0
    with pytest.raises(ContractError, match="no probabilities"):
        rubric_reward(rubric(1), [bare], value="probability")


POINTS = st.one_of(st.floats(0.1, 10), st.floats(-10, -0.1))
VERDICTS = st.one_of(st.floats(0, 1).map(known), st.sampled_from(list(UnknownReason)).map(unknown))
ROWS = st.lists(st.tuples(POINTS, VERDICTS), min_size=1, max_size=12).filter(lambda rows: any(p > 0 for p, _ in rows))
SHARES = st.floats(0.01, 1)


@given(ROWS, SHARES)
def test_reward_is_the_formula_or_nothing(rows: list[tuple[float, Verdict]], least: float) -> None:
    criteria, verdicts = rubric(*(p for p, _ in rows)), [v for _, v in rows]
    reward = rubric_reward(criteria, verdicts, min_known_weight=least)
    pairs = [(Fraction(p), Fraction(v.probability)) for p, v in rows if v.probability is not None]
    positive = sum(p for p, _ in pairs if p > 0)
    whole = sum(Fraction(p) for p, _ in rows if p > 0)
    hidden = any(p < 0 and v.probability is None for p, v in rows)
    if hidden or not positive or positive / whole < Fraction(least) - Fraction(1, 10**8):
        assert reward.status == "abstained"
        assert reward.value is None
        assert reward.reason is not None
    elif positive / whole > Fraction(least):
        expected = float(sum(p * q for p, q in pairs) / positive)
        assert reward.status == "scored"
        assert reward.reason is None
        assert reward.parts["unclipped"] == pytest.approx(expected, abs=1e-9)
        assert reward.value == pytest.approx(max(0.0, expected), abs=1e-9)
    if reward.value is not None:
        assert 0.0 <= reward.value <= 1.0


@given(ROWS, st.randoms(use_true_random=False))
def test_order_does_not_matter(rows: list[tuple[float, Verdict]], dice: object) -> None:
    shuffled = list(rows)
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    one = rubric_reward(rubric(*(p for p, _ in rows)), [v for _, v in rows])
    other = rubric_reward(rubric(*(p for p, _ in shuffled)), [v for _, v in shuffled])
    assert one.status == other.status
    assert one.value == pytest.approx(other.value, abs=1e-12)


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=8), st.lists(st.floats(-10, -0.1), max_size=8))
def test_an_unknown_verdict_never_beats_the_best_known_one(good: list[float], bad: list[float]) -> None:
    criteria = rubric(*good, *bad)
    best = rubric_reward(criteria, [MET] * len(good) + [UNMET] * len(bad))
    assert best.value == pytest.approx(1.0)
    for place in range(len(criteria)):
        verdicts = [MET] * len(good) + [MET] * len(bad)
        verdicts[place] = unknown()
        got = rubric_reward(criteria, verdicts)
        full = rubric_reward(criteria, [MET] * len(criteria))
        if criteria[place].points < 0:
            assert got.value is None
        else:
            assert got.value is None or got.value <= full.value + 1e-9 or not bad


@given(ROWS, SHARES, st.data())
def test_losing_a_verdict_never_turns_into_a_number_of_its_own(
    rows: list[tuple[float, Verdict]], least: float, data: st.DataObject
) -> None:
    """With one verdict lost, a sample abstains or has the reward of the rubric without that criterion."""
    criteria, verdicts = rubric(*(p for p, _ in rows)), [v for _, v in rows]
    place = data.draw(st.integers(0, len(rows) - 1))
    verdicts[place] = unknown()
    reward = rubric_reward(criteria, verdicts, min_known_weight=least)
    if reward.status == "scored":
        assert criteria[place].points > 0
        shorter = rubric_reward(
            criteria[:place] + criteria[place + 1 :], verdicts[:place] + verdicts[place + 1 :], min_known_weight=1e-9
        )
        assert reward.value == pytest.approx(shorter.value)
        assert reward.parts["unclipped"] == pytest.approx(shorter.parts["unclipped"])


@given(ROWS, st.floats(0.01, 100))
def test_the_scale_of_the_points_does_not_matter(rows: list[tuple[float, Verdict]], scale: float) -> None:
    verdicts = [v for _, v in rows]
    one = rubric_reward(rubric(*(p for p, _ in rows)), verdicts, min_known_weight=1e-9)
    other = rubric_reward(rubric(*(scale * p for p, _ in rows)), verdicts, min_known_weight=1e-9)
    assert one.status == other.status
    if one.value is not None:
        assert other.value == pytest.approx(one.value)
        assert other.parts["unclipped"] == pytest.approx(one.parts["unclipped"], abs=1e-9)


def test_unclipped_is_the_ratio_itself() -> None:
    # FACTS A.5 and H: (5 + 3 - 10) / 10, which RuscaRL's clipping makes 0 and HealthBench's example score keeps.
    verdicts = [MET, MET, UNMET, MET]
    assert rubric_reward(rubric(5, 3, 2, -10), verdicts, "binary", clip=False).value == pytest.approx(-0.2)
    assert rubric_reward(rubric(5, 3, 2, -10), verdicts, "binary").value == 0.0


@given(ROWS)
def test_clipping_changes_what_is_below_zero_alone(rows: list[tuple[float, Verdict]]) -> None:
    criteria, verdicts = rubric(*(p for p, _ in rows)), [v for _, v in rows]
    clipped = rubric_reward(criteria, verdicts)
    whole = rubric_reward(criteria, verdicts, clip=False)
    assert (clipped.status, clipped.parts, clipped.reason) == (whole.status, whole.parts, whole.reason)
    if whole.value is not None:
        assert clipped.value == max(0.0, whole.value)
        # The row's own bound: all penalties, nothing earned.
        positive = sum(p for p, v in rows if p > 0 and v.probability is not None)
        assert sum(p for p, _ in rows if p < 0) / positive - 1e-9 <= whole.value <= 1.0
