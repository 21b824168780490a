"""Effects of a handful of outcomes, worked out by hand."""

import dataclasses

import pytest

from components.bias.effects import Effect, measure_effects
from components.bias.types import Measure, Mode, Outcome, Role
from components.core.errors import ContractError

BASE, CHANGED, PLACEBO, WORSE = Role.BASE, Role.CHANGED, Role.PLACEBO, Role.WORSE


def _outcome(
    item: str,
    role: Role,
    value: float | None,
    *,
    mode: Mode = Mode.POINTWISE,
    order: str | None = None,
    repeat: int = 0,
) -> Outcome:
    reason = "unparseable" if value is None else None
    return Outcome("j", "p", mode, item, f"text {item}", role, order, repeat, value, reason, None, 10)


def _pair(item: str, role: Role, first: float | None, second: float | None) -> list[Outcome]:
    """Value of the form with the base first, and with the base second."""
    return [
        _outcome(item, role, first, mode=Mode.PAIRWISE, order="base_first"),
        _outcome(item, role, second, mode=Mode.PAIRWISE, order="base_second"),
    ]


def _one(outcomes: list[Outcome], measure: Measure) -> Effect:
    (effect,) = measure_effects(outcomes, {"p": measure})
    return effect


def test_a_shift_is_changed_less_placebo_and_the_flip_is_base_less_worse() -> None:
    marks = {"a": (0.5, 0.75, 0.5, 0.25), "b": (0.5, 1.0, 0.25, 0.0)}
    outcomes = [
        _outcome(item, role, value)
        for item, values in marks.items()
        for role, value in zip((BASE, CHANGED, PLACEBO, WORSE), values, strict=True)
    ]
    effect = _one(outcomes, Measure.SHIFT)
    assert effect.bias.value == pytest.approx((0.25 + 0.75) / 2)
    assert effect.against is PLACEBO
    assert effect.placebo is not None
    assert effect.placebo.value == pytest.approx((0.0 - 0.25) / 2)
    assert effect.flip is not None
    assert effect.flip.value == pytest.approx((0.25 + 0.5) / 2)


def test_an_unknown_value_drops_its_item_and_is_counted_by_role_and_reason() -> None:
    outcomes = [_outcome("a", BASE, 0.5), _outcome("a", CHANGED, None), _outcome("a", PLACEBO, 0.5)]
    outcomes += [_outcome("b", BASE, 0.5), _outcome("b", CHANGED, 0.75), _outcome("b", PLACEBO, 0.5)]
    effect = _one(outcomes, Measure.SHIFT)
    assert effect.bias.value == pytest.approx(0.25)
    assert (effect.items, effect.dropped, effect.bias.items) == (2, 1, 1)
    assert (effect.unknown, effect.reasons) == ({CHANGED: 1}, {"unparseable": 1})


def test_pairwise_an_item_needs_both_orders_or_the_place_would_count() -> None:
    outcomes = [*_pair("a", CHANGED, None, 1.0), *_pair("a", PLACEBO, 0.0, 1.0)]
    outcomes += [*_pair("b", CHANGED, 1.0, 1.0), *_pair("b", PLACEBO, 0.0, 1.0)]
    effect = _one(outcomes, Measure.SHIFT)
    assert effect.bias.value == pytest.approx(0.5)
    assert effect.dropped == 1


def test_the_first_place_is_preferred_by_who_wins_there_in_either_order() -> None:
    always_first = [*_pair("a", CHANGED, 0.0, 1.0), *_pair("b", CHANGED, 0.0, 1.0)]
    assert _one(always_first, Measure.FIRST_SLOT).bias.value == pytest.approx(0.5)
    # The one prefers the changed form wherever it stands, the other takes the second place: 0 and -1/2.
    mixed = [*_pair("a", CHANGED, 1.0, 1.0), *_pair("b", CHANGED, 1.0, 0.0)]
    assert _one(mixed, Measure.FIRST_SLOT).bias.value == pytest.approx(-0.25)


def test_a_placebo_is_not_taken_off_the_first_place() -> None:
    outcomes = [*_pair("a", CHANGED, 0.0, 1.0), *_pair("a", PLACEBO, 0.0, 1.0)]
    effect = _one(outcomes, Measure.FIRST_SLOT)
    assert effect.bias.value == pytest.approx(0.5)
    assert effect.placebo is not None
    assert effect.placebo.value == pytest.approx(0.5)


def test_a_judge_that_never_accepts_nothing_is_not_told_from_a_right_one() -> None:
    outcomes = [_outcome(str(number), CHANGED, 0.0) for number in range(40)]
    effect = _one(outcomes, Measure.ACCEPTANCE)
    assert (effect.bias.value, effect.bias.p, effect.bias.low) == (0.0, 1.0, 0.0)
    # Wilson's upper bound of 0 of 40: z^2 / (n + z^2).
    assert effect.bias.high == pytest.approx(3.8415 / 43.8415, abs=1e-4)


def test_failures_count_what_the_judge_could_not_say_and_not_what_nobody_asked() -> None:
    outcomes = [_outcome("a", CHANGED, None), _outcome("a", PLACEBO, 0.5), _outcome("b", PLACEBO, 0.5)]
    outcomes.append(dataclasses.replace(_outcome("b", CHANGED, None), reason="budget"))
    effect = _one(outcomes, Measure.FAILURE)
    assert effect.bias.value == pytest.approx(1.0)
    assert (effect.bias.items, effect.dropped) == (1, 1)


def test_disagreement_is_the_share_of_contradicting_pairs_of_repetitions() -> None:
    outcomes = [_outcome("a", CHANGED, value, repeat=n) for n, value in enumerate([0.5, 0.5, 0.75])]
    outcomes += [_outcome("b", CHANGED, value, repeat=n) for n, value in enumerate([0.5, None, 0.5])]
    effect = _one(outcomes, Measure.DISAGREEMENT)
    assert effect.bias.value == pytest.approx((2 / 3 + 0) / 2)


def test_mounted_pairs_without_a_placebo_stand_apart() -> None:
    outcomes = [_outcome("a", BASE, 0.5), _outcome("a", CHANGED, 0.75), _outcome("a", PLACEBO, 0.5)]
    outcomes += [_outcome("b", BASE, 1.0), _outcome("b", CHANGED, 0.0)]
    effect = _one(outcomes, Measure.SHIFT)
    assert effect.bias.value == pytest.approx(0.25)
    assert (effect.items, effect.dropped, effect.apart) == (1, 0, 1)


def test_what_has_no_measure_or_the_wrong_mode_is_refused() -> None:
    with pytest.raises(ContractError, match="measure is not known"):
        measure_effects([_outcome("a", CHANGED, 0.5)], {})
    with pytest.raises(ContractError, match="first place"):
        measure_effects([_outcome("a", CHANGED, 0.5)], {"p": Measure.FIRST_SLOT})
