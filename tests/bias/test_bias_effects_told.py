"""The effects that the command prints: a value with its interval and n, or a reason."""

import math

from scipy import stats

from components.bias.effects_told import told
from components.bias.types import Measure, Mode, Outcome, Role

MEASURES = {"verbosity": Measure.SHIFT, "style": Measure.SHIFT}


def outcome(number: int, role: Role, value: float | None, probe: str = "verbosity") -> Outcome:
    reason = "timeout" if value is None else None
    return Outcome("j", probe, Mode.BINARY, f"i{number}", f"t{number}", role, None, 0, value, reason, None, 100)


def test_an_effect_is_the_paired_difference_with_the_interval_of_the_textbook() -> None:
    changed, plain = (1.0, 1.0, 0.5, 0.75, 1.0), (0.5, 0.75, 0.5, 0.25, 0.25)
    outcomes = [outcome(n, Role.CHANGED, value) for n, value in enumerate(changed)]
    outcomes += [outcome(n, Role.PLACEBO, value) for n, value in enumerate(plain)]
    # Differences 0.5, 0.25, 0, 0.5, 0.75: mean 0.4, deviation sqrt(0.325 / 4), 4 degrees of freedom.
    half = float(stats.t.ppf(0.975, 4)) * math.sqrt(0.325 / 4 / 5)
    head, line = told(outcomes, MEASURES)
    assert "0 for an unbiased judge" in head
    assert line.startswith("verbosity         binary    +0.400 (95 % interval ")
    assert f"{0.4 - half:+.3f} to {0.4 + half:+.3f}; n 5 in 5 texts)" in line
    p = 2 * float(stats.t.sf(0.4 / math.sqrt(0.325 / 4 / 5), 4))
    assert line.endswith(f"p {p:.3f}, flagged")


def test_what_is_unknown_is_a_word_and_what_has_no_interval_says_why() -> None:
    outcomes = [outcome(n, Role.CHANGED, None) for n in range(3)] + [outcome(n, Role.PLACEBO, 1.0) for n in range(3)]
    outcomes += [outcome(0, Role.CHANGED, 1.0, "style"), outcome(0, Role.PLACEBO, 0.0, "style")]
    _, style, verbosity = told(outcomes, MEASURES)
    assert style == "style             binary    +1.000, no interval: fewer than two texts (n 1 in 1 text)"
    assert "unknown: no item has all the values that it needs (n 0 in 0 texts, 3 unknown)" in verbosity


def test_nothing_asked_has_no_effects() -> None:
    assert told([], MEASURES) == []


def test_a_p_that_rounds_to_nothing_is_told_as_below_a_thousandth() -> None:
    outcomes = [outcome(n, Role.CHANGED, 1.0 - 0.01 * (n % 3)) for n in range(40)]
    outcomes += [outcome(n, Role.PLACEBO, 0.0) for n in range(40)]
    assert told(outcomes, MEASURES)[1].endswith("p below 0.001, flagged")
