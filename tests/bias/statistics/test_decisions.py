"""What a judge accepts against what is right: hand calculations, scipy, and coverage of the intervals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from components.bias.calibration_interval import calibration_error
from components.bias.decisions import Decision, accepting, decided


def _table(both: int, accepted: int, right: int, neither: int, each: int = 1) -> list[Decision]:
    """Decisions by the cells of the table, ``each`` to a cluster."""
    cells = [(1.0, True)] * both + [(1.0, False)] * accepted + [(0.0, True)] * right + [(0.0, False)] * neither
    return [Decision(f"t{place // each}", is_right, value) for place, (value, is_right) in enumerate(cells)]


def test_rates_and_kappa_of_the_usual_example() -> None:
    found = decided(_table(20, 10, 5, 15))
    # Seen 35 of 50; chance 0.6 * 0.5 + 0.4 * 0.5 = 0.5; kappa (0.7 - 0.5) / 0.5.
    assert (found.accuracy.value, found.kappa.value) == (pytest.approx(0.7), pytest.approx(0.4))
    assert (found.accepts_right.value, found.accepts_right.n) == (pytest.approx(20 / 25), 25)
    assert (found.accepts_wrong.value, found.accepts_wrong.n) == (pytest.approx(10 / 25), 25)
    # One point of a ROC curve: the area is half of the rates' difference above one half.
    assert found.ranking.value == pytest.approx(0.5 + (0.8 - 0.4) / 2)
    assert found.calibration_error is None
    assert found.curve == ()


def test_kappas_interval_is_about_that_of_its_standard_error() -> None:
    # Fleiss, Cohen and Everitt (1969) by Fleiss, Levin and Paik (2003), formula 18.15, of a table of 400.
    cells = np.array([[160.0, 80.0], [40.0, 120.0]]) / 400
    rows, columns = cells.sum(axis=1), cells.sum(axis=0)
    seen, chance = np.trace(cells), float(rows @ columns)
    kappa = (seen - chance) / (1 - chance)
    one = sum(cells[i, i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in range(2))
    two = (1 - kappa) ** 2 * sum(
        cells[i, j] * (columns[i] + rows[j]) ** 2 for i in range(2) for j in range(2) if i != j
    )
    error = np.sqrt((one + two - (kappa - chance * (1 - kappa)) ** 2) / ((1 - chance) ** 2 * 400))
    found = decided(_table(160, 80, 40, 120)).kappa
    assert found.value == pytest.approx(kappa)
    assert found.low is not None
    assert found.high is not None
    assert found.low == pytest.approx(kappa - 1.96 * error, abs=0.015)
    assert found.high == pytest.approx(kappa + 1.96 * error, abs=0.015)


def test_clusters_of_like_decisions_tell_less() -> None:
    alone, alike = decided(_table(40, 20, 10, 30)), decided(_table(40, 20, 10, 30, each=5))
    assert alone.kappa.value == alike.kappa.value
    assert alone.kappa.low is not None
    assert alike.kappa.low is not None
    assert alike.kappa.low < alone.kappa.low
    assert (alike.kappa.n, alike.kappa.clusters) == (100, 20)


def test_what_is_unknown_is_counted_and_is_no_decision() -> None:
    known = [Decision("a", True, 1.0), Decision("b", False, 0.0), Decision("c", False, 0.5)]
    found = decided([*known, Decision("d", True, None), Decision("e", False, None)])
    assert (found.accuracy.value, found.accuracy.n, found.accuracy.unknown) == (1.0, 3, 2)
    assert (found.accepts_right.n, found.accepts_right.unknown) == (1, 1)
    nothing = decided([Decision("a", True, None)])
    assert (nothing.accuracy.value, nothing.accuracy.n, nothing.accuracy.unknown) == (None, 0, 1)
    assert "no response with gold" in nothing.kappa.why


def test_gold_of_one_kind_has_neither_kappa_nor_ranking() -> None:
    found = decided(_table(0, 3, 0, 5))
    assert found.kappa.value is None
    assert found.ranking.value is None
    assert found.accepts_right.value is None
    assert found.accepts_wrong.value == pytest.approx(3 / 8)
    assert accepting(_table(0, 3, 0, 5), right=False).value == pytest.approx(3 / 8)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans()), min_size=2, max_size=30))
def test_ranking_is_mann_whitneys_u(rows: list[tuple[float, bool]]) -> None:
    good, bad = ([value for value, right in rows if right is which] for which in (True, False))
    found = decided([Decision(str(place), right, value) for place, (value, right) in enumerate(rows)]).ranking
    if not good or not bad:
        assert found.value is None
        return
    u = stats.mannwhitneyu(good, bad).statistic
    assert found.value == pytest.approx(u / (len(good) * len(bad)))


def _said(draw: np.random.Generator, texts: int, each: int, over: float) -> list[tuple[float, float, str]]:
    """Stated probabilities that are too high by ``over`` wherever that can be."""
    rows = []
    for text in range(texts):
        for probability in draw.random(each):
            held = float(draw.random() < max(0.0, probability - over))
            rows.append((float(probability), held, str(text)))
    return rows


def test_calibration_error_by_hand_with_its_basis() -> None:
    said = [(0.9, 1.0, "a"), (0.9, 0.0, "b"), (0.2, 0.0, "c"), (0.2, 0.0, "d")]
    found = calibration_error(said)
    # Parts 0.9: said 0.9, right 0.5; 0.2: said 0.2, right 0; half of the responses each.
    assert found.value == pytest.approx((0.4 + 0.2) / 2)
    assert (found.n, found.clusters) == (4, 4)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.value <= found.high
    assert calibration_error([]).value is None
    alone = calibration_error([(0.9, 0.0, "a"), (0.8, 1.0, "a")])
    assert (alone.value, alone.low) == (pytest.approx((0.9 + 0.2) / 2), None)


def test_responses_without_a_stated_probability_are_counted_beside_the_calibration_error() -> None:
    said = [(0.9, True), (0.9, False), (0.2, False), (0.2, False)]
    stated = [Decision(f"t{place}", right, float(p > 0.5), p) for place, (p, right) in enumerate(said)]
    silent = [Decision("t4", True, 1.0), Decision("t5", False, None), Decision("t0", False, 0.0)]
    found = decided([*stated, *silent])
    assert found.calibration_error is not None
    # As above: 0.9 against one half, 0.2 against none, half of the four each; three tell nothing of it.
    assert found.calibration_error.value == pytest.approx((0.4 + 0.2) / 2)
    assert (found.calibration_error.n, found.calibration_error.unknown) == (4, 3)
    assert (found.accuracy.n, found.accuracy.unknown) == (6, 1)
    alone = decided([stated[0], silent[0]]).calibration_error
    assert alone is not None
    assert (alone.n, alone.unknown, alone.low) == (1, 1, None)
    assert (calibration_error([], unknown=2).value, calibration_error([], unknown=2).unknown) == (None, 2)
    # A judge that states none has no calibration, and none of its responses is missing there.
    assert decided(silent).calibration_error is None


def test_a_calibrated_judges_interval_reaches_zero_and_a_bad_ones_does_not() -> None:
    # By binomial: with 20 draws at 95 % nominal, fewer than 16 hits have probability 0.003 at a coverage of 95 %,
    # and 0.043 at the 90 % that docs/bias-statistics.md admits.
    draw = np.random.default_rng(5)
    fair = [calibration_error(_said(draw, 50, 4, 0.0)) for _ in range(20)]
    assert sum(found.low is not None and found.low < 0.005 for found in fair) >= 16
    # True error: 0.3 above 0.3, and the whole probability below, 0.7 * 0.3 + 0.3 * 0.15 = 0.255.
    bad = [calibration_error(_said(draw, 50, 4, 0.3)) for _ in range(20)]
    hits = sum(found.low is not None and found.high is not None and found.low <= 0.255 <= found.high for found in bad)
    assert hits >= 15
    assert all(found.low is not None and found.low > 0.05 for found in bad)
