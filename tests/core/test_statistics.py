"""The paired bootstrap against hand calculation, full enumeration, scipy and simulation."""

import dataclasses
import functools
import itertools
import math

import numpy as np
import pytest
import scipy.special
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.score_interval import constant_interval, tango_interval, wilson_interval
from components.core.statistics import (
    Comparison,
    bootstrap_means,
    compare,
    percentile_intervals,
    prompt_mean,
    sign_test,
)

Side = dict[str, list[float | None]]


def run(base: Side, trained: Side, resamples: int = 400, confidence: float = 0.95, seed: int = 7) -> Comparison:
    return compare(base, trained, resamples=resamples, confidence=confidence, seed=seed)


def test_a_small_case_by_hand():
    found = run(
        {"a": [0.0, 1.0], "b": [1.0], "c": [0.0], "d": [None]},
        {"a": [1.0, 1.0], "b": [0.5], "c": [None, None], "d": [1.0]},
    )
    # a: 0.5 -> 1; b: 1 -> 0.5; c and d have an unknown side.
    assert (found.n, found.dropped) == (2, 2)
    assert (found.base, found.trained, found.gain) == (0.75, 0.75, 0.0)
    assert (found.unknown_base, found.unknown_trained) == (1, 2)
    assert (found.rose, found.fell, found.sign_p) == (1, 1, 1.0)


def test_an_unknown_sample_is_left_out_of_its_prompts_mean():
    assert prompt_mean([1.0, None, 0.0, 1.0]) == pytest.approx(2 / 3)
    assert prompt_mean([None, None]) is None


def test_a_prompt_counts_once_however_many_samples_it_has():
    found = run({"a": [0.0] * 9, "b": [0.0]}, {"a": [1.0] * 9, "b": [0.0]})
    assert found.gain == 0.5


def test_a_row_on_one_side_only_is_dropped_and_counted():
    found = run({"a": [1.0], "b": [0.0]}, {"b": [0.0], "c": [1.0]})
    assert (found.n, found.dropped, found.gain) == (1, 2, 0.0)


def test_two_prompts_by_enumeration():
    # Resamples of (0, 1) have means 0, 0.5, 0.5, 1 with equal chance, so the 95 % interval is the whole range.
    found = run({"a": [0.25], "b": [0.25]}, {"a": [0.25], "b": [0.75]})
    assert (found.low, found.high) == (0.0, 0.5)


def test_the_interval_is_that_of_all_resamples():
    values = np.array([0.0, 0.231, 0.917, 0.373, -0.319])
    means = [np.mean(picks) for picks in itertools.product(values, repeat=5)]
    low, high = np.quantile(means, [0.05, 0.95])
    found = percentile_intervals(values[:, None], resamples=40_000, confidence=0.9, seed=3)
    assert found is not None
    assert found[0] == pytest.approx((low, high), abs=0.02)


def test_the_interval_agrees_with_scipy():
    generator = np.random.default_rng(5)
    base, trained = generator.random(80) < 0.3, generator.random(80) < 0.55
    ours = run(
        {str(i): [float(v)] for i, v in enumerate(base)},
        {str(i): [float(v)] for i, v in enumerate(trained)},
        resamples=20_000,
    )
    theirs = scipy.stats.bootstrap(
        (base.astype(float), trained.astype(float)),
        lambda x, y, axis=-1: np.mean(y - x, axis=axis),
        paired=True,
        method="percentile",
        n_resamples=20_000,
        rng=np.random.default_rng(6),
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.013)


def brute_force(rose: int, fell: int, n: int, confidence: float) -> tuple[float, float]:
    """The score interval by its definition: for each difference on a grid the likeliest share of falls on a grid."""
    d = np.linspace(-1, 1, 2001)[1:-1, None]
    least = np.maximum(0.0, -d)
    fall = least + ((1 - d) / 2 - least) * np.linspace(0, 1, 801)[None, :]
    counts = ((rose, fall + d), (fell, fall), (n - rose - fell, 1 - 2 * fall - d))
    likelihood = sum(scipy.special.xlogy(count, np.maximum(share, 0.0)) for count, share in counts)
    best = np.take_along_axis(fall, likelihood.argmax(axis=1)[:, None], axis=1)
    score = (rose - fell - n * d) / np.sqrt(n * (2 * best + d * (1 - d)))
    inside = d[np.abs(score) <= scipy.stats.norm.ppf((1 + confidence) / 2)]
    return float(inside.min()), float(inside.max())


@pytest.mark.parametrize(
    ("rose", "fell", "n", "low", "high"),
    [
        # Fagerland, Lydersen and Laake (2014), table of intervals for 21 children before and after a transplantation.
        (7, 1, 21, 0.026, 0.517),
        (1, 7, 21, -0.517, -0.026),
        # Of 0 in 10 Wilson's bound is 1.96² / (10 + 1.96²).
        (0, 0, 10, -0.2775, 0.2775),
        (0, 0, 1000, -0.00383, 0.00383),
        # All of 4 rise: with q 0 the equation is solved by (4 - 1.96²) / (4 + 1.96²).
        (4, 0, 4, 0.0202, 1.0),
    ],
)
def test_known_score_intervals(rose, fell, n, low, high):
    places = 3 if n < 1000 else 5
    assert [round(end, places) for end in tango_interval(rose, fell, n, 0.95)] == pytest.approx(
        [low, high], abs=0.51 * 10**-places
    )


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.sampled_from([0.8, 0.95, 0.99]))
@settings(deadline=None, max_examples=25)
def test_the_score_interval_is_what_its_definition_says(rose, fell, same, confidence):
    n = rose + fell + same
    if n == 0:
        return
    low, high = tango_interval(rose, fell, n, confidence)
    expected = brute_force(rose, fell, n, confidence)
    assert (low, high) == pytest.approx(expected, abs=0.004)
    assert -1.0 <= low <= (rose - fell) / n <= high <= 1.0
    assert high - low > 0.0


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_nothing_changed_is_not_certain(value):
    side = {str(number): [value] for number in range(10)}
    found = run(side, side)
    assert (found.low, found.high) == pytest.approx((-0.2775, 0.2775), abs=1e-4)
    # Of 10 of 10 Wilson's interval begins at 10 / (10 + 1.96²).
    wilson = (0.0, 0.2775) if value == 0.0 else (0.7225, 1.0)
    assert found.base_interval == pytest.approx(wilson, abs=1e-4)
    # F1 that never varies: the unseen share may differ up to the ends of the scale.
    parts = {str(number): [0.4] for number in range(10)}
    found = run(parts, parts)
    assert (found.low, found.high) == pytest.approx((-0.2775, 0.2775), abs=1e-4)
    assert found.base_interval == pytest.approx((0.4 - 0.4 * 0.2775, 0.4 + 0.6 * 0.2775), abs=1e-4)
    # Of words nobody knows how many there can be.
    unknown = compare(side, side, resamples=50, confidence=0.95, seed=1, scale=None)
    assert (unknown.gain, unknown.low, unknown.high, unknown.base_interval) == (0.0, None, None, None)


def test_the_score_interval_covers_small_true_effects():
    """20 prompts of which each rises with 5 %: a bootstrap interval is [0, 0] in 0.95^20 = 36 % of the studies."""
    generator = np.random.default_rng(2)
    rises = generator.binomial(20, 0.05, size=400)
    inside = [low <= 0.05 <= high for low, high in (tango_interval(int(rose), 0, 20, 0.95) for rose in rises)]
    assert sum(inside) / 400 > 0.92


@pytest.mark.parametrize(("successes", "n"), [(0, 7), (7, 7), (3, 10), (405, 541)])
def test_wilsons_interval_is_scipys(successes: int, n: int):
    expected = scipy.stats.binomtest(successes, n).proportion_ci(0.9, method="wilson")
    assert wilson_interval(successes, n, 0.9) == pytest.approx((expected.low, expected.high), abs=1e-12)
    if successes in (0, n):
        assert constant_interval(successes / n, n, 0.9) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(
    ("rose", "fell", "p"),
    [
        (0, 0, 1.0),
        (5, 0, 2 / 2**5),
        (6, 0, 2 / 2**6),
        (1, 9, 2 * (1 + 10) / 2**10),
        (3, 3, 1.0),
    ],
)
def test_sign_test_by_hand(rose, fell, p):
    assert sign_test(rose, fell) == pytest.approx(p, rel=1e-12)


@given(st.integers(0, 3000), st.integers(0, 60))
@settings(deadline=None)
def test_sign_test_agrees_with_scipy(rose, fell):
    theirs = scipy.stats.binomtest(rose, rose + fell, 0.5).pvalue if rose + fell else 1.0
    assert sign_test(rose, fell) == pytest.approx(theirs, rel=1e-6, abs=1e-200)


@functools.cache
def coverage(resample_prompts: bool) -> float:
    """Share of 200 made-up studies whose 95 % interval holds the true effect of 0.05.

    40 prompts with four samples a side; prompts differ in how much they gain, so samples of one prompt are alike.
    """
    generator = np.random.default_rng(11)
    hits = 0
    for _ in range(200):
        gain = generator.choice([-0.4, 0.5], size=40)
        base = (generator.random((40, 4)) < 0.45).astype(float)
        trained = (generator.random((40, 4)) < 0.45 + gain[:, None]).astype(float)
        if resample_prompts:
            sides = [{str(i): list(row) for i, row in enumerate(side)} for side in (base, trained)]
        else:
            sides = [{str(i): [value] for i, value in enumerate(side.ravel())} for side in (base, trained)]
        found = run(*sides, resamples=300)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 0.05 <= found.high
    return hits / 200


def test_the_interval_covers_a_known_effect_as_often_as_it_says():
    # Three standard errors of a share of 200 at 0.95 are 0.046; a percentile interval of 40 prompts is a little short.
    assert 0.89 <= coverage(resample_prompts=True) <= 0.996


def test_taking_samples_for_prompts_would_cover_less():
    assert coverage(resample_prompts=False) < 0.88


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="not finite"):
        run({"a": [value]}, {"a": [1.0]})


def test_equal_seed_and_n_give_equal_draws_whatever_the_width():
    values = np.arange(12.0)
    wide = bootstrap_means(np.column_stack([values, -values]), resamples=50, seed=1)
    assert (wide[:, 0] == bootstrap_means(values, resamples=50, seed=1)).all()
    assert (wide[:, 1] == -wide[:, 0]).all()


_samples = st.lists(st.none() | st.floats(-1e6, 1e6), max_size=3)
_side = st.dictionaries(st.sampled_from("abcdefgh"), _samples, max_size=8)


@given(_side)
@settings(deadline=None)
def test_identical_sides_have_no_gain(side):
    found = run(side, side, resamples=50)
    assert found.rose == found.fell == 0
    if found.n:
        assert (found.gain, found.sign_p) == (0.0, 1.0)
    if found.n > 1:
        # Nothing changed in n prompts, which is no proof that nothing ever would.
        values = [prompt_mean(samples) for samples in side.values()]
        if all(value is None or 0.0 <= value <= 1.0 for value in values):
            assert found.low < 0.0 < found.high
        else:
            assert (found.low, found.high) == (None, None)


@given(_side, _side)
@settings(deadline=None)
def test_swapping_the_sides_flips_the_signs(base, trained):
    there, back = run(base, trained, resamples=50), run(trained, base, resamples=50)
    assert (there.n, there.dropped, there.rose, there.fell) == (back.n, back.dropped, back.fell, back.rose)
    assert there.sign_p == back.sign_p
    if there.gain is not None:
        assert there.gain == pytest.approx(-back.gain, rel=1e-9, abs=1e-6)
    if there.low is not None:
        assert (there.low, there.high) == pytest.approx((-back.high, -back.low), rel=1e-9, abs=1e-6)


@given(_side, _side)
@settings(deadline=None)
def test_no_figure_is_ever_a_nan_and_every_prompt_is_accounted_for(base, trained):
    found = run(base, trained, resamples=50)
    numbers = itertools.chain.from_iterable(
        value if isinstance(value, tuple) else [value] for value in dataclasses.astuple(found) if value is not None
    )
    assert all(math.isfinite(number) for number in numbers)
    assert found.n + found.dropped == len(set(base) | set(trained))
    assert (found.gain is None) == (found.n == 0)
    assert (found.low is None) == (found.high is None)
    assert found.n > 1 or found.low is None
    assert found.low is None or found.low <= found.high


@given(_side, _side, st.randoms())
@settings(deadline=None)
def test_the_order_of_the_prompts_decides_nothing(base, trained, random):
    def shuffled(side):
        rows = list(side.items())
        random.shuffle(rows)
        return dict(rows)

    assert run(base, trained, resamples=20) == run(shuffled(base), shuffled(trained), resamples=20)
