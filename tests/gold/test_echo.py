import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.gold.echo import find_echo
from components.gold.text import stem

QUESTION = "Say one thing about the harbour."


@pytest.mark.parametrize(
    ("criterion", "response", "rule"),
    [
        (
            "mentions an animal",
            "The sentence mentions a creature with a specific animal, which is a cat.",
            "self_reference",
        ),
        ("mentions an animal", "A cat is mentioned here.", "self_reference"),
        ("mentions an animal", "There is a kind of animal called a dog.", "category"),
        ("mentions an animal", "The harbour has a particular animal, a cat.", "category"),
        ("mentions an animal", "Cats and dogs are animals by the sea.", "category"),
        ("mentions an animal", "Animal: cat", "label"),
        ("The text names a colour.", "This text names a colour, blue.", "self_reference"),
        ("names a colour", "There is a specific colour, blue, on the boat.", "category"),
        ("is friendly and polite to the reader", "This one is friendly and polite to the reader.", "copy"),
        ("uses vivid imagery of the sea", "The response uses vivid imagery.", "self_reference"),
        ("gives a clear reason", "A clear reason is given as the criterion must have a reason.", "self_reference"),
        ("is polite", "The response is kind and polite.", "self_reference"),
        ("includes an apology", "He has included an apology and more.", "overlap"),
    ],
)
def test_parrots_are_caught_for_any_criterion(criterion, response, rule):
    assert find_echo([criterion], response, QUESTION).rule == rule


@pytest.mark.parametrize(
    ("criterion", "response"),
    [
        ("mentions an animal", "A cat slept on the quay."),
        ("mentions an animal", "The animal rescue team found a dog under the pier."),
        ("mentions an animal", "The passage between the houses was home to a fox."),
        ("mentions an animal", "The answer was a horse, of course."),
        ("mentions an animal", "Here is a short sentence about the harbour: a gull cried."),
        ("mentions an animal", "Of course, here's one: the ferry brought a goat."),
        ("names a colour", "The boats were blue and the sky was grey."),
        ("mentions rain or snow", "The rain turned to snow at dusk."),
        ("is friendly and polite", "The guard is polite, and his friendly wave helps."),
        ("uses vivid imagery of the sea", "The sea glittered like broken glass."),
        ("mentions the harbour", "The harbour is loud in the morning."),
        ("gives a clear reason", "She left because the tide was rising."),
        ("mentions an animal", ""),
        # From SmolLM2's answers before any training.
        (
            "mentions an animal",
            "A stuck zip is a classic example of a stuck-on sentence that can be both humorous and poignant.",
        ),
        ("mentions an animal", "I mentioned it to the host."),
        ("mentions an animal", "This phrase is often used to describe a physical object that"),
        ("mentions an animal", "A friend asks about the last page of a novel, and I respond with a brief explanation."),
        (
            "mentions an animal",
            "The moving van was a story of hope and resilience. It was a tale of the city's resilience.",
        ),
    ],
)
def test_honest_responses_pass(criterion, response):
    assert find_echo([criterion], response, QUESTION).rule is None, find_echo([criterion], response, QUESTION)


def test_words_of_the_request_are_no_evidence():
    response = "There is a specific harbour by the lighthouse."
    assert find_echo(["describes a harbour"], response, "").rule == "category"
    assert find_echo(["describes a harbour"], response, QUESTION).rule is None


def test_a_preamble_that_repeats_the_criterion_is_no_preamble():
    assert not find_echo(["mentions an animal"], "Here is a line about the harbour: a cat sat.", QUESTION)
    assert find_echo(["mentions an animal"], "Here is a line that mentions an animal: a cat sat.", QUESTION)


def test_any_of_several_criteria_counts():
    criteria = ["is short", "mentions an animal"]
    assert find_echo(criteria, "A certain animal, a cat, sat there.", QUESTION).rule == "category"


@pytest.mark.parametrize(
    "family",
    [
        ("mention", "mentions", "mentioned", "mentioning"),
        ("animal", "animals", "animal's"),
        ("include", "includes", "included", "including"),
        ("city", "cities"),
        ("run", "runs", "running"),
        ("box", "boxes"),
        ("pass", "passes", "passed", "passing"),
        ("criterion", "criteria"),
        ("use", "uses", "used", "using"),
        ("describe", "describes", "described", "describing"),
    ],
)
def test_inflections_share_a_stem(family):
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize("pair", [("sing", "s"), ("bus", "bu"), ("red", "r"), ("animal", "animate"), ("food", "foot")])
def test_other_words_do_not(pair):
    assert stem(pair[0]) != stem(pair[1])


PIECES = [
    "the",
    "a",
    "cat",
    "animal",
    "sentence",
    "mentions",
    "is",
    "of",
    "kind",
    "specific",
    "harbour",
    "text",
    ".",
    "\n",
]
SENTENCES = st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join)


@given(response=SENTENCES | st.text(max_size=80), criterion=st.sampled_from(["mentions an animal", "is polite", "?"]))
def test_evidence_comes_with_a_rule_and_only_then(response, criterion):
    echo = find_echo([criterion], response, QUESTION)
    assert bool(echo) == (echo.rule is not None) == bool(echo.evidence)


@given(response=SENTENCES, tail=SENTENCES)
def test_saying_more_in_a_further_sentence_hides_nothing(response, tail):
    if find_echo(["mentions an animal"], response, QUESTION) and not response.startswith(("here", "this")):
        assert find_echo(["mentions an animal"], f"{response}. {tail}", QUESTION)
