"""Where an answer stands in a response."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.tasks.answers import Place, QaAnswer, bare, math_answer, qa_answer, without_reasoning
from components.tasks.boxes import last_boxed
from components.tasks.code_text import program_text
from components.tasks.sets import DATASETS

SMALL = st.text(alphabet="ab1+ ^_", min_size=1).filter(str.strip)


def slow_last_boxed(text):
    """Box by box from the end, each brace counted anew: right, and quadratic."""
    for begin in range(len(text), -1, -1):
        for word in ("\\boxed", "\\fbox"):
            if not text.startswith(word + "{", begin):
                continue
            depth, index = 0, begin + len(word)
            while index < len(text):
                if text[index] == "\\":
                    index += 2
                    continue
                depth += {"{": 1, "}": -1}.get(text[index], 0)
                if depth == 0:
                    return text[begin + len(word) + 1 : index]
                index += 1
    return None


@given(pieces=st.lists(st.sampled_from(["\\boxed{", "\\fbox{", "{", "}", "\\{", "\\}", "a", "\\\\", " "]), max_size=25))
def test_the_last_box_is_that_of_a_slow_search(pieces):
    text = "".join(pieces)
    assert last_boxed(text) == slow_last_boxed(text)


@pytest.mark.parametrize("text", ["\\boxed{" * 9000, "{" * 65536, "\\boxed" * 9000 + "{" * 9000, "\\boxed " * 9000])
def test_boxes_that_are_never_closed_are_none(text):
    assert last_boxed(text) is None


@pytest.mark.parametrize(
    ("response", "place", "answer"),
    [
        (r"So \boxed{\frac{1}{2}} it is.", Place.BOX, r"\frac{1}{2}"),
        (r"\boxed{1} or rather \boxed{2}", Place.BOX, "2"),
        (r"$\fbox{7}$", Place.BOX, "7"),
        (r"\boxed 5.", Place.BOX, "5"),
        ("41 then\n#### 1,024", Place.MARKER, "1,024"),
        ("#### 42 apples", Place.MARKER, "42"),
        ("#### $18", Place.MARKER, "18"),
        (r"#### 3, so \boxed{4}", Place.BOX, "4"),
        ("\\boxed{3}\n#### 4", Place.MARKER, "4"),
        ("The answer is 42.", Place.PHRASE, "42"),
        ("The final answer is: $\\frac{3}{4}$.", Place.PHRASE, r"\frac{3}{4}"),
        ("**Answer:** 12 dollars per week", Place.PHRASE, "12"),
        ("First the answer is 3. No, the answer is 4.", Place.PHRASE, "4"),
        ("(x+1)^2", Place.WHOLE, "(x+1)^2"),
        ("$5$", Place.WHOLE, "5"),
        ("We have 3 and therefore 12.5 in the end", Place.NUMBER, "12.5"),
        ("Each costs 1,250 dollars", Place.NUMBER, "1,250"),
        ("They lose, so the result is -3.", Place.NUMBER, "-3"),
        ("<think>\\boxed{1}</think> The answer is 2", Place.PHRASE, "2"),
        ("none of them", Place.NONE, None),
        ("", Place.NONE, None),
        (r"\boxed{}", Place.NONE, None),
    ],
)
def test_the_answer_of_a_mathematical_response(response, place, answer):
    found = math_answer(response, last_number=True)
    assert found.place is place
    assert answer == (None if found.text is None else found.text.strip("$ "))


def test_the_last_number_is_looked_for_only_where_it_is_usual():
    found = math_answer("We have 3 and therefore 12.5 in the end")
    assert (found.place, found.text) == (Place.NONE, None)
    assert "12.5" in found.context


@pytest.mark.parametrize("text", ["1e" * 30_000, "1/" * 30_000, "1.1." * 9000, "a1" * 9000])
def test_a_digit_in_garbage_is_no_last_number(text):
    assert math_answer("x\n" + text, last_number=True).text is None


@given(before=st.text(), content=SMALL, after=st.text(alphabet="abc .$\n"))
def test_a_box_is_the_answer_whatever_stands_around_it(before, content, after):
    before = before.replace("####", "").replace("</think>", "")
    found = math_answer(f"{before} \\boxed{{{content}}}{after}", last_number=True)
    assert (found.place, found.text) == (Place.BOX, content.strip())


@given(text=st.text() | st.text(alphabet="\\boxed{}#$answeri 0123456789/.,\n"))
def test_no_text_breaks_the_search(text):
    found = math_answer(text, last_number=True)
    assert (found.text is None) is (found.place is Place.NONE)
    assert qa_answer(text) == qa_answer(text)
    bare(text)


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("Paris", "Paris"),
        ("\n Paris \nbecause it is the capital", "Paris"),
        ("Answer: Paris", "Paris"),
        ("It is the capital.\n**Answer:** Paris", "Paris"),
        ("Answer: Rome\nFinal answer: Paris", "Paris"),
        ('"Paris"', "Paris"),
        ("<think>Rome?</think>\nParis", "Paris"),
        ("no answer", ""),
        ("No answer.", ""),
        ("Unanswerable", ""),
        ("Answer: The question cannot be answered.", ""),
        ("no", "no"),
        ("None", "None"),
        ("No answer was given by the king", "No answer was given by the king"),
        ("", ""),
    ],
)
def test_the_answer_to_a_question(response, answer):
    assert qa_answer(response) == QaAnswer(answer)


@pytest.mark.parametrize(
    "text",
    [
        "Supporting facts:\n[Paris, Texas, 3]\n[Film (1968), 0]",
        "supporting facts:\n- Paris, Texas, 3\n- Film (1968), 0",
        '**Supporting facts:** [["Paris, Texas", 3], ["Film (1968)", 0]]',
        "Supporting facts:\n1. [Paris, Texas | 3]\n2. (Film (1968), 0)",
    ],
)
def test_supporting_facts(text):
    assert qa_answer("yes\n" + text) == QaAnswer("yes", (("Paris, Texas", 3), ("Film (1968)", 0)))


def test_facts_that_name_nothing_are_none_right():
    assert qa_answer("yes\nSupporting facts:\nI do not know") == QaAnswer("yes", ())


def test_reasoning_is_left_out_when_it_ends():
    assert without_reasoning("<think>a</think>b") == "b"
    assert without_reasoning("<think>a") == "<think>a"


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("The answer is $18 per day, which is $9 more than before.", "$18"),
        ("The answer is $x + 1$ for all x.", "x + 1"),
        ("The answer is $3 + 4$, as $7$ shows.", "3 + 4"),
    ],
)
def test_sums_of_money_are_no_formula(response, answer):
    assert math_answer(response, last_number=True).text == answer


@pytest.mark.parametrize(
    ("response", "place"),
    [
        ("So it is\n#### 18", "####"),
        ("So it is \\boxed{18}", "in a box"),
        ("We see: the answer is 18", '"answer is"'),
        ("she has 18 left today", "the last one"),
    ],
)
def test_the_metric_of_gsm8k_names_the_places_that_count(response, place):
    assert math_answer(response, last_number=True).text == "18"
    assert place in DATASETS["gsm8k"].metric


@pytest.mark.parametrize("letters", ["```" + "a" * 1_000_000, "~~~" + " " * 1_000_000, "```" + "py-" * 300_000])
def test_a_fence_without_a_line_below_is_no_fence(letters: str) -> None:
    """Whoever tries each way of dividing a million letters is at it for hours, and all else waits."""
    assert program_text(letters, "f") == letters
