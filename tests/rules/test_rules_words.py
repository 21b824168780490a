"""``word_count_range`` against counts made by hand and against a count that looks at each letter."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.judge.rule import Rule
from components.judge.verdict import Verdict, VerdictStatus
from components.rules.words import count_words, word_count_range


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        (" \n\t ", 0),
        ("one", 1),
        ("A cat, a dog.", 4),
        ("well-known facts don't change", 4),
        ("a - b", 3),
        ("a—b", 1),
        ("two\u00a0words\u2003apart", 3),
        ("- item\n- item", 4),
        ("**bold** text", 2),
        ("1,000 or 2.5", 3),
        ("我喜欢猫", 1),
        ("line\r\nline\n\n\nline", 3),
    ],
)
def test_words_counted_by_hand(text: str, words: int) -> None:
    assert count_words(text) == words


@given(st.text(alphabet=st.sampled_from("ab.,-\u00e9\u4e2d \t\n\u00a0\u2003\u200b")))
def test_words_begin_where_a_letter_follows_space(text: str) -> None:
    begins = [not letter.isspace() and (index == 0 or text[index - 1].isspace()) for index, letter in enumerate(text)]
    assert count_words(text) == sum(begins)


@given(count=st.integers(0, 30), least=st.integers(0, 30), more=st.integers(0, 10))
def test_limits_are_included(count: int, least: int, more: int) -> None:
    rule = Rule.parse({"name": "word_count_range", "min_count": least, "max_count": least + more})
    finding = word_count_range(rule, " ".join(["word"] * count))
    assert finding.met is (count in range(least, least + more + 1))


@given(words=st.lists(st.text(alphabet="abc", min_size=1), max_size=20), spaces=st.text(alphabet=" \n\t", min_size=1))
def test_white_space_does_not_matter(words: list[str], spaces: str) -> None:
    assert count_words(spaces + spaces.join(words) + spaces) == len(words)


@pytest.mark.parametrize(
    ("response", "met"), [("a b", True), ("a b c", True), ("a", False), ("a b c d", False), ("", False)]
)
def test_verdicts(decide: Callable[..., Verdict], response: str, met: bool) -> None:
    verdict = decide("word_count_range", response, min_count=2, max_count=3)
    assert verdict.status is (VerdictStatus.MET if met else VerdictStatus.UNMET)
    assert verdict.probability == float(met)
