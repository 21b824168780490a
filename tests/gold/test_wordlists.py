import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import ConfigError, ContractError
from components.gold.text import words
from components.gold.wordlists import load_word_list, parse_word_list, word_list_path

ANIMALS = load_word_list("animals")


def found(text: str, words=ANIMALS) -> list[str]:
    return [hit.word for hit in words.find(text)]


def test_lists_are_long_and_hold_what_they_should():
    forms = {form for entry in ANIMALS.entries for form in entry.forms}
    assert len(ANIMALS.entries) >= 250
    assert len(load_word_list("foods").entries) >= 250
    assert {"cat", "cats", "wolves", "mice", "foxes", "ponies", "sheep", "ostriches", "monkeys", "sea lions"} <= forms
    # The category's own names, and words that are mostly something else.
    assert not forms & {"animal", "animals", "creature", "pet", "fly", "seal", "crane", "bat", "swallow", "kid", "ram"}
    assert not {form for entry in load_word_list("foods").entries for form in entry.forms} & {"food", "meal", "date"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat sat.", ["cat"]),
        ("CATS! cats? Cat's", ["cat", "cat", "cat"]),
        ("a cow’s bell", ["cow"]),
        ("“Dog”, she said; (cat) _hen_", ["dog", "cat"]),
        ("Three mice, two oxen and a pony", ["mouse", "ox", "pony"]),
        ("a polar   bear on\nthe ice", ["polar bear"]),
        ("a sea\nlion", ["sea lion"]),
        ("catalog category scatter cowering ratio dogma horsed pigment", []),
        ("cat-like, dog-eared, sub-cat", []),
        ("dog - cat -- hen", ["dog", "cat", "hen"]),
        ("to bear the cold and duck", []),
        ("the bear, two ducks, a small bear, some fish", ["bear", "duck", "bear", "fish"]),
        ("a person bears it; he ducks", []),
        ("the turkey sandwich, a chicken soup", []),
        ("a turkey, the chicken in the yard", ["turkey", "chicken"]),
        ("hot dogs and a teddy bear in the rat race with a rubber duck", []),
        ("the hot  dog was cold but the dog was hot", ["dog"]),
        ("", []),
    ],
)
def test_words_are_found_whole_and_in_their_place(text, expected):
    assert found(text) == expected


@given(word=st.sampled_from(sorted(form for entry in ANIMALS.entries for form in entry.forms)))
def test_every_form_is_found_in_a_nouns_place_and_not_inside_a_word(word):
    assert len(found(f"We saw the {word}.")) == 1
    for spoilt in (f"x{word}", f"{word}x", f"x-{word}", f"{word}-x"):
        assert word not in found(f"We saw the {spoilt}.")
        assert " " in word or found(f"We saw the {spoilt}.") == []


@given(text=st.text(max_size=80))
def test_hits_lie_in_the_text_in_order(text):
    hits = ANIMALS.find(text)
    assert all(first.end <= second.start for first, second in itertools.pairwise(hits))
    assert len(hits) <= len(words(text))


def test_the_format_is_read_as_described():
    listed = parse_word_list(
        "# note\n\ncat\n!duck\n!!turkey\ngoose / geese\nox / oxen, oxes\nbox\nfly\nboy\n- fat cat\n"
    )
    assert {entry.word: (entry.forms, entry.strictness) for entry in listed.entries} == {
        "cat": (("cat", "cats"), 0),
        "duck": (("duck", "ducks"), 1),
        "turkey": (("turkey", "turkeys"), 2),
        "goose": (("goose", "geese"), 0),
        "ox": (("ox", "oxen", "oxes"), 0),
        "box": (("box", "boxes"), 0),
        "fly": (("fly", "flies"), 0),
        "boy": (("boy", "boys"), 0),
    }
    assert found("the fat cat and the cat", listed) == ["cat"]


@pytest.mark.parametrize(
    ("text", "message"), [("", "no words"), ("cat\ncats\n", "line 2"), ("!!!x\n", "no word"), ("!\n", "no word")]
)
def test_wrong_lists_are_refused(text, message):
    with pytest.raises(ContractError, match=message):
        parse_word_list(text)


def test_an_unknown_list_names_the_known_ones():
    with pytest.raises(ConfigError, match="planets") as caught:
        word_list_path("planets")
    assert "animals, foods" in caught.value.remedy
