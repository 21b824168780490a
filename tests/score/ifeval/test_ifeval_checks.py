"""Each type by hand-written cases; expected values follow from the published checkers' rules (arXiv 2311.07911)."""

import re
from typing import Any

import pytest

from components.core.errors import ContractError
from components.score.ifeval.evaluate import evaluate
from components.score.ifeval.patterns import Pattern
from components.score.ifeval.registry import CHECKS, build_check

CAPITALS = "change_case:capital_word_frequency"
NTH = "length_constraints:nth_paragraph_first_word"
SECTIONS = "detectable_format:multiple_sections"
SENTENCES = "length_constraints:number_sentences"
WORDS = "length_constraints:number_words"
LETTERS = "keywords:letter_frequency"
EXAMPLES: dict[str, dict[str, Any]] = {
    CAPITALS: {"capital_relation": "at least", "capital_frequency": 3},
    "change_case:english_capital": {},
    "change_case:english_lowercase": {},
    "combination:repeat_prompt": {"prompt_to_repeat": " Say Hi. "},
    "combination:two_responses": {},
    "detectable_content:number_placeholders": {"num_placeholders": 2},
    "detectable_content:postscript": {"postscript_marker": "P.S."},
    "detectable_format:constrained_response": {},
    "detectable_format:json_format": {},
    SECTIONS: {"section_spliter": "Section", "num_sections": 2},
    "detectable_format:number_bullet_lists": {"num_bullets": 2},
    "detectable_format:number_highlighted_sections": {"num_highlights": 2},
    "detectable_format:title": {},
    "keywords:existence": {"keywords": ["cat", "d.g"]},
    "keywords:forbidden_words": {"forbidden_words": ["cat", "dog"]},
    "keywords:frequency": {"relation": "at least", "keyword": "cat", "frequency": 2},
    LETTERS: {"let_relation": "at least", "letter": "Q", "let_frequency": 2},
    "language:response_language": {"language": "de"},
    NTH: {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Weekend"},
    "length_constraints:number_paragraphs": {"num_paragraphs": 2},
    SENTENCES: {"relation": "at least", "num_sentences": 3},
    WORDS: {"relation": "at least", "num_words": 4},
    "punctuation:no_comma": {},
    "startend:end_checker": {"end_phrase": " The End. "},
    "startend:quotation": {},
}
"""Arguments for each type."""

ENGLISH = "the old town lies by the sea and the people there like to talk about the weather."
GERMAN = "die alte stadt liegt am meer und die leute dort reden gerne über das wetter."

CASES: list[tuple[str, dict[str, Any], str, bool]] = [
    # Words in capitals: I counts, a hyphenated word is one, CAN'T two (CA N'T), 'TIS two.
    (CAPITALS, {}, "I saw NASA and THE-END.", True),
    (CAPITALS, {}, "I saw NASA and the-END.", False),
    (CAPITALS, {}, "We CAN'T say NO", True),
    (CAPITALS, {"capital_relation": "less than"}, "A B", True),
    (CAPITALS, {"capital_relation": "less than"}, "A B C", False),
    ("change_case:english_capital", {}, ENGLISH.upper(), True),
    ("change_case:english_capital", {}, ENGLISH.upper() + " no", False),
    ("change_case:english_lowercase", {}, ENGLISH, True),
    ("change_case:english_lowercase", {}, ENGLISH.capitalize(), False),
    ("change_case:english_lowercase", {}, GERMAN, False),
    ("change_case:english_lowercase", {}, "1234", False),
    ("combination:repeat_prompt", {}, "\n say hi. Hello", True),
    ("combination:repeat_prompt", {}, "Sure: say hi.", False),
    ("combination:two_responses", {}, "one\n******\ntwo", True),
    ("combination:two_responses", {}, "******one******two******", True),
    ("combination:two_responses", {}, "one******one ", False),
    ("combination:two_responses", {}, "one************two", False),
    ("combination:two_responses", {}, "one***two", False),
    ("detectable_content:number_placeholders", {}, "[] and [name]", True),
    ("detectable_content:number_placeholders", {}, "[[name]]", False),
    ("detectable_content:number_placeholders", {}, "[na\nme] [x]", False),
    ("detectable_content:postscript", {}, "Bye\np. s. more", True),
    ("detectable_content:postscript", {}, "in mid-line P.S. more", True),
    ("detectable_content:postscript", {}, "PS: more", False),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, "p.p.s more", True),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, "P.S. more", False),
    ("detectable_content:postscript", {"postscript_marker": "Note"}, "a NOTE", True),
    ("detectable_format:constrained_response", {}, "Well. My answer is no. Bye", True),
    ("detectable_format:constrained_response", {}, "My answer is no", False),
    ("detectable_format:json_format", {}, '```json\n{"a": [1, null]}\n```', True),
    ("detectable_format:json_format", {}, "12", True),
    ("detectable_format:json_format", {}, 'Here: {"a": 1}', False),
    ("detectable_format:json_format", {}, "[" * 5000, False),
    (SECTIONS, {}, "Section 1\na\nSection2 b", True),
    (SECTIONS, {}, "SECTION 1\nsection 2", False),
    (SECTIONS, {}, "Section one\nSection two", False),
    # A bullet: one star and no second, or a hyphen, so a rule of hyphens counts; the number is exact.
    ("detectable_format:number_bullet_lists", {}, "* a\n  - b", True),
    ("detectable_format:number_bullet_lists", {}, "* a\n---", True),
    ("detectable_format:number_bullet_lists", {}, "* a\n**b**", False),
    ("detectable_format:number_bullet_lists", {}, "- a\n- b\n- c", False),
    ("detectable_format:number_bullet_lists", {}, "text - a\n- b", False),
    # Double stars: two empty single spans, one double span.
    ("detectable_format:number_highlighted_sections", {}, "*a* and **b**", True),
    ("detectable_format:number_highlighted_sections", {}, "**b**", False),
    ("detectable_format:number_highlighted_sections", {}, "* * *a\nb*", False),
    ("detectable_format:title", {}, "a <<b>> c", True),
    ("detectable_format:title", {}, "<< >> <b>", False),
    ("detectable_format:title", {}, "<<a\nb>>", False),
    # Keywords are regular expressions, found within words; forbidden words only whole.
    ("keywords:existence", {}, "Catalogue of digits", True),
    ("keywords:existence", {}, "cat and d\ng", False),
    ("keywords:forbidden_words", {}, "catalogue", True),
    ("keywords:forbidden_words", {}, "a CAT.", False),
    ("keywords:frequency", {}, "cat Catalogue", True),
    ("keywords:frequency", {}, "cat c at", False),
    ("keywords:frequency", {"relation": "less than"}, "cat", True),
    ("keywords:frequency", {"relation": "less than"}, "catcat", False),
    # No letter, no random one: # and ! are counted themselves (keys 1122 and 1129).
    (LETTERS, {}, "quiQ", True),
    (LETTERS, {}, "quick", False),
    (LETTERS, {"letter": "#"}, "#a #b", True),
    (LETTERS, {"letter": "#"}, "#a b", False),
    (LETTERS, {"letter": "!", "let_relation": "less than"}, "a!", True),
    (LETTERS, {"letter": "!", "let_relation": "less than"}, "a!!", False),
    ("language:response_language", {}, GERMAN, True),
    ("language:response_language", {}, ENGLISH, False),
    # Digits have no language: counts as followed, as published.
    ("language:response_language", {}, "12345", True),
    (NTH, {}, "One.\n\n\"Weekend, it is.", True),
    (NTH, {}, "One.\n\nWeekends", False),
    (NTH, {}, "One.\n\nWeekend\n\nTwo", False),
    # Blank paragraphs do not count, but the second is looked up among all of them.
    (NTH, {}, "One.\n\n\n\nWeekend", False),
    (NTH, {}, "One.\n\nWeekend\n\n ", True),
    ("length_constraints:number_paragraphs", {}, "a\n***\nb", True),
    ("length_constraints:number_paragraphs", {}, "***a *** b***", True),
    ("length_constraints:number_paragraphs", {}, "a******b", False),
    ("length_constraints:number_paragraphs", {}, "a", False),
    (SENTENCES, {}, "Dr. Hale came. She sat. He left!", True),
    (SENTENCES, {}, "Dr. Hale came at 5 p.m. today. She sat.", False),
    (SENTENCES, {"relation": "less than"}, "One. Two.", True),
    (SENTENCES, {"relation": "less than"}, "One. Two. Three", False),
    (WORDS, {}, "well-known isn't", True),
    (WORDS, {}, "one two three", False),
    (WORDS, {"relation": "less than"}, "one two_two three", True),
    (WORDS, {"relation": "less than"}, "one two three four", False),
    ("punctuation:no_comma", {}, "a; b，c", True),
    ("punctuation:no_comma", {}, "a, b", False),
    ("startend:end_checker", {}, 'so it goes. the end." ', True),
    ("startend:end_checker", {}, "The end. Bye", False),
    ("startend:quotation", {}, ' "a" b" ', True),
    ("startend:quotation", {}, '"', False),
    ("startend:quotation", {}, "“a”", False),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "change", "response", "expected"), CASES)
def test_strict(kind: str, change: dict[str, Any], response: str, expected: bool) -> None:
    check = build_check(kind, {**EXAMPLES[kind], **change})
    assert evaluate([check], response).strict == (expected,)


def test_every_type_has_cases_of_both_kinds() -> None:
    assert {(kind, outcome) for kind in CHECKS for outcome in (True, False)} == {(case[0], case[3]) for case in CASES}


@pytest.mark.parametrize(
    ("kind", "response", "expected"),
    [
        ("change_case:english_lowercase", f"Sure, here it is:\n{ENGLISH}", True),
        ("change_case:english_lowercase", f"{ENGLISH}\nHope this helps", True),
        ("change_case:english_lowercase", f"Sure\n{ENGLISH}\nBye", True),
        ("change_case:english_lowercase", f"Sure\nHere:\n{ENGLISH}", False),
        ("startend:quotation", '*"a"*', True),
        ("startend:quotation", 'Sure:\n*"a"*', True),
        ("detectable_format:constrained_response", "My *answer* is yes.", True),
        ("punctuation:no_comma", "Sure, here:\nno comma", True),
        ("punctuation:no_comma", "a, b", False),
        # Without stars nothing is highlighted.
        ("detectable_format:number_highlighted_sections", "a\nb", False),
    ],
)
def test_loose_takes_any_of_eight_variants(kind: str, response: str, expected: bool) -> None:
    outcome = evaluate([build_check(kind, EXAMPLES[kind])], response)
    assert (outcome.strict, outcome.loose) == ((False,), (expected,))


def test_variants_rescue_instructions_one_by_one() -> None:
    checks = [build_check("punctuation:no_comma", {}), build_check("startend:end_checker", {"end_phrase": "bye"})]
    # The first needs the first line gone, the second the last.
    outcome = evaluate(checks, "Well, so\nmiddle bye\nlast")
    assert outcome.loose == (True, True)
    assert outcome.strict == (False, False)


@pytest.mark.parametrize("kind", sorted(CHECKS))
@pytest.mark.parametrize("response", ["", " \n\t "])
def test_a_blank_response_follows_nothing(kind: str, response: str) -> None:
    outcome = evaluate([build_check(kind, EXAMPLES[kind])], response)
    assert outcome.strict == outcome.loose == (False,)


def test_a_text_without_a_language_counts_and_is_noted() -> None:
    checks = [build_check("language:response_language", {"language": "hi"}), build_check("punctuation:no_comma", {})]
    assert evaluate(checks, "12345").unsure == (True, False)
    assert evaluate(checks, ENGLISH).unsure == (False, False)


@pytest.mark.parametrize("kind", sorted(CHECKS))
def test_each_missing_argument_raises(kind: str) -> None:
    for name in EXAMPLES[kind]:
        for given in ({**EXAMPLES[kind], name: None}, {k: v for k, v in EXAMPLES[kind].items() if k != name}):
            with pytest.raises(ContractError, match=rf"'{name}' is missing") as caught:
                build_check(kind, given, "file, key 7")
            assert "key 7" in str(caught.value)
            assert kind in str(caught.value)
            assert caught.value.remedy


@pytest.mark.parametrize("kind", sorted(CHECKS))
def test_nulls_are_dropped_and_other_arguments_raise(kind: str) -> None:
    build_check(kind, {**EXAMPLES[kind], "num_nothing": None})
    with pytest.raises(ContractError, match="'num_nothing' is not one"):
        build_check(kind, {**EXAMPLES[kind], "num_nothing": 3})


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (WORDS, {"num_words": -1}),
        (WORDS, {"num_words": True}),
        (WORDS, {"num_words": "4"}),
        (WORDS, {"relation": "at most"}),
        (NTH, {"nth_paragraph": 3}),
        (NTH, {"nth_paragraph": 0}),
        (LETTERS, {"letter": "ab"}),
        (LETTERS, {"letter": " "}),
        ("keywords:existence", {"keywords": []}),
        ("keywords:existence", {"keywords": "cat"}),
        ("keywords:existence", {"keywords": ["("]}),
        ("keywords:frequency", {"keyword": "  "}),
        ("combination:repeat_prompt", {"prompt_to_repeat": ""}),
    ],
)
def test_wrong_arguments_raise(kind: str, change: dict[str, Any]) -> None:
    with pytest.raises(ContractError, match=rf"'{next(iter(change))}' cannot be"):
        build_check(kind, {**EXAMPLES[kind], **change})


def test_an_unknown_instruction_raises() -> None:
    with pytest.raises(ContractError, match="unknown instruction 'keywords:all'") as caught:
        build_check("keywords:all", {}, "file, key 7")
    assert "key 7" in str(caught.value)


@pytest.mark.parametrize("text", ["Colour, color; coool\x1fé e\u0301", "PART 1 part 22 Teil 3", "", "ſtrasse Straße"])
@pytest.mark.parametrize(
    "word", ["colou?r", "co+l", "part|teil", r"\s+", r"\w*", "(p)a*rt", "s{1,2}", "a|b|c|d|e|f|g|h|i|j"]
)
def test_patterns_find_what_the_standard_library_finds(word: str, text: str) -> None:
    found = Pattern(word, r"\b{}", re.IGNORECASE)
    by_hand = re.compile(rf"\b{word}", re.IGNORECASE)
    assert found.occurs(text) == (by_hand.search(text) is not None)
    assert found.count(text) == len(by_hand.findall(text))
    assert found.splits(text) == len(by_hand.split(text)) - 1
