"""Findings over arms, against other implementations and by hand."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from components.bias.findings.groups import group_effect, leakage_estimate, preference_leakage
from components.bias.findings.parting import bend, parting
from components.bias.findings.prediction import Arm, predict
from components.bias.lengthcontrol import length_controlled


def _arms(judges: int, seeds: int, slope: float, seed: int) -> list[Arm]:
    draw = np.random.default_rng(seed)
    biases = np.linspace(-0.2, 0.4, judges)
    own, shared = draw.normal(0, 0.1, judges), draw.normal(0, 0.2, seeds)
    return [
        Arm(f"j{j}", s, float(biases[j]), float(slope * biases[j] + own[j] + shared[s] + draw.normal(0, 0.03)))
        for j in range(judges)
        for s in range(seeds)
    ]


def test_with_every_judge_under_every_seed_it_is_the_regression_of_the_judges_means() -> None:
    arms = _arms(6, 4, 2.0, 1)
    judges = sorted({arm.judge for arm in arms})
    means = [np.mean([arm.drift for arm in arms if arm.judge == judge]) for judge in judges]
    biases = [next(arm.bias for arm in arms if arm.judge == judge) for judge in judges]
    plain = stats.linregress(biases, means)
    found = predict(arms)
    assert found.slope == pytest.approx(plain.slope, rel=1e-6)
    assert found.low is not None
    assert found.high is not None
    half = stats.t.ppf(0.975, 4) * plain.stderr
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=1e-3)
    assert found.p == pytest.approx(plain.pvalue, rel=1e-2)
    assert (found.judges, found.seeds, found.arms, found.orders) == (6, 4, 24, math.factorial(6))


def test_three_judges_in_order_are_one_of_three_ways() -> None:
    arms = [Arm(f"j{j}", 0, j * 0.1, j * 1.0) for j in range(3)]
    # Of the six orders the two that are monotone have the largest slope.
    found = predict(arms)
    assert found.permutation_p == pytest.approx(2 / 6)
    # They lie on one line, which is no certainty.
    assert (found.slope, found.low, found.p) == (pytest.approx(10.0), None, None)


def test_judges_that_differ_no_more_than_seeds_do_are_the_regression_of_their_means_too() -> None:
    # Judges' means close to a line beside runs that scatter: the likeliest spread between judges is 0.
    draw, biases = np.random.default_rng(5), [0.0, 0.1, 0.3, 0.4]
    rest = draw.normal(0, 0.2, (4, 3))
    rest += np.array([0.01, -0.01, 0.02, -0.01])[:, None] - rest.mean(axis=1, keepdims=True)
    drifts = 2.0 * np.array(biases)[:, None] + rest
    arms = [Arm(f"j{j}", s, biases[j], float(drifts[j, s])) for j in range(4) for s in range(3)]
    plain, found = stats.linregress(biases, drifts.mean(axis=1)), predict(arms)
    assert found.judge_sd == pytest.approx(0.0, abs=1e-3)
    assert found.slope == pytest.approx(plain.slope)
    assert found.low == pytest.approx(plain.slope - stats.t.ppf(0.975, 2) * plain.stderr)
    assert found.p == pytest.approx(plain.pvalue)


def test_what_draws_no_line_says_why() -> None:
    two = predict([Arm("a", 0, 0.1, 0.2), Arm("b", 0, 0.2, 0.3)])
    assert (two.slope, two.p) == (None, None)
    assert "2 judges" in two.reason
    alike = predict([Arm(name, 0, 0.1, 0.2) for name in "abc"])
    assert "same bias" in alike.reason
    with pytest.raises(ValueError, match="two biases"):
        predict([Arm("a", 0, 0.1, 0.2), Arm("a", 1, 0.2, 0.3)])


def test_the_bend_of_a_curve_that_bends_is_where_it_bends() -> None:
    assert bend([0, 5, 10, 15, 20], np.array([0.1, 0.1, 0.1, 0.3, 0.5])) == 10
    assert bend([0, 10, 20], np.array([0.0, 0.2, 0.4])) == 0


def test_proxy_and_gold_part_where_the_one_goes_on_alone() -> None:
    draw = np.random.default_rng(3)
    steps, prompts = [0, 10, 20, 30, 40], [f"p{n}" for n in range(60)]
    rise = {0: 0.3, 10: 0.4, 20: 0.5, 30: 0.5, 40: 0.5}
    gold = {step: {p: float(rise[step] + draw.normal(0, 0.05)) for p in prompts} for step in steps}
    proxy = {step: {p: float(0.3 + step / 100 + draw.normal(0, 0.05)) for p in prompts} for step in steps}
    gold[10]["p0"] = None
    found = parting(proxy, gold)
    assert found.step == 20
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 20 <= found.high
    assert (found.prompts, found.dropped) == (59, 1)
    assert found.gap.value == pytest.approx(0.2, abs=0.04)


def test_rewards_that_rise_together_do_not_part() -> None:
    draw = np.random.default_rng(4)
    proxy = {step: {f"p{n}": float(0.3 + step / 100 + draw.normal(0, 0.1)) for n in range(40)} for step in (0, 10, 20)}
    gold = {step: {f"p{n}": float(0.3 + step / 100 + draw.normal(0, 0.1)) for n in range(40)} for step in (0, 10, 20)}
    found = parting(proxy, gold)
    assert (found.step, found.low) == (None, None)
    assert found.reason
    with pytest.raises(ValueError, match="the same"):
        parting(proxy, {0: {}, 10: {}})


def test_preference_leakage_by_hand() -> None:
    wins = {("i", "i"): [0.6], ("j", "i"): [0.4], ("j", "j"): [1.0, 0.1], ("i", "j"): [0.45]}
    # i: (0.6 - 0.5) / 0.5 = 0.2; j: (0.55 - 0.5) / 0.5 = 0.1; their mean 0.15.
    assert preference_leakage(wins, "i", "j") == pytest.approx(0.15)
    named = {pair: [(f"p{place}", share) for place, share in enumerate(found)] for pair, found in wins.items()}
    assert leakage_estimate(named, "i", "j").value == pytest.approx(0.15)
    assert preference_leakage({("i", "i"): [1.0]}, "i", "j") is None


def test_families_that_differ_as_much_as_can_be_are_one_of_few_deals() -> None:
    values = {"a1": 0.0, "a2": 0.1, "a3": 0.05, "b1": 1.0, "b2": 1.1, "b3": 1.05}
    found = group_effect(values, {name: name[0] for name in values})
    assert found.means == {"a": pytest.approx(0.05), "b": pytest.approx(1.05)}
    # Two of the twenty deals of six judges to two families of three.
    assert found.p == pytest.approx(0.1, abs=0.015)
    assert group_effect({"a1": 0.1, "b1": 0.2}, {"a1": "a", "b1": "b"}).p is None


def test_equal_lengths_leave_the_win_rate_as_it_is() -> None:
    found = length_controlled([1.0, 0.0, 0.5, 1.0], [0.0] * 4, list("abcd"))
    assert found.controlled == pytest.approx(found.raw)


def test_the_length_controlled_rate_is_that_of_the_likeliest_curve() -> None:
    draw = np.random.default_rng(2)
    apart = draw.normal(20, 30, 400)
    won = (draw.random(400) < 1 / (1 + np.exp(-1.5 * np.tanh(apart / apart.std())))).astype(float)

    def loss(at: np.ndarray) -> float:
        odds = at[0] + at[1] * np.tanh(apart / apart.std())
        return float((np.logaddexp(0, odds) - won * odds).sum())

    best = optimize.minimize(loss, [0.0, 0.0], method="BFGS", options={"gtol": 1e-8}).x
    found = length_controlled(won.tolist(), apart.tolist(), [str(n) for n in range(400)])
    assert found.controlled == pytest.approx(1 / (1 + math.exp(-best[0])), abs=1e-4)
    assert found.raw > 0.6
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.5 < found.high


def test_wins_that_length_tells_apart_have_no_controlled_rate() -> None:
    found = length_controlled([1.0, 1.0, 0.0, 0.0], [9.0, 8.0, -8.0, -9.0], list("abcd"))
    assert (found.raw, found.controlled, found.low) == (0.5, None, None)
