import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.gold.shape import shape_faults
from components.gold.wordlists import load_word_list

ANIMALS = load_word_list("animals")


def faults(text: str, low: int = 4, high: int = 12) -> list[str]:
    return shape_faults(text, ANIMALS.find(text), min_words=low, max_words=high)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the cat sat down", []),
        ("the cat sat", ["too_short"]),
        ("one two the four five six seven eight nine ten eleven twelve", []),
        ("one two the four five six seven eight nine ten eleven twelve more", ["too_long"]),
        ("it was very very cold", []),
        ("it was very very very cold", ["repetition"]),
        ("a cat sat a cat sat a cat sat", ["repetition"]),
        ("the cat, the dog and a hen sat", []),
        ("the cat, the dog, a cow and a hen sat", ["word_list"]),
        ("the cat sat. Dog. Cow barked. Hen ran off", []),
        ("the cat dog hen", ["word_list"]),
        ("cat dog cow horse", ["word_list", "no_sentence"]),
        ("happy people walk home", ["no_sentence"]),
        ("don't go to the cat", []),
        ("", ["too_short"]),
        ("?!", ["too_short"]),
    ],
)
def test_hand_counted(text, expected):
    assert faults(text) == expected


def test_bounds_are_inclusive_and_counted_in_words():
    text = "the well-known cat's 3 friends"
    assert faults(text, 6, 6) == []
    assert faults(text, 7, 9) == ["too_short"]
    assert faults(text, 1, 5) == ["too_long"]


def test_a_long_text_may_come_back_to_its_words():
    sentences = [f"On day {number} we went to place{number} and saw thing{number} there." for number in range(20)]
    assert faults(" ".join(sentences), 1, 1000) == []


@given(word=st.from_regex(r"[a-z]{2,8}", fullmatch=True), count=st.integers(4, 60))
def test_one_word_over_and_over_never_passes(word, count):
    assert "repetition" in faults(" ".join([word] * count), 1, 100)
