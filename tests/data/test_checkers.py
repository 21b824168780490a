"""The rubric that is derived from VerIF's checkers; expected values are written by hand after FACTS' description."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import ContractError
from components.data.checkers import (
    Checker,
    _opens,
    asked_of_model,
    defines_check,
    derive_criteria,
    parse_checker,
    split_list,
)

ASKS = "from llm_call import llm_score\ndef check_following(instruction, response):\n    return llm_score({})\n"


def soft(text, function=""):
    return parse_checker(f"[llm] {text}", function, where="")


def test_a_checker_is_taken_apart():
    assert parse_checker("[llm]  Tone:  Be kind. ", "f", where="") == Checker(True, "Tone:  Be kind.", "Tone", "f")
    assert parse_checker("[rule] Digit: At least 3: words", "", where="") == Checker(
        False, "Digit: At least 3: words", "Digit", ""
    )
    assert parse_checker("[llm]Be kind.", "", where="").category == ""


@pytest.mark.parametrize("text", ["Tone: be kind", "[LLM] x", "[code] x", "[llm]", "[rule]  ", "", "llm x", "[llm"])
def test_another_prefix_is_refused(text):
    with pytest.raises(ContractError, match="is not \\[llm\\] or \\[rule\\]") as caught:
        parse_checker(text, "", where="row 3")
    assert (caught.value.where, bool(caught.value.remedy)) == ("row 3", True)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("1. Name the river.\n2. Name the town.", ["Name the river.", "Name the town."]),
        ("Content: 1) Name the river. 2) Name the town.", ["Name the river.", "Name the town."]),
        ("Do these:\n 1. One.\n 2. Two.\n 3. Three.", ["One.", "Two.", "Three."]),
        ("Keep it calm.\n1. One.\n2. Two.", ["Keep it calm.", "One.", "Two."]),
        # Numbers in running text make no list.
        ("List them with a number (1., 2., 3., etc.) each.", ["List them with a number (1., 2., 3., etc.) each."]),
        ("Finish step 1. then step 2. and stop", ["Finish step 1. then step 2. and stop"]),
        ("1. Only one item", ["1. Only one item"]),
        ("2. Starts late\n3. Goes on", ["2. Starts late\n3. Goes on"]),
        ("Use 1.5 to 2.5 cups", ["Use 1.5 to 2.5 cups"]),
        ("  ", []),
    ],
)
def test_numbered_lists_are_split(text, items):
    assert split_list(text) == items


def test_fragments_and_repetitions_are_left_out():
    checkers = [
        soft("Tone: Keep it friendly."),
        soft("Tone:  Keep it friendly."),
        soft("Too short: no"),
        soft("Nospaceorcolonatallhere"),
        soft("Semicolon;inside;counts"),
        soft("Exactly twenty chars"),
        soft("Only nineteen chars"),
    ]
    assert derive_criteria(checkers) == ("Tone: Keep it friendly.", "Semicolon;inside;counts", "Exactly twenty chars")


def test_at_most_thirty_two_are_kept():
    assert len(derive_criteria([soft(f"Content: Name thing number {n}.") for n in range(40)])) == 32


def test_the_functions_say_what_the_checkers_leave_out():
    function = ASKS.format("instruction, response, 'Tone: Keep it friendly.'")
    assert derive_criteria([soft("Tone", function)]) == ("Tone: Keep it friendly.",)
    # Where one checker gives a criterion, no function is looked at.
    assert derive_criteria([soft("Tone", function), soft("Content: Name the river.")]) == ("Content: Name the river.",)
    assert derive_criteria([]) == ()
    assert derive_criteria([soft("Tone", "def check_following(: broken")]) == ()


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ("instruction, response, 'Be kind.'", ["Be kind."]),
        ("instruction, response, constraint='Be kind.'", ["Be kind."]),
        ("instruction, response, ' '", []),
        ("'a', 'b'", []),
        ("instruction, response, f'{response}'", []),
        ("instruction, response, 'Be ' + 'kind.'", []),
        ("instruction, response, b'Be kind.'", []),
    ],
)
def test_constraints_are_read_by_syntax_and_never_run(arguments, found):
    assert asked_of_model("raise SystemExit(3)\n" + ASKS.format(arguments)) == found


def test_source_that_is_no_python_says_nothing():
    for source in ("def f(:", "\0", "(" * 10_000, "x" * 3 + "\ud800"):
        assert asked_of_model(source) == []
        assert not defines_check(source)
    assert defines_check("def check_following(instruction, response):\n    return True")
    assert not defines_check("def check(instruction, response):\n    return True")


@given(text=st.text(st.sampled_from("ab 123.)\n:;"), max_size=80))
def test_splitting_loses_no_word(text):
    def letters(value):
        return "".join(char for char in value if char in "ab")

    items = split_list(text)
    # A heading that ends with a colon only announces the list; everything behind it is kept in order.
    assert letters(text).endswith(letters("".join(items)))
    assert len(items) > 1 or letters("".join(items)) == letters(text)
    assert all(item == item.strip() and item for item in items)


@given(texts=st.lists(st.text(st.sampled_from("abc 12.\n:;"), max_size=60), max_size=50))
def test_what_is_derived_keeps_the_rules(texts):
    checkers = [Checker(True, text, "", "") for text in texts]
    found = derive_criteria(checkers)
    assert len(found) <= 32
    assert len({" ".join(text.split()) for text in found}) == len(found)
    assert all(len(text) >= 20 and any(char in text for char in " :;") for text in found)
    assert derive_criteria(checkers) == found


@pytest.mark.parametrize("function", ["#" * 300_000, "def check_following(i, r):\n    return " + "0," * 150_000])
def test_a_function_that_is_too_long_is_refused_before_it_is_parsed(function, monkeypatch):
    def parsed(source):
        raise AssertionError("parsed")

    monkeypatch.setattr(ast, "parse", parsed)
    with pytest.raises(ContractError, match=r"has 3000?[0-9]+ characters, more than 262144") as caught:
        parse_checker("[rule] Digit: Ten words.", function, where="x.jsonl, line 7")
    assert caught.value.where == "x.jsonl, line 7"
    assert parse_checker("[rule] Digit: Ten words.", function[: 256 * 1024], where="").function


class Counted(str):
    """A text that counts the characters of it that are copied."""

    copied = 0

    def __getitem__(self, place):
        found = super().__getitem__(place)
        Counted.copied += len(found)
        return found

    def strip(self, *given):
        return self


def test_a_long_text_is_looked_through_once():
    text = Counted("a 2) b " * 20_000)
    Counted.copied = 0
    assert split_list(text) == [text]
    # Two characters for each number, not the whole text before it.
    assert Counted.copied < 10 * len(text)


@given(st.text(st.sampled_from("12). :\n\r\ta\u2028\xa0"), max_size=40))
def test_a_list_begins_where_a_line_or_what_follows_a_colon_does(text):
    def opens(before):
        line = before.rpartition("\n")[2].rstrip()
        return not line or line.endswith(":")

    for place in range(len(text) + 1):
        assert _opens(text, place) == opens(text[:place])
