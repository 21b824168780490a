"""A judge's agreement with gold and its noise, from tables of outcomes and held-out responses made by hand."""

from pathlib import Path

import pytest

from components.bias.decisions import Decision
from components.bias.types import Mode, Outcome, Role
from components.collect_study.agreeing import FLIP, heldout_agreement, probe_agreement
from components.collect_study.heldout import Held, stated
from components.collect_study.repeating import noises
from components.core.contracts import VERDICTS, write_table


def _outcome(
    item: str,
    role: Role,
    value: float | None,
    *,
    probe: str = "style",
    mode: Mode = Mode.BINARY,
    order: str | None = None,
    repeat: int = 0,
    gold: Role | None = None,
    probability: float | None = None,
) -> Outcome:
    reason = "unparseable" if value is None else None
    return Outcome("j", probe, mode, item, item, role, order, repeat, value, reason, probability, 9, None, gold)


def _found(outcomes: list[Outcome]) -> dict[tuple[str, Mode | None], object]:
    return {(each.source, each.mode): each for each in probe_agreement(outcomes, {}, seed=1, confidence=0.95)}


def test_the_flip_control_counts_good_as_right_and_worse_as_wrong() -> None:
    values = [(1.0, 0.0), (0.8, 0.6), (0.4, 0.4), (0.2, None)]
    outcomes = []
    for place, (good, worse) in enumerate(values):
        outcomes += [
            _outcome(str(place), Role.BASE, good, probability=good),
            _outcome(str(place), Role.CHANGED, 1.0),
            _outcome(str(place), Role.WORSE, worse, probability=worse),
        ]
    found = _found(outcomes)[FLIP, Mode.BINARY]
    # Good: 1 and 0.8 accepted, 0.4 and 0.2 not. Worse: 0.6 accepted, 0 and 0.4 not, one unknown.
    assert found.accuracy.value == pytest.approx((2 + 2) / 7)
    assert (found.accuracy.n, found.accuracy.unknown) == (7, 1)
    assert found.accepts_right.value == pytest.approx(2 / 4)
    assert found.accepts_wrong.value == pytest.approx(1 / 3)
    assert (found.pairs.value, found.pairs.n, found.pairs.unknown) == (pytest.approx((1 + 1 + 0.5) / 3), 3, 1)
    # Of twelve pairs of a good and a worse one: 1 beats 3, 0.8 beats 3, 0.4 beats one and ties one, 0.2 beats one.
    assert found.ranking.value == pytest.approx((3 + 3 + 1.5 + 1) / 12)
    # Parts of a tenth hold: 1.0 right; 0.8 right; 0.4 half right; 0.2 right; 0 wrong; 0.6 wrong.
    distances = [0.0, 0.2, 2 * abs(0.4 - 0.5), 0.8, 0.0, 0.6]
    assert found.calibration_error.value == pytest.approx(sum(distances) / 7)
    assert sum(part.right.n for part in found.calibration) == 7


def test_pairwise_the_better_of_both_orders_is_counted_and_repetitions_are_not() -> None:
    outcomes = []
    for item, first, second in (("a", 0.0, 0.0), ("b", 1.0, 0.0), ("c", 0.0, 0.0)):
        for order, value in (("base_first", first), ("base_second", second)):
            outcomes.append(_outcome(item, Role.WORSE, value, mode=Mode.PAIRWISE, order=order))
    found = _found(outcomes)[FLIP, Mode.PAIRWISE]
    assert found.accuracy.value == pytest.approx((1 + 0.5 + 1) / 3)
    assert found.consistency.value == pytest.approx(2 / 3)
    # Choices: five for the base, one for the worse form in the second place; gold places three first, three second.
    assert (found.kappa.value, found.kappa.n) == (pytest.approx((5 / 6 - 0.5) / 0.5), 6)
    assert found.accepts_right is None
    assert found.calibration_error is None


def test_decided_items_stand_apart_by_probe() -> None:
    outcomes = [
        _outcome("a", Role.BASE, 1.0, probe="fallacy", gold=Role.BASE),
        _outcome("a", Role.CHANGED, 1.0, probe="fallacy", gold=Role.BASE),
        _outcome("a", Role.PLACEBO, 0.0, probe="fallacy", gold=Role.BASE),
    ]
    (found,) = probe_agreement(outcomes, {}, seed=1, confidence=0.95)
    assert found.source == "probe fallacy: good answer against a worse one with the factor"
    assert (found.accuracy.value, found.accuracy.n) == (0.5, 2)


def test_held_out_responses_before_and_after() -> None:
    held = [
        Held(Decision("p1", True, 0.9), False, ""),
        Held(Decision("p2", False, 0.2), False, ""),
        Held(Decision("p1", False, 0.9), True, "j"),
        Held(Decision("p2", True, None), True, "j"),
    ]
    whole, before, after = heldout_agreement(held, seed=1, confidence=0.95)
    assert (whole.accuracy.value, whole.accuracy.n, whole.accuracy.unknown) == (pytest.approx(2 / 3), 3, 1)
    assert (before.accuracy.value, after.accuracy.value) == (1.0, 0.0)
    assert before.mode is None
    (none,) = heldout_agreement([], seed=1, confidence=0.95)
    assert "no held-out response" in none.accuracy.why


def test_noise_of_repetitions_by_hand() -> None:
    outcomes = [
        _outcome(item, Role.BASE, value, probe="retry", repeat=place)
        for item, values in {"a": (1.0, 1.0, 0.0), "b": (0.0, 0.0, 0.0), "c": (1.0, None, None)}.items()
        for place, value in enumerate(values)
    ]
    outcomes.append(_outcome("d", Role.BASE, 1.0, probe="style"))
    (found,) = noises(outcomes)
    # a: two of three pairs contradict, by 1 each; b: none. c has one known answer.
    assert (found.flips.value, found.flips.n, found.flips.unknown) == (pytest.approx(1 / 3), 2, 1)
    assert found.apart is not None
    assert found.apart.value == pytest.approx(1 / 3)
    # Seen: 4 ordered pairs / (3 - 1) / 6 values; by chance 2 ones and 4 zeros: 2 * 2 * 4 / (6 * 5).
    assert found.alpha.value == pytest.approx(1 - (2 / 6) / (16 / 30))
    assert found.repeats == 3
    assert noises([_outcome("d", Role.BASE, 1.0)]) == []


def test_a_judge_that_always_says_the_same_has_no_noise_and_no_alpha() -> None:
    outcomes = [
        _outcome(str(item), Role.BASE, 1.0, probe="retry", repeat=repeat) for item in range(9) for repeat in range(3)
    ]
    (found,) = noises(outcomes)
    assert found.flips.value == 0.0
    assert found.flips.high is not None
    assert found.flips.high > 0.1
    assert found.alpha.value is None
    assert "one value" in found.alpha.why


def test_repetitions_that_never_contradict_have_an_alpha_of_one_without_an_interval() -> None:
    outcomes = [
        _outcome(str(item), Role.BASE, float(item % 2), probe="retry", repeat=repeat)
        for item in range(9)
        for repeat in range(2)
    ]
    (found,) = noises(outcomes)
    assert (found.alpha.value, found.alpha.low) == (1.0, None)
    assert "too little varies" in found.alpha.why


def test_alphas_interval_is_about_that_of_the_share_of_differing_units() -> None:
    # Forty units of two readings, ten of which differ: the interval must hold the value, and be no point.
    outcomes = [
        _outcome(str(item), Role.BASE, value, probe="retry", repeat=repeat)
        for item in range(40)
        for repeat, value in enumerate((1.0, 0.0) if item < 10 else (1.0, 1.0) if item < 25 else (0.0, 0.0))
    ]
    (found,) = noises(outcomes)
    # 40 ones and 40 zeros: chance 2 * 40 * 40 / (80 * 79); seen 10 * 2 / 80.
    value = 1 - (20 / 80) / (3200 / (80 * 79))
    assert found.alpha.value == pytest.approx(value)
    # Wilson (1927) of the share of differing units, 10 of 40: 0.1419 to 0.4019, at a fixed chance.
    assert found.alpha.low == pytest.approx(1 - 0.4019 / (3200 / (80 * 79)), abs=0.04)
    assert found.alpha.high == pytest.approx(1 - 0.1419 / (3200 / (80 * 79)), abs=0.04)


def _verdict(
    sample: str, line: int, probability: float | None, judge: str = "duo", time: float = 1.0
) -> dict[str, object]:
    status = "unknown" if probability is None else "met" if probability > 0.5 else "unmet"
    return {
        "sample_id": sample,
        "row_id": "r",
        "criterion": f"c{line}",
        "criterion_index": line,
        "status": status,
        "probability": probability,
        "log_ratio": None,
        "reason": None,
        "judge": judge,
        "protocol": "p",
        "attempts": 1,
        "seconds": 0.1,
        "prompt_tokens": 1,
        "response_chars": 1,
        "raw_id": None,
        "time": time,
        "mass": None,
        "explanation": None,
    }


def test_the_stated_probability_is_the_deciding_judges_newest_over_all_lines(tmp_path: Path) -> None:
    rows = [
        _verdict("a", 0, 0.2, time=1.0),
        _verdict("a", 0, 0.8, time=2.0),
        _verdict("a", 1, 0.4),
        # What a member or a rule says is not what the panel says.
        _verdict("a", 1, 1.0, judge="member", time=3.0),
        _verdict("b", 0, 0.9),
        _verdict("b", 1, None),
    ]
    path = tmp_path / "verdicts.parquet"
    write_table(path, rows, VERDICTS)
    assert stated(path, "duo") == {"a": pytest.approx(0.6)}
    assert stated(path, "member") == {"a": 1.0}
