import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import ConfigError
from components.gold.check import check_gold
from components.gold.checks import GoldChecks

ITEMS = [json.loads(line) for line in Path(__file__).with_name("gold_items.jsonl").read_text().splitlines()]
ANIMALS = GoldChecks("animals", min_words=4, max_words=40)
QUESTION = "Write one short sentence about the kitchen."


@pytest.mark.parametrize("item", ITEMS, ids=[item["text"][:50] for item in ITEMS])
@pytest.mark.parametrize("criterion", ["mentions an animal", "The response mentions an animal."])
def test_hand_made_items(item, criterion):
    gold = check_gold(ANIMALS, [criterion], item["text"], QUESTION)
    assert {key: getattr(gold, key) for key in ("keyword", "echo", "length_ok")} == {
        key: item[key] for key in ("keyword", "echo", "length_ok")
    }, gold
    assert gold.gold == (item["keyword"] and not item["echo"] and item["length_ok"])


def test_items_cover_every_combination_that_can_occur():
    kinds = {(item["keyword"], item["echo"], item["length_ok"]) for item in ITEMS}
    assert len(ITEMS) >= 40
    assert kinds >= {
        (True, False, True),
        (True, True, True),
        (False, True, True),
        (True, False, False),
        (False, False, False),
        (False, False, True),
    }


FOODS = GoldChecks("foods", min_words=4, max_words=40)


@pytest.mark.parametrize(
    ("text", "keyword", "echo"),
    [
        ("She put a slice of bread on the bench and left.", True, False),
        ("The smell of soup drifted down the corridor.", True, False),
        ("He loves to eat pancakes by the window.", True, False),
        ("I found an orange under the old chair.", True, False),
        ("The orange sunset lit the harbour.", False, False),
        ("The peach curtain hung beside an olive coat.", False, False),
        ("The meaty breadth of the cakewalk spiced nothing.", False, False),
        ("The sentence mentions something to eat, which is bread.", True, True),
        ("This response mentions something to eat: cheese.", True, True),
        ("It mentions rice.", True, True),
        ("The text mentions something to eat in the hall.", False, True),
    ],
)
def test_another_topic(text, keyword, echo):
    gold = check_gold(FOODS, ["mentions something to eat"], text, "Describe the hall in one sentence.")
    assert (gold.keyword, gold.echo) == (keyword, echo), gold


def test_details_say_what_was_seen():
    gold = check_gold(ANIMALS, ["mentions an animal"], "The sentence mentions Cats, dogs and a dog.", QUESTION)
    assert gold.detail["keywords"] == ["cat", "dog"]
    assert gold.detail["faults"] == []
    assert gold.detail["echo"]["rule"] == "self_reference"
    assert "mentions" in gold.detail["echo"]["evidence"]
    assert gold.words == 8
    json.dumps(gold.detail)


def test_echo_can_be_switched_off():
    checks = GoldChecks("animals", min_words=4, max_words=40, echo=False)
    gold = check_gold(checks, ["mentions an animal"], "The sentence mentions an animal, a cat.", QUESTION)
    assert (gold.echo, gold.gold) == (None, True)


def test_constraints_count_beside_the_words():
    kinds = (
        ("punctuation:no_comma", {}),
        ("length_constraints:number_words", {"num_words": 6, "relation": "at least"}),
    )
    checks = GoldChecks("animals", min_words=1, max_words=40, constraints=kinds)
    passed = check_gold(checks, ["mentions an animal"], "The cat sat on the warm step.", QUESTION)
    failed = check_gold(checks, ["mentions an animal"], "The cat sat, then slept all day.", QUESTION)
    rescued = check_gold(checks, ["mentions an animal"], "Well, sure\nthe cat sat on the warm step.", QUESTION)
    assert (passed.gold, passed.keyword) == (True, True)
    assert (failed.gold, failed.keyword) == (False, False)
    assert rescued.detail["constraints"][0] == {"id": "punctuation:no_comma", "strict": False, "loose": True}
    assert rescued.gold is False


def test_a_row_without_checks_has_no_gold_rather_than_a_false_one():
    gold = check_gold(GoldChecks(), ["is polite"], "Good morning to all of you.", QUESTION)
    assert gold.gold is None
    assert gold.keyword is None
    assert (gold.echo, gold.length_ok) == (False, True)


def test_a_row_that_is_not_checked_at_all_has_a_length_and_nothing_else():
    gold = check_gold(None, ["is polite"], "Good morning to all of you.", QUESTION)
    assert (gold.gold, gold.keyword, gold.echo, gold.length_ok) == (None, None, None, None)
    assert (gold.words, gold.detail) == (6, {})


def test_a_missing_word_list_is_no_failure_of_the_response():
    with pytest.raises(ConfigError, match="planets"):
        check_gold(GoldChecks("planets"), [], "Mars is red.", "")


TEXTS = st.sampled_from([item["text"] for item in ITEMS]) | st.text(
    st.sampled_from("abcdogcat .,!?-'\nTheAn"), max_size=60
)


@given(text=TEXTS, data=st.data())
def test_case_and_white_space_change_nothing_but_line_ends(text, data):
    changed = "".join(
        char * data.draw(st.integers(1, 3)) if char == " " else data.draw(st.sampled_from([char.lower(), char.upper()]))
        for char in text
    )
    before, after = (check_gold(ANIMALS, ["mentions an animal"], one, QUESTION) for one in (text, f"  {changed}  "))
    assert (before.keyword, before.echo, before.length_ok, before.words) == (
        after.keyword,
        after.echo,
        after.length_ok,
        after.words,
    )


@given(text=st.text(max_size=200), criterion=st.text(min_size=1, max_size=60), question=st.text(max_size=60))
def test_any_text_gets_flags_that_agree(text, criterion, question):
    gold = check_gold(ANIMALS, [criterion], text, question)
    assert gold.gold == (gold.keyword and not gold.echo and gold.length_ok)
    assert gold.length_ok == (gold.detail["faults"] == [])
    assert gold.keyword == bool(gold.detail["keywords"])
    assert gold.words >= 0
