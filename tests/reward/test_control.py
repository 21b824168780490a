"""Control arms: length, random, format and rules alone; figures by hand and properties."""

import hashlib
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from verdicts import BROKEN, FAILED, PASSED, llm, rule

from components.core.errors import ContractError
from components.reward.control import FEATURES, check_rule_lines, format_only, length, rule_only, uniform

# --- length


def test_length_grows_evenly_up_to_its_target() -> None:
    assert [length("a " * words, 8).value for words in (0, 2, 8, 9, 80)] == [0.0, 0.25, 1.0, 1.0, 1.0]
    assert length(" \n\ta  b\n", 4).parts == {"words": 2.0}


@given(st.lists(st.text("ab", min_size=1), max_size=40), st.text("ab", min_size=1), st.integers(1, 50))
def test_another_word_never_lowers_it(words: list[str], more: str, target: int) -> None:
    before, after = length(" ".join(words), target).value, length(" ".join([*words, more]), target).value
    assert 0 <= before <= after <= 1
    assert (after > before) == (len(words) < target)


# --- random


def test_a_draw_by_hand() -> None:
    digest = hashlib.sha256(b"gavel random reward\x007\x00row\x003\x002").digest()
    assert uniform(7, "row", 3, 2).value == int(digest.hex(), 16) // 2**203 / 2**53


@given(st.integers(0, 2**31), st.text(max_size=20), st.integers(0, 10**6), st.integers(0, 64))
def test_a_draw_is_in_range_and_repeats(seed: int, row: str, step: int, index: int) -> None:
    found = uniform(seed, row, step, index)
    assert found == uniform(seed, row, step, index)
    assert 0 <= found.value < 1
    others = (
        uniform(seed + 1, row, step, index),
        uniform(seed, row + "x", step, index),
        uniform(seed, row, step + 1, index),
        uniform(seed, row, step, index + 1),
    )
    assert all(other.value != found.value for other in others)


def test_draws_are_even() -> None:
    draws = itertools.product(range(20), range(20), range(8))
    values = np.array([uniform(1, f"row-{row}", step, index).value for row, step, index in draws])
    counts = np.histogram(values, bins=16, range=(0, 1))[0]
    # Chi-square with 15 degrees of freedom is above 44.3 once in 10,000 times.
    assert ((counts - 200) ** 2 / 200).sum() < 44.3
    assert abs(values.mean() - 0.5) < 0.02


# --- format


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("A cat sat.", set()),
        ("  “Is it?” he asked (twice).  \n", set()),
        ("**Bold end.**", set()),
        ("1) One.\n2) Two.", set()),
        ("Code:\n```python\nprint('(')\n```", set()),
        ("你好。", set()),
        ("a cat sat.", {"begins"}),
        ("A cat sat", {"ends"}),
        ("A cat sat on the ma", {"ends"}),
        ("Code:\n```\nx = 1.", {"fences"}),
        ("Code:\n```\nx\n~~~\nDone.", {"fences"}),
        ("A cat (a big one sat.", {"brackets"}),
        ("A list [1, 2 and {3.", {"brackets"}),
        ("A c\ufffdt sat.", {"clean"}),
        ("A c\x00t sat.", {"clean"}),
        ("...", {"begins"}),
        ("(((", {"begins", "ends", "brackets"}),
    ],
)
def test_what_a_text_lacks(text: str, lacks: set[str]) -> None:
    found = format_only(text)
    assert {name for name, value in found.parts.items() if not value} == lacks
    assert found.value == pytest.approx(1 - len(lacks) / 5)


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_text_has_no_format(text: str) -> None:
    assert format_only(text).value == 0.0


@given(st.text(max_size=200))
def test_format_is_a_share_of_its_features_and_minds_no_white_space_around(text: str) -> None:
    found = format_only(text)
    assert set(found.parts) == set(FEATURES)
    assert found.value * 5 == pytest.approx(sum(found.parts.values()))
    assert format_only(f"\n {text}\t ") == found


@given(st.text("ab .", max_size=60))
def test_format_does_not_look_at_what_is_said(text: str) -> None:
    assert format_only(f"Yes {text} end.") == format_only(f"No {text.replace('a', 'c')} end.")


def test_long_texts_of_fences() -> None:
    # Of ` ~ ` ~ ` ~ the third closes the first and the sixth the fourth.
    assert format_only("```\n~~~\n" * 8001).parts["fences"] == 1.0
    assert format_only("```\n~~~\n" * 8000).parts["fences"] == 0.0
    assert format_only("```\n" + "~~~\n" * 8001).parts["fences"] == 0.0


# --- rules alone


def test_points_weigh_the_rules() -> None:
    lines = [rule("a", 3), rule("b", 1)]
    found = rule_only(lines, [PASSED, FAILED])
    assert (found.status, found.value, found.parts["rule_lines"]) == ("scored", 0.75, 2.0)


def test_a_penalty_by_rule_subtracts() -> None:
    lines = [rule("a", 4), rule("shouts", -6)]
    assert rule_only(lines, [PASSED, PASSED]).value == 0.0
    assert rule_only(lines, [PASSED, PASSED], clip=False).value == -0.5


def test_rules_that_failed_to_run_are_no_number() -> None:
    lines = [rule("a", 8), rule("b", 2)]
    assert rule_only(lines, [PASSED, BROKEN]).value == 1.0
    found = rule_only(lines, [BROKEN, PASSED])
    assert (found.status, found.value, found.parts, found.reason) == ("abstained", None, {}, "rules_unknown")
    assert rule_only([rule("a"), rule("bad", -1)], [PASSED, BROKEN]).reason == "rules_unknown"


@pytest.mark.parametrize("lines", [[], [llm("a")], [rule("a", -1)]])
def test_a_row_without_rules_is_named(lines: list[object]) -> None:
    with pytest.raises(ContractError, match="no rule line with positive points") as caught:
        check_rule_lines(lines, "row r7")
    assert "row r7" in str(caught.value)
    with pytest.raises(ContractError, match="no rule line"):
        rule_only(lines, [PASSED] * len(lines))


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=9))
def test_it_is_the_share_of_the_points(lines: list[tuple[int, bool]]) -> None:
    criteria = [rule(f"line {number}", points) for number, (points, _) in enumerate(lines)]
    found = rule_only(criteria, [PASSED if held else FAILED for _, held in lines])
    whole = sum(points for points, _ in lines)
    assert found.value == pytest.approx(sum(points for points, held in lines if held) / whole)
