"""The rubric in one call: what is asked, what is asked again, and what stays."""

import json

import pytest
from protocol_asks import Dropped, Script, failed, listed, numbers, rubric, said, sample, user

from components.judge.calls import Answer, Call
from components.judge.failures import Failure
from components.judge.verdict import UnknownReason, VerdictStatus

MET, UNMET, UNKNOWN = VerdictStatus.MET, VerdictStatus.UNMET, VerdictStatus.UNKNOWN
EIGHT = tuple(f"criterion text {number}" for number in range(1, 9))


def verdicts(call: Call, *left_out: int) -> str:
    """Odd criteria are met, even ones are not."""
    return json.dumps({f"c{n}": "met" if n % 2 else "unmet" for n in numbers(call) if n not in left_out})


async def test_a_whole_reply_is_one_call() -> None:
    script = Script(verdicts)
    opinions = await rubric().opinions(sample(*EIGHT), script)
    assert script.asked == [("ask", [1, 2, 3, 4, 5, 6, 7, 8])]
    assert [each.status for each in opinions] == [MET, UNMET] * 4
    assert {each.attempts for each in opinions} == {1}
    assert script.calls[0].schema is None
    assert listed(script.calls[0])[3] == "criterion text 3"


async def test_all_then_halves_then_one_by_one_under_their_own_numbers() -> None:
    script = Script(lambda call: verdicts(call) if len(numbers(call)) == 1 else "no JSON")
    opinions = await rubric().opinions(sample(*EIGHT), script)
    assert script.asked == [
        ("ask", [1, 2, 3, 4, 5, 6, 7, 8]),
        ("again", [1, 2, 3, 4]),
        ("again", [5, 6, 7, 8]),
        *(("single", [number]) for number in range(1, 9)),
    ]
    assert [each.status for each in opinions] == [MET, UNMET] * 4
    assert {each.attempts for each in opinions} == {3}
    for call in script.calls[1:]:
        names = [f"c{number}" for number in numbers(call)]
        assert call.schema is not None
        assert call.schema["required"] == names
        assert list(call.schema["properties"]) == names
        assert "exactly one of the words" in user(call)
        assert "exactly one of the words" not in user(script.calls[0])
    for number, call in enumerate(script.calls[3:], start=1):
        assert listed(call) == {number: f"criterion text {number}"}


async def test_verdicts_that_came_stay_and_only_the_rest_is_asked() -> None:
    def reply(call: Call) -> str:
        return {"ask": verdicts(call, 2, 5, 7), "again": verdicts(call, 5), "single": verdicts(call)}[call.purpose]

    script = Script(reply)
    opinions = await rubric().opinions(sample(*EIGHT), script)
    # Three are open: a batch of two and one alone. What was asked alone is not asked alone a second time.
    assert script.asked == [("ask", [1, 2, 3, 4, 5, 6, 7, 8]), ("again", [2, 5]), ("single", [7]), ("single", [5])]
    assert [each.status for each in opinions] == [MET, UNMET] * 4
    assert [each.attempts for each in opinions] == [1, 2, 1, 1, 3, 1, 2, 1]


async def test_a_contradiction_is_asked_again_and_the_others_are_kept() -> None:
    script = Script(['{"c1": "met", "c2": "met", "C2": "unmet"}', '{"c2": "unmet"}'])
    opinions = await rubric().opinions(sample("a", "b"), script)
    assert script.asked == [("ask", [1, 2]), ("single", [2])]
    assert [each.status for each in opinions] == [MET, UNMET]


@pytest.mark.parametrize(("count", "calls"), [(1, 2), (2, 3), (3, 1 + 2 + 2), (4, 1 + 2 + 4), (5, 1 + 2 + 5)])
async def test_no_question_is_put_twice(count: int, calls: int) -> None:
    script = Script(lambda _: "I will not use JSON")
    opinions = await rubric().opinions(sample(*EIGHT[:count]), script)
    assert len(script.calls) == calls
    assert len({call.messages for call in script.calls}) == calls
    assert {each.reason for each in opinions} == {UnknownReason.UNPARSEABLE}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", UnknownReason.EMPTY_REPLY),
        ("{}", UnknownReason.UNPARSEABLE),
        (said('{"c1": "m', finish="length"), UnknownReason.TRUNCATED),
        ('{"c1": "met", "c1": "unmet"}', UnknownReason.CONTRADICTORY),
        (failed(UnknownReason.EMPTY_REPLY), UnknownReason.EMPTY_REPLY),
        (failed(UnknownReason.NO_FINISH), UnknownReason.NO_FINISH),
        (failed(UnknownReason.TRUNCATED), UnknownReason.TRUNCATED),
    ],
)
async def test_a_reply_that_cannot_be_read_is_asked_for_again(reply: str | Answer | Failure, reason: str) -> None:
    script = Script(lambda _: reply)
    (opinion,) = await rubric().opinions(sample("a"), script)
    assert [purpose for purpose, _ in script.asked] == ["ask", "single"]
    assert (opinion.status, opinion.reason, opinion.attempts) == (UNKNOWN, reason, 2)
    assert opinion.probability is None


FINAL = [
    *(failed(UnknownReason(reason)) for reason in ("timeout", "judge_down", "rejected", "budget", "refused")),
    *(failed(UnknownReason(reason)) for reason in ("stream_error", "stream_cut")),
    '{"c1": "cannot tell", "c2": "unclear"}',
    "I'm sorry, but I can't help with that.",
]


@pytest.mark.parametrize("reply", FINAL, ids=str)
async def test_what_asking_again_cannot_mend_is_not_asked_again(reply: str | Failure) -> None:
    script = Script(lambda _: reply)
    opinions = await rubric().opinions(sample("a", "b"), script)
    assert script.asked == [("ask", [1, 2])]
    assert {each.status for each in opinions} == {UNKNOWN}


async def test_a_list_that_is_too_long_is_shortened_and_a_single_criterion_is_not() -> None:
    script = Script(lambda call: failed(UnknownReason.TOO_LONG, 0) if len(numbers(call)) > 1 else verdicts(call))
    opinions = await rubric().opinions(sample("a", "b"), script)
    assert script.asked == [("ask", [1, 2]), ("single", [1]), ("single", [2])]
    assert [(each.status, each.attempts) for each in opinions] == [(MET, 1), (UNMET, 1)]
    alone = Script(lambda _: failed(UnknownReason.TOO_LONG, 0))
    (opinion,) = await rubric().opinions(sample("a"), alone)
    assert (len(alone.calls), opinion.reason) == (1, UnknownReason.TOO_LONG)


async def test_a_failure_later_does_not_touch_verdicts_from_before() -> None:
    script = Script([said('{"c1": "unmet"}', raw_id="first"), failed(UnknownReason.JUDGE_DOWN, 4)])
    opinions = await rubric().opinions(sample("a", "b"), script)
    assert [(each.status, each.reason) for each in opinions] == [(UNMET, None), (UNKNOWN, UnknownReason.JUDGE_DOWN)]
    assert opinions[1].attempts == 5
    assert opinions[1].raw_id == "first"
    assert opinions[1].trouble is not None


@pytest.mark.parametrize(
    ("reply", "times"),
    [
        ("no JSON at all", 1),
        ('{"c1": "met", "c2": "unmet"}', 0),
        ('{"c1": "met"}', 0),
        ('{"c1": "unclear", "c2": "unclear"}', 0),
        ("I'm sorry, but I can't help with that.", 1),
        (said('{"c1": ', finish="length"), 1),
    ],
)
async def test_a_reply_that_says_nothing_is_dropped(reply: str | Answer, times: int) -> None:
    dropped = Dropped()
    first = said(reply, drop=dropped) if isinstance(reply, str) else said(reply.text, finish="length", drop=dropped)
    answers = iter([first])
    script = Script(lambda call: next(answers, said(verdicts(call))))
    await rubric().opinions(sample("a", "b"), script)
    assert dropped.times == times


async def test_another_number_than_asked_for_is_no_verdict() -> None:
    script = Script(lambda call: verdicts(call, 2) if call.purpose == "ask" else '{"c1": "met"}')
    opinions = await rubric().opinions(sample("a", "b"), script)
    assert script.asked[-1] == ("single", [2])
    assert (opinions[1].status, opinions[1].reason) == (UNKNOWN, UnknownReason.UNPARSEABLE)
