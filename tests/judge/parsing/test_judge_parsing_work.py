"""How much a text may cost its reader: counted in steps and comparisons, never in time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.judge.parsing import brackets, claims, reasoning, scan, source, values
from components.judge.parsing.brackets import read_brackets
from components.judge.parsing.choice import read_choice
from components.judge.parsing.reasoning import drop_reasoning
from components.judge.parsing.reply import read_reply
from components.judge.verdict import UnknownReason, VerdictStatus

VERDICT = '{"c1": "met"}'
SHAPES = {
    "unclosed comments": "[/*" * 8000,
    "one far end of all comments": "[/*" * 8000 + "*/ x y",
    "broken objects": "{a:b c " * 8000,
    "strings that hide beginnings": "[" + '"[1,#",\n' * 4000 + "x y",
    "forty levels around a flat list": "[" * 40 + "1," * 12000 + "x y",
    "forty-one levels": "[" * 41 + "1," * 12000,
    "brackets": "[" * 30000,
    "braces": "{" * 30000,
    "unclosed strings": '["' * 15000,
    "curly quotes": "[“" * 15000 + "” x",
    "escapes": "[“" * 300 + "\\n" * 12000 + "” x",
    "line comments": "[#" * 15000 + "\n x y",
    "keys": '{"a":' * 6000,
    "braces and arrays": "[1,2,{" * 5000,
}


class Spied(source.Source[values.Value]):
    """Counts what was paid for, and keeps what it was allowed."""

    made: list["Spied"]

    def __init__(self, text: str, steps: int | None = None) -> None:
        super().__init__(text, steps)
        self.allowed = self.left
        self.made.append(self)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Spied]:
    Spied.made = []
    monkeypatch.setattr(scan, "Source", {values.Value: Spied})
    return Spied.made


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_no_text_takes_more_steps_than_its_length_allows(text: str, made: list[Spied]) -> None:
    assert read_reply(text, [1])[1].status is VerdictStatus.UNKNOWN
    (spied,) = made
    assert spied.allowed <= 3 * len(text) + 8192
    assert spied.left >= -1 - len(text)  # The last step may be a long one.


@given(st.lists(st.sampled_from(["[", "{", "]", "}", '"', "'", "“", ",", ":", "a", "1", "/*", "*/", "#", "\n", "\\"])))
def test_whole_values_are_read_once(parts: list[str]) -> None:
    text = "".join(parts)
    spied = source.Source[values.Value](text, 1 << 40)
    for place in [found.start() for found in re.finditer(r"[\[{]", text)]:
        known, before = place in spied.known, spied.left
        try:
            value, end = values.read_value(spied, place)
        except (values.OpenError, values.BrokenError):
            assert not known
            continue
        if known:
            assert (value, end) == read_anew(text, place)
            assert before - spied.left <= 1
        assert place in spied.known


@given(
    st.lists(
        st.sampled_from(
            ["[", "{", "{ ", "]", "}", '"', "'", ",", ":", "a", "1", "/*", "*/", "#", "\n", '{"a":', "\u200b"]
        )
    )
)
def test_an_object_whose_key_would_be_one_is_no_beginning(parts: list[str]) -> None:
    text = "".join(parts)
    found = scan.scan(text, 1 << 40)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "_BEGINNING", re.compile(r"[\[{]"))
        assert scan.scan(text, 1 << 40) == found


def read_anew(text: str, place: int) -> tuple[values.Value, int]:
    return values.read_value(source.Source[values.Value](text, 1 << 40), place)


@given(st.lists(st.sampled_from(["[", "]", '{"a":', "}", "1", ",", "x ", '"[', '"'])), st.integers(0, 60))
def test_what_is_known_changes_no_reading(parts: list[str], levels: int) -> None:
    text = "[" * levels + "".join(parts) + "]" * levels
    fresh: list[scan.Whole | scan.Cut | scan.Broken] = scan.scan(text, 1 << 40)
    for piece in fresh:
        if isinstance(piece, scan.Whole):
            assert (piece.value, piece.end) == read_anew(text, piece.start)
        elif isinstance(piece, scan.Broken):
            with pytest.raises(values.BrokenError) as raised:
                read_anew(text, piece.start)
            assert (raised.value.place, raised.value.levels) == (piece.place, piece.levels)
        else:
            with pytest.raises(values.OpenError) as opened:
                read_anew(text, piece.start)
            assert tuple(opened.value.ends) == piece.ends


def test_a_spent_allowance_leaves_no_verdict() -> None:
    text = VERDICT + " " + "[/*x*/1, y z " * 3
    assert isinstance(scan.scan(text)[0], scan.Whole)
    found = scan.scan(text, 12)
    assert isinstance(found[-1], scan.Broken)
    tangled = VERDICT + "\n" + "[" * 40 + "1," * 30000 + "x y"
    assert read_reply(tangled, [1])[1].reason is UnknownReason.UNPARSEABLE
    assert read_choice(tangled.replace("c1", "better").replace("met", "first")) is UnknownReason.UNPARSEABLE


def test_more_beginnings_than_are_looked_into_hide_no_later_verdict() -> None:
    assert read_reply('{"c1": "met"} ' + "[“ " * 70 + '{"c1": "unmet"}', [1])[1].status is not VerdictStatus.MET


def test_a_bracket_inside_a_string_closes_nothing() -> None:
    assert read_reply('{"note": "}", "c1": "unmet" x, {"c1": "met"}', [1])[1].status is VerdictStatus.UNKNOWN
    # One that is broken and closed is over.
    assert read_reply('{"note": "{", "more": y z} {"c1": "met"}', [1])[1].status is VerdictStatus.MET


def test_patterns_that_met_hostile_text_give_nothing_back() -> None:
    """Without possessive repetition each of these is tried again from every one of its characters."""
    for pattern in (reasoning._CHANNEL, brackets._WRITTEN, claims._PAIR, *values._STRINGS.values()):
        assert re.search(r"[*+}]\+", pattern.pattern), pattern.pattern
    assert drop_reasoning("<|channel|>" + "a" * 20000).text == "<|channel|>" + "a" * 20000
    assert drop_reasoning("<|channel|>final" + " x" * 20000 + "<|message|>{}").text == "{}"
    assert read_brackets("[[" + " " * 20000 + "x").reason is UnknownReason.UNPARSEABLE
    assert read_brackets("[[" + " " * 20000 + "1 ]]").status is VerdictStatus.MET


def test_so_many_quotations_that_nobody_can_tell_count_as_quotations(monkeypatch: pytest.MonkeyPatch) -> None:
    reply = 'I say {"c1": "met"} and {"c2": "met"}'
    pieces = scan.scan(reply)
    assert scan.copies(reply, pieces, "nothing of it") == set()
    monkeypatch.setattr(scan, "_MOST_COMPARED", 100)
    assert scan.copies(reply, pieces, "nothing of it") == {piece.start for piece in pieces}
