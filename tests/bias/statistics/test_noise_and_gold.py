"""Agreement with itself and with gold: published examples and hand calculations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from components.bias.gold import agreement, calibration, expected_calibration_error
from components.bias.kappa import cohen_kappa
from components.bias.multiplicity import benjamini_hochberg, holm
from components.bias.noise import krippendorff_alpha, noise
from components.bias.types import Mode, Outcome, Role

_ = None
# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", example C: four observers, twelve units.
_OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3),
    (_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _),
)


def test_alpha_is_that_of_krippendorffs_example() -> None:
    units = [[float(value) for value in unit if value is not None] for unit in zip(*_OBSERVERS, strict=True)]
    assert krippendorff_alpha(units, "nominal") == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(units, "interval") == pytest.approx(0.849, abs=5e-4)


def test_values_that_never_differ_have_no_alpha() -> None:
    assert krippendorff_alpha([[1.0, 1.0], [1.0, 1.0]], "nominal") is None
    assert krippendorff_alpha([[1.0], [0.0]], "nominal") is None


def _choice(
    item: str, order: str, value: float | None, gold: Role, *, repeat: int = 0, p: float | None = None
) -> Outcome:
    reason = "unparseable" if value is None else None
    return Outcome("j", "p", Mode.PAIRWISE, item, item, Role.CHANGED, order, repeat, value, reason, p, 9, None, gold)


def test_a_repetition_that_is_unknown_pairs_with_nothing() -> None:
    found = noise([_choice("a", "base_first", value, Role.BASE, repeat=n) for n, value in enumerate([1.0, None, 0.0])])
    assert (found.flips.value, found.questions, found.single) == (1.0, 1, 0)
    alone = noise([_choice("a", "base_first", 1.0, Role.BASE), _choice("a", "base_first", None, Role.BASE, repeat=1)])
    assert (alone.flips.value, alone.questions, alone.single) == (None, 0, 1)


def test_accuracy_takes_both_orders_and_a_tie_is_half() -> None:
    outcomes = [
        # right in both orders; wrong in both; follows the first place, a tie; unknown in one.
        *(_choice("a", order, 0.0, Role.BASE) for order in ("base_first", "base_second")),
        *(_choice("b", order, 1.0, Role.BASE) for order in ("base_first", "base_second")),
        _choice("c", "base_first", 0.0, Role.CHANGED),
        _choice("c", "base_second", 1.0, Role.CHANGED),
        _choice("d", "base_first", 0.0, Role.BASE),
        _choice("d", "base_second", None, Role.BASE),
    ]
    found = agreement(outcomes)
    assert found.accuracy.value == pytest.approx((1.0 + 0.0 + 0.5) / 3)
    assert found.unknown == 1
    assert found.consistent is not None
    assert found.consistent.value == pytest.approx(2 / 3)
    assert found.kappa.n == 7


def test_kappa_of_the_usual_example() -> None:
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    # Observed 0.7; chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5; kappa 0.4.
    assert cohen_kappa(pairs) == pytest.approx(0.4)
    assert cohen_kappa([("y", "y")]) is None
    assert cohen_kappa([]) is None


def test_calibration_error_by_hand() -> None:
    said = [(0.9, 1.0, "a"), (0.9, 0.0, "b"), (0.2, 0.0, "c"), (0.2, 0.0, "d")]
    curve = calibration(said)
    # 0.9 falls into (0.8, 0.9]: said 0.9, right 0.5; 0.2 into (0.1, 0.2]: said 0.2, right 0.
    assert [(part.n, part.right.value) for part in curve] == [(2, 0.0), (2, 0.5)]
    assert expected_calibration_error(curve) == pytest.approx((0.4 + 0.2) / 2)
    assert expected_calibration_error(()) is None


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_benjamini_hochberg_is_scipys(p: list[float]) -> None:
    assert benjamini_hochberg(p) == pytest.approx(list(stats.false_discovery_control(p)))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_lies_between_p_and_bonferroni(p: list[float]) -> None:
    for plain, found in zip(p, holm(p), strict=True):
        assert plain <= found + 1e-12
        assert found <= min(1.0, plain * len(p)) + 1e-12


def test_a_p_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="outside"):
        holm([1.2])
