"""What is read from replies: strictly, and never with another error than the typed one."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.workflow.errors import OperatorError, OperatorReason
from components.workflow.operators.base.programs import check_name, program_in
from components.workflow.operators.base.prompt import Prompt
from components.workflow.operators.base.reading import chosen, letter, lettered, tagged, truth

PLAIN = st.text().filter(lambda text: "<" not in text and text.strip() != "")
PIECES = st.lists(
    st.sampled_from(["<thought>", "</thought>", "<answer>", "</answer>", "< Answer >", "x", " ", "\n", "<", ">"])
).map("".join)


def read(reader: Callable[..., Any], *arguments: Any) -> Any:
    """What a reader gives, or the reason of its typed error; any other error is the test's."""
    try:
        return reader(*arguments)
    except OperatorError as error:
        return error.reason


@given(PLAIN, PLAIN, st.text(st.characters(exclude_characters="<")), st.booleans())
def test_fields_are_read_whatever_stands_around_them(one: str, other: str, around: str, swapped: bool) -> None:
    parts = [f"<thought>{one}</thought>", f"<answer>{other}</answer>"]
    reply = around.join(["", *(reversed(parts) if swapped else parts), ""])
    assert tagged(reply, ("thought", "answer")) == {"thought": one.strip(), "answer": other.strip()}


@given(PIECES)
def test_what_is_read_stands_between_its_tags(reply: str) -> None:
    found = read(tagged, reply, ("answer",), ("thought",))
    if isinstance(found, dict):
        assert found["answer"]
        assert found["answer"] in reply
        assert found["thought"] in reply
    else:
        assert found in (OperatorReason.MISSING_FIELD, OperatorReason.REPEATED_FIELD)


def test_a_field_inside_of_another_is_its_text() -> None:
    reply = "<thought>not <answer>41</answer></thought><answer>42</answer>"
    assert tagged(reply, ("thought", "answer"))["answer"] == "42"


def test_a_mention_of_a_tag_is_no_field() -> None:
    assert tagged("I fill <thought> now. <answer>42</answer>", ("answer",), ("thought",)) == {
        "answer": "42",
        "thought": "",
    }


def test_what_comes_before_and_behind_a_mention_is_read() -> None:
    reply = "<thought>t</thought> <thought> <answer>42</answer> <thought> <thought>"
    assert tagged(reply, ("thought", "answer")) == {"thought": "t", "answer": "42"}


def test_a_field_that_is_said_twice_alike_is_one() -> None:
    assert tagged("<answer>42</answer> so <answer>\n42\n</answer>", ("answer",)) == {"answer": "42"}


@given(st.text(), st.integers(1, 26))
def test_a_choice_is_a_candidate_or_the_typed_error(text: str, candidates: int) -> None:
    found = read(chosen, text, candidates)
    assert found is OperatorReason.WRONG_LETTER or 0 <= found < candidates


@given(st.integers(1, 26), st.data(), st.sampled_from(["{}", "({})", "{}.", " {}:\n", "**{}**", '"{}"', "[{}]"]))
def test_letters_are_read_as_they_are_written(candidates: int, data: st.DataObject, form: str) -> None:
    index = data.draw(st.integers(0, candidates - 1))
    written = form.format(letter(index))
    assert chosen(written, candidates) == index
    assert chosen(written.lower(), candidates) == index


@given(st.text())
def test_only_true_and_false_are_truths(text: str) -> None:
    value = read(truth, text, "review_result")
    if isinstance(value, bool):
        assert ("false", "true")[value] in text.lower()
    else:
        assert value is OperatorReason.BAD_VALUE
        assert text.strip().lower() not in ("true", "false")


@pytest.mark.parametrize(
    ("text", "value"), [("True", True), ("False", False), ("false", False), (" TRUE.\n", True), ("`False`", False)]
)
def test_the_text_false_is_not_true(text: str, value: bool) -> None:
    assert truth(text, "review_result") is value


@given(st.text())
def test_a_program_defines_what_was_asked_for_or_there_is_none(reply: str) -> None:
    found = read(program_in, reply, "solve")
    assert found is OperatorReason.NO_CODE or "solve" in found


@pytest.mark.parametrize(
    "program", ["def solve():", "async def solve(x):", "class solve:", "solve = 1", "x = 1\nsolve=f"]
)
def test_ways_to_define_a_name(program: str) -> None:
    assert program_in(program, "solve") == program


@pytest.mark.parametrize(
    "program", ["def solver(): pass", "resolve = 1", "print(solve())", " solve = 1", "# def solve"]
)
def test_ways_not_to_define_a_name(program: str) -> None:
    with pytest.raises(OperatorError):
        program_in(program, "solve")


def test_a_program_without_end_is_none() -> None:
    with pytest.raises(OperatorError) as caught:
        program_in("def solve():\n" + "    x = 1\n" * 10_000, "solve")
    assert caught.value.reason is OperatorReason.NO_CODE


@pytest.mark.parametrize("name", ["", "a b", "f(", "lambda", "1f", "f\n"])
def test_names_that_no_function_has(name: str) -> None:
    with pytest.raises(OperatorError):
        check_name(name)


@given(st.lists(st.text(), min_size=1, max_size=26))
def test_each_candidate_stands_under_its_letter(candidates: list[str]) -> None:
    text = lettered(candidates)
    for index, candidate in enumerate(candidates):
        assert f"{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[index]}:\n{candidate}" in text


@given(st.text(), st.text())
def test_values_are_put_in_once(one: str, other: str) -> None:
    made = Prompt("[{one}] and [{other}], {not a field} {}")({"one": one, "other": other})
    assert made == f"[{one}] and [{other}], {{not a field}} {{}}"
