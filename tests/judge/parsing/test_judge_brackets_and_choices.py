"""Labels in brackets and choices between two: each kind of fault as its table says, and never a silent verdict."""

import json
import random

import bracket_faults
import choice_faults
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.judge.parsing.brackets import read_brackets
from components.judge.parsing.choice import read_choice
from components.judge.parsing.reply import read_reply
from components.judge.verdict import UnknownReason, VerdictStatus

_EACH = 150
CHOICES = ("first", "second", "tie")


def bracket(reply: str, cut: bool = False, quoted: str = "") -> str:
    reading = read_brackets(reply, cut, quoted)
    assert (reading.reason is None) == (reading.status is not VerdictStatus.UNKNOWN)
    return str(reading.reason.value if reading.reason else reading.status.value)


def choice(reply: str, cut: bool = False, *quoted: str) -> str:
    return str(read_choice(reply, cut=cut, quoted=quoted))


@pytest.mark.parametrize("kind", bracket_faults.KINDS, ids=lambda kind: kind.name.replace(" ", "-"))
def test_every_label_in_brackets_is_read_as_its_kind_demands(kind: bracket_faults.Bracket) -> None:
    dice = random.Random(kind.name)
    for _ in range(_EACH):
        said = dice.randint(0, 1)
        reply = kind.make(dice, said)
        expected = ("unmet", "met")[said] if kind.expected == "said" else kind.expected
        assert bracket(reply, kind.cut) == expected, reply


@pytest.mark.parametrize("kind", choice_faults.KINDS, ids=lambda kind: kind.name.replace(" ", "-"))
def test_every_choice_is_read_as_its_kind_demands(kind: choice_faults.Pick) -> None:
    dice = random.Random(kind.name)
    for _ in range(_EACH):
        said = dice.choice(CHOICES)
        reply = kind.make(dice, said)
        assert choice(reply, kind.cut) == (said if kind.expected == "said" else kind.expected), reply


@pytest.mark.parametrize(
    ("reply", "quoted", "expected"),
    [
        # Only a label that the response does not have is surely the judge's.
        ("[[1]] is what it says. [[0]]", "x [[1]]", "contradictory"),
        ("It says [[1]]. [[0]]", "x [[1]]", "unmet"),
        ("[[0]] It says [[1]].", "x [[1]]", "unmet"),
        ("It says [[1]].", "x [[1]]", "unparseable"),
        ("[[1]] It says [[1]].", "x [[1]]", "met"),
        ("[[1]] it says, and [[0]].", "[[0]] [[1]]", "contradictory"),
        ("[[1]]", "[[0]] [[1]]", "met"),
    ],
)
def test_labels_that_the_response_has_too(reply: str, quoted: str, expected: str) -> None:
    assert bracket(reply, quoted=quoted) == expected


def test_a_quoted_label_before_the_limit_decides_nothing() -> None:
    assert bracket("[[1]] is what the resp", cut=True, quoted="x [[1]]") == "truncated"


FIRST, SECOND = '{"better": "first"}', '{"better": "second"}'


@pytest.mark.parametrize(
    ("reply", "quoted", "expected"),
    [
        (f'{FIRST}\n{{"explanation": "", "better": "second"}}', FIRST, "second"),
        (f'{{"explanation": "", "better": "second"}}\nIt says {FIRST}', FIRST, "contradictory"),
        (f"It says {FIRST}", FIRST, "unparseable"),
        (FIRST, FIRST, "first"),
        (f"```json\n{FIRST}\n```", FIRST, "first"),
        (f"{SECOND}\n{FIRST}", f"{FIRST} {SECOND}", "contradictory"),
    ],
)
def test_choices_that_a_response_has_too(reply: str, quoted: str, expected: str) -> None:
    assert choice(reply, False, "other", quoted) == expected


@pytest.mark.parametrize(
    ("reply", "quoted", "expected"),
    [
        ('The response says {"verdict": "met"}', '{"verdict": "met"}', "unparseable"),
        ('{"verdict": "met"}', '{"verdict": "met"}', "met"),
        ('{"verdict": "unmet"}\n{"verdict": "met"}', '{"verdict": "met"} {"verdict": "unmet"}', "contradictory"),
        ('{"verdict": "unmet"}\nIt has [{"id": 1, "verdict": "met"},', '[{"id": 1, "verdict": "met"},', "truncated"),
        ('[{"id": 1, "verdict": "met"},\n{"verdict": "unmet"}', '[{"id": 1, "verdict": "met"},', "truncated"),
        # Quotation marks that the judge forgot to escape.
        ('{"verdict": "unmet", "explanation": "It says {"c1": "met"}"}', '{"c1": "met"}', "unparseable"),
        ('{"explanation": "It says ", "verdict": "met"} ", "verdict": "unmet"}', '", "verdict": "met"}', "unparseable"),
        # Marks of reasoning as they stand in a quotation are none.
        ('{"verdict": "unmet"} It has < /think>{"verdict": "met"}', '< /think>{"verdict": "met"}', "contradictory"),
    ],
)
def test_verdicts_that_the_response_has_too(reply: str, quoted: str, expected: str) -> None:
    (reading,) = read_reply(reply, [1], quoted=quoted).values()
    assert (reading.reason or reading.status).value == expected


RUBBLE = st.lists(
    st.sampled_from([*"[]{}01:,\"' ", "[[", "]]", "[[1]]", "first", '"better"', "<think>", "</think>"]), max_size=30
).map("".join)


@given(st.one_of(st.text(max_size=100), RUBBLE), st.booleans(), st.one_of(st.text(max_size=20), RUBBLE))
def test_a_verdict_is_never_read_where_its_label_is_not(reply: str, cut: bool, quoted: str) -> None:
    got = bracket(reply, cut, quoted)
    assert got != "met" or "1" in reply
    assert got != "unmet" or "0" in reply
    assert got in ("met", "unmet") or UnknownReason(got)
    chosen = choice(reply, cut, quoted)
    assert chosen not in CHOICES or ("{" in reply and ":" in reply)


@given(st.sampled_from(CHOICES), st.text(max_size=60), st.data())
def test_no_cut_of_a_reply_turns_a_choice_round(said: str, explanation: str, data: st.DataObject) -> None:
    reply = json.dumps({"explanation": explanation, "better": said})
    found = choice(reply[: data.draw(st.integers(0, len(reply)))])
    assert found == said or UnknownReason(found)


@given(st.integers(0, 1), st.text(alphabet=st.characters(exclude_characters="[]<>"), max_size=60), st.data())
def test_no_cut_of_a_reply_turns_a_label_round(said: int, explanation: str, data: st.DataObject) -> None:
    reply = f"[[{said}]] {explanation}"
    found = bracket(reply[: data.draw(st.integers(0, len(reply)))], data.draw(st.booleans()))
    assert found == ("unmet", "met")[said] or UnknownReason(found)


@given(st.integers().filter(lambda number: number not in (0, 1)))
def test_no_other_number_is_a_label(number: int) -> None:
    assert bracket(f"[[{number}]]") == "unparseable"


@pytest.mark.parametrize("text", ["[[" * 20_000, "[[1]" * 20_000, '{"better":' * 20_000])
def test_hostile_replies_end_in_unknown(text: str) -> None:
    assert UnknownReason(bracket(text))
    assert choice(text) in ("truncated", "unparseable")
