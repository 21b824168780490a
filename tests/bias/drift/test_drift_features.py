"""Features of responses: counted by hand, blind to length where they say so, unknown where there is nothing to read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.bias.drift.features import (
    FEATURES,
    OTHER_TITLES,
    PREDICTED,
    citations,
    list_share,
    markdown_share,
    read_features,
    type_token_ratio,
)
from components.bias.drift.phrases import FOLDER, count_phrases, phrases
from components.core.errors import ContractError


@pytest.mark.parametrize(
    ("text", "lists", "markdown"),
    [
        ("One line.\nAnother line.", 0.0, 0.0),
        ("Intro\n\n- one\n- two\n3. three", 0.75, 0.75),
        ("# Title\nplain\n**bold** word\nplain", 0.0, 0.5),
        ("```\ncode\n```", 0.0, 2 / 3),
        ("see [here](http://x.y)", 0.0, 1.0),
        ("2 * 3 * 4 is 24", 0.0, 0.0),
        ("A sum - no list - in the text", 0.0, 0.0),
    ],
)
def test_lists_and_markdown_by_lines(text, lists, markdown):
    assert list_share(text) == pytest.approx(lists)
    assert markdown_share(text) == pytest.approx(markdown)


def test_rates_are_by_a_hundred_words():
    # Twenty words, one hedge, one claim in the first person, two words of praise.
    text = (
        "Great question! I think it is perhaps the wonderful garden that people like to see in the early spring months."
    )
    found = read_features(text)
    assert found["words"] == 20.0
    assert (found["hedges"], found["first_person"], found["praise"]) == (5.0, 5.0, 10.0)


def test_a_phrase_stands_whole_and_counts_once():
    assert count_phrases("hedges", "Maybe, MAYBE; maybes are not") == 2
    # "it seems" stands inside no longer phrase here; "seems to" overlaps with it and counts once.
    assert count_phrases("hedges", "It seems to rain") == 1
    assert count_phrases("refusals", "I can’t do that") == 1


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("As Smith et al. found", 1),
        ("(Jones, 2019) wrote", 1),
        ("(Jones and Day, 2019, p. 4) wrote", 1),
        ("see https://example.org/a and [3]", 2),
        ("According to a recent study", 2),
        ("In 2019 (a warm year) it rained", 0),
        ("the list [a] has x[i]", 0),
    ],
)
def test_citations_are_counted(text, count):
    words = read_features(text)["words"]
    assert words
    assert citations(text) == pytest.approx(100 * count / words)


def test_a_refusal_stands_at_the_start():
    assert read_features("I'm sorry, but I cannot help with that.")["refusals"] == 1.0
    assert read_features("word " * 50 + "and I cannot fly")["refusals"] == 0.0


def test_without_words_a_rate_is_unknown_and_the_length_zero():
    found = read_features("  \n ")
    assert found.pop("words") == 0.0
    assert set(found.values()) == {None}


def test_moving_average_type_token_ratio():
    # Windows of 2 over a a b: {a} 1 of 2, {a, b} 2 of 2.
    assert type_token_ratio("a a b", window=2) == pytest.approx(0.75)
    assert type_token_ratio("a b", window=3) is None


@given(st.lists(st.sampled_from("abcdefgh"), min_size=3, max_size=40), st.integers(2, 3))
def test_the_ratio_agrees_with_its_definition(letters, window):
    windows = [letters[place : place + window] for place in range(len(letters) - window + 1)]
    expected = sum(len(set(each)) / window for each in windows) / len(windows)
    assert type_token_ratio(" ".join(letters), window) == pytest.approx(expected)


def test_length_alone_moves_nothing_but_length():
    part = (
        "I think the old harbour was perhaps full of small boats that evening, according to the keeper of the lamp.\n"
    )
    short, long = read_features(part * 2), read_features(part * 8)
    for name in FEATURES:
        if name == "words":
            assert long[name] == 4 * short[name]
        else:
            assert long[name] == pytest.approx(short[name], rel=0.03), name


@given(st.text(max_size=300))
def test_any_text_has_features_in_their_range(text):
    for name, value in read_features(text).items():
        assert value is None or value >= 0.0, name
        if name in ("lists", "markdown", "refusals", "variety"):
            assert value is None or value <= 1.0, name


def test_lists_of_phrases_are_whole():
    for path in FOLDER.glob("*.txt"):
        assert phrases(path.stem)
    with pytest.raises(ContractError, match="no list of phrases 'nothing'"):
        phrases("nothing")


def test_what_a_probe_predicts_is_a_feature():
    assert set(PREDICTED.values()) <= set(FEATURES)
    assert not set(FEATURES) & set(OTHER_TITLES)
