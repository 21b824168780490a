"""The minimum detectable effect against textbook sizes and a simulation of the test that it plans."""

import numpy as np
import pytest
from scipy import stats

from components.bias.power import assumed_sd, detectable
from components.bias.types import Measure, Mode


@pytest.mark.parametrize(("n", "size"), [(34, 0.5), (199, 0.2), (15, 0.8)])
def test_one_item_a_text_is_the_one_sample_t_test_of_the_textbook(n: int, size: float) -> None:
    # Sizes for power 0.8 at 5 %, two-sided, one-sample t: Cohen (1988) by G*Power 3.1: 34, 199, 15 for d 0.5, 0.2, 0.8.
    assert detectable(n, n, 1.0, 0.05) == pytest.approx(size, rel=0.03)


def test_items_of_one_text_that_are_the_same_count_once() -> None:
    assert detectable(200, 40, 0.3, 0.05, intraclass=1.0) == pytest.approx(detectable(40, 40, 0.3, 0.05))
    independent = detectable(200, 40, 0.3, 0.05, intraclass=0.0)
    assert independent == pytest.approx(detectable(40, 40, 0.3, 0.05) / 5**0.5)


def test_a_test_of_that_effect_finds_it_four_times_in_five() -> None:
    texts, each, likeness, alpha = 40, 5, 0.5, 0.05 / 6
    effect = detectable(texts * each, texts, 1.0, alpha, intraclass=likeness)
    draw = np.random.default_rng(5)
    shared = draw.normal(size=(4000, texts, 1)) * likeness**0.5
    own = draw.normal(size=(4000, texts, each)) * (1 - likeness) ** 0.5
    means = (shared + own).mean(axis=2) + effect
    found = (stats.ttest_1samp(means, 0.0, axis=1).pvalue < alpha).mean()
    # Binomial error of 4,000 draws is 0.6 points; t quantiles stand for the noncentral distribution.
    assert found == pytest.approx(0.8, abs=0.025)


@pytest.mark.parametrize(
    ("items", "texts", "sd", "alpha"), [(10, 1, 0.3, 0.05), (5, 10, 0.3, 0.05), (10, 10, 0.0, 0.05), (10, 10, 0.3, 1.0)]
)
def test_what_cannot_be_planned_is_refused(items: int, texts: int, sd: float, alpha: float) -> None:
    with pytest.raises(ValueError, match=r"outside its range|at least 2 texts"):
        detectable(items, texts, sd, alpha)


def test_a_share_spreads_at_most_one_half() -> None:
    assert assumed_sd(Measure.ACCEPTANCE, Mode.BINARY) == 0.5
    assert max(assumed_sd(measure, mode) for measure in Measure for mode in Mode) <= 0.5
