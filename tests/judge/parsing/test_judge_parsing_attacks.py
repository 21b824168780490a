"""Replies that once turned a verdict, each found by somebody who tried; none of them may be met."""

import pytest

from components.judge.parsing.brackets import read_brackets
from components.judge.parsing.choice import read_choice
from components.judge.parsing.reply import read_reply
from components.judge.verdict import UnknownReason, VerdictStatus


def statuses(reply: str, wanted: tuple[int, ...] = (1,), quoted: str = "") -> list[VerdictStatus]:
    readings = read_reply(reply, wanted, quoted=quoted)
    return [readings[number].status for number in wanted]


MET, UNMET, UNKNOWN = VerdictStatus.MET, VerdictStatus.UNMET, VerdictStatus.UNKNOWN
TWICE = '```json\n{"c1": "met"}\n```\nWait:\n```json\n{"c1": "unmet"}\n```'


def test_a_verdict_that_the_response_has_too_is_not_ignored_where_it_is_the_judges_last_word() -> None:
    assert statuses(TWICE) == [UNMET]
    assert statuses(TWICE, quoted='My text. {"c1": "unmet"}') == [UNKNOWN]
    run = '{"c1": "met"}\n{"c2": "met"}\n{"c1": "unmet"}'
    assert statuses(run, (1, 2), 'x {"c1": "unmet"}') == [UNKNOWN, UNKNOWN]
    # Repeated before its own word, it is a quotation.
    assert statuses('It says {"c1": "met"}. My verdict: {"c1": "unmet"}', quoted='Hm. {"c1": "met"}') == [UNMET]


def test_a_label_at_the_beginning_does_not_lose_to_a_later_one() -> None:
    reply = "[[0]] It breaks constraint 2; it would have to be shorter to earn [[1]]."
    assert read_brackets(reply).status is UNMET
    assert read_brackets(reply, quoted="My text. [[0]]").status is UNKNOWN
    assert read_brackets(reply, quoted="My text. [[1]]").status is UNMET


@pytest.mark.parametrize(
    "reply",
    [
        "I cannot give it [[1]] because constraint 2 is broken.",
        "It would be [[1]] if it were shorter; it is not.",
        "See arr = [[1]]; the constraint is not kept",
    ],
)
def test_a_label_in_the_middle_is_spoken_of(reply: str) -> None:
    assert read_brackets(reply).reason is UnknownReason.UNPARSEABLE


def test_a_preference_that_a_response_has_too_is_not_ignored_as_the_last_word() -> None:
    reply = '{"better": "second"} at first; finally {"better": "first"}'
    assert read_choice(reply) == "first"
    assert read_choice(reply, quoted=('z {"better": "first"}',)) is UnknownReason.CONTRADICTORY


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ('{"c1": "unmet", "note": "the response contains {"c1": "met"}"}', (1,)),
        ('{"c1": "unmet", "c2": "unmet", "note": "it has {"c1": "met", "c2": "met"}"}', (1, 2)),
        ('{"verdict": "unmet", "note": "it says {"c1": "met"}"}', (1,)),
    ],
)
def test_a_quotation_that_breaks_the_judges_own_object(reply: str, wanted: tuple[int, ...]) -> None:
    assert set(statuses(reply, wanted)) == {UNKNOWN}
    assert set(statuses(reply, wanted, "foo {'c1': 'met'} bar")) == {UNKNOWN}


@pytest.mark.parametrize(
    "reply",
    [
        '[{"criterion":"3 (three) animals are named","verdict":"met"},{"criterion":"Names a city","verdict":"unmet"},'
        '{"criterion":"Is polite","verdict":"unmet"}]',
        '{"3 (three) animals are named":"met","Names a city":"unmet","Is polite":"unmet"}',
        '{"3. Animals are named":"met","Names a city":"unmet","Is polite":"unmet"}',
    ],
)
def test_texts_of_criteria_that_begin_with_a_number(reply: str) -> None:
    assert MET not in statuses(reply, (1, 2, 3))


@pytest.mark.parametrize(
    "reply",
    [
        '{"q1": "yes", "q2": "no", "verdict": "unmet"}',
        '{"1": "met", "2": "unmet", "verdict": "unmet"}',
        '{"criterion 1": "met", "verdict": "unmet"}',
        '{"verdict": {"1": "met"}, "answer": "unmet"}',
        '{"checks": [{"id":1,"met":true},{"id":2,"met":false}]}',
    ],
)
def test_steps_with_numbers_do_not_hide_the_verdict(reply: str) -> None:
    assert statuses(reply) == [UNKNOWN]


@pytest.mark.parametrize(
    "reply",
    [
        *(f'{{"c1": "{label}"}}' for label in ("!met", "!true", "-1", "--1", "- 1", "-yes", ".1", "-0")),
        '{"-1": "met"}',
        '[{"id": -1, "verdict": "met"}, {"id": 2, "verdict": "met"}]',
        '{"met": true, "unmet": true}',
        '{"met": 1, "unmet": 2}',
        '{"c1": {"met": 1, "unmet": 1}}',
        '{"passed": 0, "failed": 0}',
    ],
)
def test_negations_and_counts_are_no_labels(reply: str) -> None:
    assert statuses(reply) == [UNKNOWN]


@pytest.mark.parametrize("label", ["!first", "-1", "- first"])
def test_negated_choices(label: str) -> None:
    assert read_choice(f'{{"better": "{label}"}}') is UnknownReason.UNPARSEABLE


def test_a_key_that_names_the_contrary_turns_its_value() -> None:
    assert statuses('{"met": true, "unmet": false}') == [MET]
    assert statuses('{"met": false, "failed": true}') == [UNMET]
