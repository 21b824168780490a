"""GRPO advantages: figures by hand, and a direct formula in float64."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.reward.advantage import VARIANCE_FLOOR, grpo_advantages

REWARD = st.one_of(st.none(), st.floats(0, 1))


def test_one_failure_scored_as_zero_would_have_cost_two_and_a_half_deviations():
    # FACTS part 0.5: one wrong zero among 8 equal samples has advantage -(n-1)/sqrt(n), the others +1/sqrt(n).
    unmasked = grpo_advantages([0.0] + [0.8] * 7, ["p"] * 8)
    assert unmasked[0] == pytest.approx(-7 / math.sqrt(8))
    assert unmasked[0] == pytest.approx(-2.475, abs=1e-3)
    assert unmasked[1] == pytest.approx(0.354, abs=1e-3)


def test_the_same_failure_abstained_trains_nothing():
    assert grpo_advantages([None] + [0.8] * 7, ["p"] * 8) == [None] * 8


def test_a_lone_survivor_has_no_advantage():
    assert grpo_advantages([None, 0.9, None, None], ["p"] * 4) == [None] * 4


def test_differences_of_rounding_size_are_no_variance():
    assert grpo_advantages([0.3, 0.3 + VARIANCE_FLOOR / 10], ["p", "p"]) == [None, None]


def test_groups_do_not_mix():
    alone = grpo_advantages([0.1, 0.5], ["a", "a"])
    mixed = grpo_advantages([0.1, 0.9, 0.5, 0.8], ["a", "b", "a", "b"])
    assert [mixed[0], mixed[2]] == alone


def test_without_the_division_it_is_the_difference_from_the_mean():
    assert grpo_advantages([0.0, 1.0], ["a", "a"], divide_by_deviation=False) == [-0.5, 0.5]


def test_a_reward_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="not finite"):
        grpo_advantages([float("nan"), 0.5], ["a", "a"])


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="2 rewards for 1"):
        grpo_advantages([0.1, 0.2], ["a"])


@given(st.lists(st.tuples(REWARD, st.integers(0, 4)), max_size=40))
def test_against_a_direct_formula_in_float64(rows: list[tuple[float | None, int]]):
    rewards, groups = [row[0] for row in rows], [row[1] for row in rows]
    advantages = grpo_advantages(rewards, groups)
    for group in set(groups):
        values = np.array([r for r, g in zip(rewards, groups, strict=True) if g == group and r is not None])
        informative = len(values) >= 2 and values.std(ddof=1) > VARIANCE_FLOOR
        for reward, advantage, label in zip(rewards, advantages, groups, strict=True):
            if label != group:
                continue
            if reward is None or not informative:
                assert advantage is None
            else:
                assert advantage == pytest.approx((reward - values.mean()) / values.std(ddof=1), rel=1e-6, abs=1e-6)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=16), st.integers(1, 8))
def test_abstained_siblings_change_nothing(rewards: list[float], abstained: int):
    without = grpo_advantages(rewards, ["p"] * len(rewards))
    padded = grpo_advantages([*rewards, *[None] * abstained], ["p"] * (len(rewards) + abstained))
    assert padded[: len(rewards)] == without
    assert padded[len(rewards) :] == [None] * abstained
