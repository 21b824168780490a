"""Clustered means, trends and correlations against hand calculation and numpy."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.clusters import clustered_mean, trend, within_correlation


def correlation(x, y, groups, resamples=200):
    return within_correlation(x, y, groups, resamples=resamples, confidence=0.95, seed=3)


def test_clusters_of_one_size_give_the_error_of_the_cluster_means():
    values = [1.0, 3.0, 2.0, 6.0, 5.0, 7.0]
    found = clustered_mean(values, list("aabbcc"))
    # Cluster means 2, 4, 6: mean 4, standard deviation 2, over the root of 3.
    assert found.mean == pytest.approx(4.0)
    assert found.error == pytest.approx(2.0 / math.sqrt(3))
    assert (found.n, found.clusters, found.unknown) == (6, 3, 0)


def test_clusters_of_unequal_size_by_hand():
    # Mean 2; residual sums -1 (a) and 1 (b); sqrt(2 / 1 * (1 + 1)) / 3.
    found = clustered_mean([1.0, 2.0, 3.0], ["a", "b", "b"])
    assert found.error == pytest.approx(2.0 / 3)


def test_samples_of_one_prompt_that_agree_count_as_one():
    alike = clustered_mean([0.0] * 8 + [1.0] * 8, [*["a"] * 8, *["b"] * 8])
    apart = clustered_mean([0.0] * 8 + [1.0] * 8, range(16))
    assert alike.error == pytest.approx(0.5)
    assert apart.error == pytest.approx(0.5 / math.sqrt(15))


def test_unknown_values_are_left_out_and_counted():
    found = clustered_mean([1.0, None, 0.0, None], ["a", "a", "b", "c"])
    assert (found.n, found.clusters, found.unknown, found.mean) == (2, 2, 2, 0.5)


def test_one_prompt_has_a_mean_and_no_error():
    found = clustered_mean([0.2, 0.4], ["a", "a"])
    assert found.mean == pytest.approx(0.3)
    assert found.error is None
    assert clustered_mean([None], ["a"]).mean is None


def test_trend_by_hand():
    found = trend(([0.0, 1.0], ["a", "b"]), ([1.0, 1.0], ["a", "b"]), resamples=300, confidence=0.95, seed=1)
    assert found.change == 0.5
    # The last side does not vary; the first resamples to 0, 0.5 or 1.
    assert (found.low, found.high) == (0.0, 1.0)


def test_trend_of_the_unknown_is_unknown():
    found = trend(([None], ["a"]), ([1.0], ["a"]), resamples=10, confidence=0.95, seed=1)
    assert (found.change, found.low, found.high) == (None, None, None)


def test_in_one_group_it_is_pearsons():
    x, y = [0.1, 0.5, 0.3, 0.9, 0.7], [0.0, 1.0, 0.0, 1.0, 0.0]
    assert correlation(x, y, ["g"] * 5).r == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_differences_between_groups_make_no_correlation():
    # Easy prompts please judge and gold alike, yet inside each prompt the judge prefers what gold rejects.
    x = [0.1, 0.2, 0.8, 0.9]
    y = [1.0, 0.0, 2.0, 1.0]
    assert np.corrcoef(x, y)[0, 1] > 0
    found = correlation(x, y, ["a", "a", "b", "b"])
    assert found.r == pytest.approx(-1.0)
    assert (found.n, found.groups, found.informative, found.unknown) == (4, 2, 2, 0)


def test_a_pair_with_an_unknown_side_is_left_out():
    found = correlation([0.1, None, 0.3], [0.0, 1.0, None], ["a", "a", "a"])
    assert (found.n, found.unknown, found.r) == (1, 2, None)


def test_what_never_varies_has_no_correlation():
    # The mean of ten 0.1 is not 0.1 in floating point; that difference is no variation.
    found = correlation([0.1] * 10, [float(i % 2) for i in range(10)], ["a"] * 10)
    assert (found.r, found.informative) == (None, 0)


def test_the_interval_holds_a_known_correlation():
    generator = np.random.default_rng(2)
    gold = generator.random(400) < 0.5
    judge = 0.6 * gold + generator.normal(0, 0.6, 400)
    found = correlation(list(judge), list(gold.astype(float)), [i // 8 for i in range(400)])
    # Covariance 0.6 / 4, deviations 1 / 2 and sqrt(0.36 / 4 + 0.36): r = 0.447.
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.447 < found.high
    assert found.high - found.low < 0.3


_value = st.none() | st.floats(-1e3, 1e3)


@given(st.lists(st.tuples(_value, _value, st.integers(0, 4)), max_size=30))
@settings(deadline=None)
def test_no_figure_is_ever_a_nan(rows):
    x, y, groups = ([row[i] for row in rows] for i in range(3))
    found = correlation(x, y, groups, resamples=30)
    numbers = [*dataclasses.astuple(found), *dataclasses.astuple(clustered_mean(x, groups))]
    assert all(number is None or math.isfinite(number) for number in numbers)
    assert found.r is None or -1.0 <= found.r <= 1.0
    assert found.n + found.unknown == len(rows)
