import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import ContractError
from components.gold.ifeval import CHECKS, check_arguments, follows, loose_variants

WORDS = "length_constraints:number_words"


@pytest.mark.parametrize(
    ("kind", "kwargs", "response", "expected"),
    [
        # "less than" is strict, "at least" is not; a hyphen or an apostrophe makes two words.
        (WORDS, {"num_words": 3, "relation": "less than"}, "one two", True),
        (WORDS, {"num_words": 3, "relation": "less than"}, "one two three", False),
        (WORDS, {"num_words": 3, "relation": "at least"}, "one two three", True),
        (WORDS, {"num_words": 3, "relation": "at least"}, "one two", False),
        (WORDS, {"num_words": 4, "relation": "at least"}, "well-known, isn't", True),
        # Sub-strings count for existence and frequency, words for forbidden words.
        ("keywords:existence", {"keywords": ["cat", "dog"]}, "CATalog of dogs", True),
        ("keywords:existence", {"keywords": ["cat", "dog"]}, "a cat", False),
        ("keywords:existence", {"keywords": ["c.t"]}, "cut", True),
        ("keywords:forbidden_words", {"forbidden_words": ["cat"]}, "a catalog", True),
        ("keywords:forbidden_words", {"forbidden_words": ["cat"]}, "a Cat.", False),
        ("keywords:frequency", {"keyword": "cat", "frequency": 2, "relation": "at least"}, "cat, Catalog", True),
        ("keywords:frequency", {"keyword": "cat", "frequency": 2, "relation": "less than"}, "cat, Catalog", False),
        ("punctuation:no_comma", {}, "no comma here", True),
        ("punctuation:no_comma", {}, "a, b", False),
        ("change_case:english_lowercase", {}, "all low 3!", True),
        ("change_case:english_lowercase", {}, "Not all", False),
        ("change_case:english_lowercase", {}, "123", False),
        ("change_case:english_capital", {}, "ALL HIGH 3!", True),
        ("change_case:english_capital", {}, "NOT all", False),
        ("startend:end_checker", {"end_phrase": "Bye now."}, 'So "long, bye now."  ', True),
        ("startend:end_checker", {"end_phrase": "bye"}, "bye now", False),
        ("startend:quotation", {}, ' "all of it" ', True),
        ("startend:quotation", {}, '"', False),
        ("startend:quotation", {}, '"open', False),
    ],
)
def test_each_kind(kind, kwargs, response, expected):
    assert follows(kind, kwargs, response) is expected


@pytest.mark.parametrize("kind", CHECKS)
@pytest.mark.parametrize("response", ["", "  \n"])
@pytest.mark.parametrize("loose", [False, True])
def test_an_empty_response_follows_nothing(kind, response, loose):
    arguments = {
        "num_words": 5,
        "relation": "less than",
        "keywords": [" "] and ["a"],
        "forbidden_words": ["a"],
        "keyword": "a",
        "frequency": 1,
        "end_phrase": "a",
    }
    kwargs = {name: arguments[name] for name in CHECKS[kind][1]}
    assert follows(kind, kwargs, response, loose=loose) is False


def test_the_eight_loose_variants():
    assert loose_variants("*a*\nb\n*c*") == [
        "*a*\nb\n*c*",
        "b\n*c*",
        "*a*\nb",
        "b",
        "a\nb\nc",
        "b\nc",
        "a\nb",
        "b",
    ]


def test_loose_rescues_what_lines_and_stars_spoil():
    response = "Sure, here it is:\nno comma\nBye, then"
    assert follows("punctuation:no_comma", {}, response) is False
    assert follows("punctuation:no_comma", {}, response, loose=True) is True
    ending = {"end_phrase": "the end"}
    assert follows("startend:end_checker", ending, "this is **the end**") is False
    assert follows("startend:end_checker", ending, "this is **the end**", loose=True) is True


@pytest.mark.parametrize(
    ("kind", "kwargs", "message"),
    [
        ("keywords:existance", {}, "unknown constraint"),
        ("", {}, "unknown constraint"),
        (WORDS, {"relation": "at least"}, r"missing \['num_words'\]"),
        (WORDS, {"num_words": 3, "relation": None}, r"missing \['relation'\]"),
        (WORDS, {"num_words": 3, "relation": "more than"}, "relation cannot be 'more than'"),
        (WORDS, {"num_words": "3", "relation": "at least"}, "num_words cannot be '3'"),
        (WORDS, {"num_words": True, "relation": "at least"}, "num_words"),
        ("keywords:existence", {"keywords": []}, "keywords"),
        ("keywords:existence", {"keywords": ["("]}, "keywords"),
        ("keywords:existence", {"keywords": "cat"}, "keywords"),
        ("punctuation:no_comma", {"count": 1}, r"unknown \['count'\]"),
    ],
)
def test_what_cannot_be_checked_raises_and_is_never_followed(kind, kwargs, message):
    for response in ("some text", ""):
        with pytest.raises(ContractError, match=message):
            follows(kind, kwargs, response)


def test_nulls_that_pad_the_arguments_are_dropped():
    check_arguments("punctuation:no_comma", {"num_words": None, "keywords": None})
    assert follows("punctuation:no_comma", {"num_words": None}, "fine") is True


@given(response=st.text(max_size=80), number=st.integers(0, 20))
def test_the_two_relations_exclude_each_other_and_strict_implies_loose(response, number):
    less, least = (
        follows(WORDS, {"num_words": number, "relation": relation}, response) for relation in ("less than", "at least")
    )
    assert less + least == (1 if response.strip() else 0)
    for kind in ("punctuation:no_comma", "change_case:english_lowercase", "startend:quotation"):
        assert follows(kind, {}, response) <= follows(kind, {}, response, loose=True)
