"""Groups of judges, remedies, leakage and equal opportunity: against scipy, published examples and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from components.bias.findings.between import per_doubling, welch
from components.bias.findings.groups import leakage_estimate
from components.bias.findings.remedies import compared
from components.bias.lengthcontrol import length_controlled
from components.bias.opportunity import apart, paired

_VALUES = st.lists(st.floats(-1, 1).map(lambda value: round(value, 3)), min_size=2, max_size=8)


@settings(max_examples=50)
@given(_VALUES, _VALUES)
def test_families_differ_by_welchs_interval(one: list[float], other: list[float]) -> None:
    found = welch(one, other)
    if np.var(one) + np.var(other) == 0.0:
        assert found.low is None
        return
    theirs = stats.ttest_ind(one, other, equal_var=False).confidence_interval(0.95)
    assert found.value == pytest.approx(np.mean(one) - np.mean(other))
    assert (found.low, found.high) == (pytest.approx(theirs.low, abs=1e-9), pytest.approx(theirs.high, abs=1e-9))
    assert found.n == len(one) + len(other)


def test_a_judge_alone_in_its_family_has_no_interval() -> None:
    found = welch([0.3], [0.1, 0.2])
    assert (found.value, found.low) == (pytest.approx(0.15), None)
    assert "1 against 2" in found.why
    assert welch([], [0.1]).value is None


def test_size_is_a_slope_by_doubling_with_scipys_error() -> None:
    sizes, values = [1e9, 2e9, 4e9, 16e9], [0.30, 0.24, 0.22, 0.06]
    found = per_doubling(list(zip(sizes, values, strict=True)))
    line = stats.linregress([0, 1, 2, 4], values)
    half = stats.t.ppf(0.975, 2) * line.stderr
    assert found.value == pytest.approx(line.slope)
    assert (found.low, found.high) == (pytest.approx(line.slope - half), pytest.approx(line.slope + half))
    assert found.n == 4


def test_of_fewer_than_three_sizes_nothing_is_said() -> None:
    two = per_doubling([(1e9, 0.1), (8e9, 0.4)])
    assert two.value is None
    assert "nothing can be said of size with fewer than 3" in two.why
    assert per_doubling([(1e9, 0.1)] * 3).value is None
    # Exactly on a line: a slope, and nothing to draw an interval from.
    line = per_doubling([(1.0, 0.0), (2.0, 0.1), (4.0, 0.2)])
    assert (line.value, line.low) == (pytest.approx(0.1), None)


def test_a_remedy_is_the_paired_t_of_the_sizes_difference() -> None:
    draw = np.random.default_rng(2)
    plain, remedied = draw.normal(-0.3, 0.1, 30), draw.normal(0.1, 0.1, 30)
    found = compared([(a, b, str(n)) for n, (a, b) in enumerate(zip(plain, remedied, strict=True))], (-1.0, 1.0))
    theirs = stats.ttest_rel(-plain, remedied).confidence_interval(0.95)
    assert found.smaller.value == pytest.approx(abs(plain.mean()) - abs(remedied.mean()))
    assert (found.smaller.low, found.smaller.high) == (pytest.approx(theirs.low), pytest.approx(theirs.high))
    assert (found.plain.value, found.remedied.value) == (pytest.approx(plain.mean()), pytest.approx(remedied.mean()))


def test_a_remedy_that_changes_nothing_takes_nothing_off() -> None:
    found = compared([(0.2, 0.2, "a"), (0.4, 0.4, "b")], (-1.0, 1.0))
    assert found.smaller.value == 0.0
    assert found.smaller.low is not None
    assert found.smaller.low < 0.0


def _wins(draw: np.random.Generator, rates: dict[tuple[str, str], float], prompts: int) -> dict:
    return {
        pair: [(f"p{n}", float(draw.random() < rate)) for n in range(prompts)] for pair, rate in sorted(rates.items())
    }


def test_leakages_interval_covers_and_is_about_that_of_the_delta_method() -> None:
    rates = {("i", "i"): 0.6, ("j", "i"): 0.4, ("j", "j"): 0.55, ("i", "j"): 0.45}
    # d/d own of 2 own / (own + rival) - 1 is 2 rival / (own + rival)^2; the cells are drawn by themselves.
    variance = 0.0
    for own, rival in ((0.6, 0.4), (0.55, 0.45)):
        variance += (2 * rival) ** 2 * own * (1 - own) + (2 * own) ** 2 * rival * (1 - rival)
    half = 1.96 * (variance / 4 / 400) ** 0.5
    found = leakage_estimate(_wins(np.random.default_rng(7), rates, 400), "i", "j")
    assert (found.n, found.clusters) == (1600, 400)
    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.1)
    assert found.low < 0.15 < found.high
    assert leakage_estimate({("i", "i"): [("p", 1.0)]}, "i", "j").value is None


def test_length_control_tells_how_much_of_the_rate_was_length() -> None:
    draw = np.random.default_rng(2)
    longer = draw.normal(40, 30, 300)
    won = (draw.random(300) < 1 / (1 + np.exp(-2.0 * np.tanh(longer / longer.std())))).astype(float)
    found = length_controlled(won.tolist(), longer.tolist(), [str(n) for n in range(300)])
    assert found.controlled is not None
    assert found.smaller == pytest.approx(abs(found.raw - 0.5) - abs(found.controlled - 0.5))
    assert found.smaller_low is not None
    assert found.smaller_low > 0.0
    # Where length plays no part, nothing is taken off.
    plain = (draw.random(300) < 0.7).astype(float)
    fair = length_controlled(plain.tolist(), longer.tolist(), [str(n) for n in range(300)])
    assert fair.smaller_low is not None
    assert fair.smaller_high is not None
    assert fair.smaller_low < 0.0 < fair.smaller_high


def test_the_difference_of_two_shares_is_newcombes() -> None:
    # Newcombe (1998), Statistics in Medicine 17: 873-890, table II, row (a): 56/70 - 48/80 by method 10 without
    # correction: 0.0524 to 0.3339. Ours takes quantiles of t in place of the normal ones, so that it is a little wider.
    having = [(float(n < 56), f"a{n}") for n in range(70)]
    lacking = [(float(n < 48), f"b{n}") for n in range(80)]
    found = apart(having, lacking)
    assert found.value == pytest.approx(0.2)
    assert (found.low, found.high) == (pytest.approx(0.0524, abs=0.005), pytest.approx(0.3339, abs=0.005))
    assert found.low is not None
    assert found.low < 0.0524
    assert (found.n, found.clusters) == (150, 150)


def test_opportunity_of_all_and_of_none() -> None:
    found = apart([(1.0, f"a{n}") for n in range(20)], [(0.0, f"b{n}") for n in range(20)])
    assert found.value == 1.0
    assert found.low is not None
    # Wilson's bounds of 20 of 20 and 0 of 20 lie 0.161 from the ends: 1 - 0.161 * sqrt(2).
    assert found.low == pytest.approx(1 - 0.1611 * 2**0.5, abs=0.02)
    assert "without" in apart([(1.0, "a")], []).why


def test_paired_opportunity_by_hand() -> None:
    rows = [(1.0, 0.0, "a"), (1.0, 1.0, "b"), (0.0, 1.0, "c"), (1.0, 0.0, "d")]
    found = paired(rows, 2)
    theirs = stats.ttest_1samp([1.0, 0.0, -1.0, 1.0], 0.0).confidence_interval(0.95)
    assert (found.value, found.n, found.unknown) == (0.25, 4, 2)
    assert (found.low, found.high) == (pytest.approx(max(-1.0, theirs.low)), pytest.approx(min(1.0, theirs.high)))
    assert paired([]).value is None
