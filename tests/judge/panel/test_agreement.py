"""Krippendorff's alpha: his own published examples, and properties that every reliability coefficient has."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.judge.panel.agreement import krippendorff_alpha

# K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): parts A, B and C. Dots are missing values.
BINARY = ["0100000010", "1110010000"]
TWO_OBSERVERS = ["aabbdcccedda", "babbbccceddd"]
FOUR_OBSERVERS = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]

# Wikipedia, "Krippendorff's alpha", the computational example: three coders, fifteen units, nominal alpha 0.691.
THREE_CODERS = [".....34121133.3", "1.213343.......", "..21344.21133.4"]


@pytest.mark.parametrize(
    ("observers", "alpha"),
    [(BINARY, 0.095), (TWO_OBSERVERS, 0.692), (FOUR_OBSERVERS, 0.743), (THREE_CODERS, 0.691)],
)
def test_published_examples(observers: list[str], alpha: float):
    units = [[None if value == "." else value for value in unit] for unit in zip(*observers, strict=True)]
    assert krippendorff_alpha(units) == pytest.approx(alpha, abs=0.0005)


def test_perfect_and_reversed():
    assert krippendorff_alpha([["met", "met"], ["unmet", "unmet"]]) == 1.0
    # Two units, always opposite: observed 4 of 4, expected 4 * 4 / (2 * 2 * 2), so 1 - 3 * 4 / 8.
    assert krippendorff_alpha([["met", "unmet"], ["unmet", "met"]]) == pytest.approx(-0.5)


@pytest.mark.parametrize("units", [[], [["met", None]], [["met"], []], [["met", "met"]], [["met"] * 3, ["met"] * 2]])
def test_where_nothing_can_be_said_there_is_no_number(units: list[list[str | None]]):
    assert krippendorff_alpha(units) is None


UNITS = st.lists(st.lists(st.sampled_from(["met", "unmet", None]), max_size=5), max_size=20)


@settings(deadline=None)
@given(UNITS)
def test_against_the_matrix_of_coincidences(units: list[list[str | None]]):
    """The same by enumerating ordered pairs, as part C of the paper sets them out."""
    matrix: dict[tuple[str, str], float] = {}
    for unit in units:
        known = [value for value in unit if value is not None]
        for one, other in itertools.permutations(range(len(known)), 2):
            pair = (known[one], known[other])
            matrix[pair] = matrix.get(pair, 0.0) + 1 / (len(known) - 1)
    met = sum(count for (one, _), count in matrix.items() if one == "met")
    unmet = sum(count for (one, _), count in matrix.items() if one == "unmet")
    found = krippendorff_alpha(units)
    if met == 0 or unmet == 0:
        assert found is None
    else:
        expected = 1 - (met + unmet - 1) * matrix.get(("met", "unmet"), 0.0) / (met * unmet)
        assert found == pytest.approx(expected)
        assert found <= 1.0


@settings(deadline=None)
@given(UNITS, st.randoms(use_true_random=False))
def test_names_and_order_do_not_matter(units: list[list[str | None]], dice: object):
    renamed = {"met": "unmet", "unmet": "met", None: None}
    other = [[renamed[value] for value in reversed(unit)] for unit in units]
    dice.shuffle(other)  # type: ignore[attr-defined]
    assert krippendorff_alpha(other) == pytest.approx(krippendorff_alpha(units))
