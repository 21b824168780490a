"""The clustered mean against matrices written out in full, scipy's t test, and what must hold whatever the numbers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from components.bias.clusters import cluster_sums, estimate, robust_error

SPAN = (-1.0, 1.0)


def test_with_texts_of_equal_size_it_is_the_t_test_on_the_texts_means() -> None:
    values = [0.1, 0.3, -0.2, 0.0, 0.5, 0.4, 0.2, 0.2]
    texts = ["a", "a", "b", "b", "c", "c", "d", "d"]
    means = [0.2, -0.1, 0.45, 0.2]
    found = estimate(values, texts, scale=SPAN)
    expected = stats.ttest_1samp(means, 0.0)
    low, high = expected.confidence_interval(0.95)
    assert found.value == pytest.approx(0.1875)
    assert found.df == pytest.approx(3.0)
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert (found.items, found.texts) == (8, 4)


def _written_out(values: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """CR2 and its Satterthwaite degrees of freedom with the matrices of Bell and McCaffrey, nothing simplified."""
    n = len(values)
    hat = np.full((n, n), 1.0 / n)
    rest = np.eye(n) - hat
    columns = []
    for group in np.unique(groups):
        at = groups == group
        block = np.eye(at.sum()) - hat[np.ix_(at, at)]
        roots, vectors = np.linalg.eigh(block)
        adjusted = vectors @ np.diag(roots**-0.5) @ vectors.T
        column = np.zeros(n)
        column[at] = adjusted @ np.full(at.sum(), 1.0 / n)
        columns.append(rest @ column)
    stacked = np.array(columns)
    variance = float(((stacked @ values) ** 2).sum())
    gram = stacked @ stacked.T
    return math.sqrt(variance), float(np.trace(gram) ** 2 / (gram @ gram).trace())


@settings(max_examples=60)
@given(st.lists(st.integers(1, 6), min_size=2, max_size=7), st.integers(0, 10_000))
def test_texts_of_unequal_size_agree_with_the_matrices_written_out(sizes: list[int], seed: int) -> None:
    groups = np.repeat(np.arange(len(sizes)), sizes)
    values = np.random.default_rng(seed).normal(size=len(groups))
    sums, counts = cluster_sums(values.tolist(), [f"t{group}" for group in groups])
    error, df = robust_error(sums, counts)
    expected_error, expected_df = _written_out(values, groups)
    assert error == pytest.approx(expected_error)
    assert df == pytest.approx(expected_df)


def test_a_share_of_independent_items_is_near_wilsons_interval() -> None:
    # Wilson (1927) of 20 of 100: 0.1334 to 0.2888; here with t of 99 degrees of freedom and n - 1, so a little wider.
    values = [1.0] * 20 + [0.0] * 80
    found = estimate(values, [f"t{n}" for n in range(100)], scale=(0.0, 1.0), share=True)
    assert found.low == pytest.approx(0.1334, abs=0.003)
    assert found.high == pytest.approx(0.2888, abs=0.003)


def test_values_that_are_all_equal_do_not_make_certainty() -> None:
    found = estimate([0.25] * 10, [f"t{n}" for n in range(10)], scale=SPAN)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.25 < found.high
    assert found.p == pytest.approx(2 / 2**10)
    assert estimate([0.0] * 10, [f"t{n}" for n in range(10)], scale=SPAN).p == 1.0


def test_one_text_gives_a_mean_and_no_interval_and_none_gives_nothing() -> None:
    one = estimate([0.1, 0.3], ["a", "a"], scale=SPAN)
    assert (one.value, one.low, one.high, one.p) == (pytest.approx(0.2), None, None, None)
    none = estimate([], [], scale=SPAN)
    assert (none.value, none.low, none.items, none.texts) == (None, None, 0, 0)


def test_a_value_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        estimate([math.nan, 0.0], ["a", "b"], scale=SPAN)
    with pytest.raises(ValueError, match="2 values for 1"):
        estimate([0.0, 0.0], ["a"], scale=SPAN)


@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 5)), min_size=2, max_size=40))
def test_the_interval_holds_the_mean_and_turns_with_the_sign(pairs: list[tuple[float, int]]) -> None:
    values, texts = [value for value, _ in pairs], [f"t{text}" for _, text in pairs]
    found = estimate(values, texts, scale=SPAN)
    turned = estimate([-value for value in values], texts, scale=SPAN)
    assert found.value is not None
    if found.texts < 2:
        assert found.low is None
        return
    assert found.low is not None
    assert found.high is not None
    assert found.p is not None
    assert turned.high is not None
    assert -1.0 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= 1.0
    assert 0.0 <= found.p <= 1.0
    assert turned.high == pytest.approx(-found.low, abs=1e-9)


def test_likeness_within_a_text_widens_the_interval() -> None:
    alike = estimate([1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0], list("aabbccdd"), scale=SPAN)
    mixed = estimate([1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0], list("aabbccdd"), scale=SPAN)
    assert alike.se is not None
    assert mixed.se is not None
    assert alike.se > mixed.se
