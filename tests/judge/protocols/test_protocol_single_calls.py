"""Protocols of one call a criterion, and VerIF's one call over all constraints."""

import itertools

import pytest
from protocol_asks import ALL, Dropped, Script, failed, of_form, quotations, said, sample, user, verif

from components.judge.calls import Answer, Call
from components.judge.failures import Failure
from components.judge.protocols.base import SampleError
from components.judge.protocols.per_criterion import PER_CRITERION, SEMANTIC_EQUALITY, VERIF_PER_CONSTRAINT
from components.judge.verdict import Criterion, Sample, UnknownReason, VerdictStatus

MET, UNMET, UNKNOWN = VerdictStatus.MET, VerdictStatus.UNMET, VerdictStatus.UNKNOWN
LONG = "The kitchen is quiet and the cat sleeps. " * 20


def shared(calls: list[Call]) -> str:
    assert len({call.messages[0].content for call in calls}) == 1
    texts = [user(call) for call in calls]
    pairs = itertools.takewhile(lambda chars: len(set(chars)) == 1, zip(*texts, strict=False))
    return "".join(chars[0] for chars in pairs)


@pytest.mark.parametrize("name", ["rubric_per_criterion", "rubric_token", "verif_per_constraint"])
async def test_prompts_of_one_response_differ_in_the_criterion_alone(name: str) -> None:
    script = Script(lambda _: failed(UnknownReason.TIMEOUT))
    await ALL[name]().opinions(sample("alpha is named", "beta is named", response=LONG), script)
    first, second = script.calls
    head = shared(script.calls)
    assert LONG.strip() in head
    assert user(first)[len(head) :].startswith("alpha is named\n")
    assert user(second)[len(head) :].startswith("beta is named\n")


@pytest.mark.parametrize("name", sorted(ALL.keys() - {"pairwise"}))
async def test_prompts_of_one_question_are_alike_up_to_the_response(name: str) -> None:
    calls = []
    for response in ("One.", "Two."):
        script = Script(lambda _: failed(UnknownReason.TIMEOUT))
        await ALL[name]().opinions(sample(response=response, question=LONG), script)
        calls.append(script.calls[0])
    assert "\n=== RESPONSE " in shared(calls)
    assert LONG.strip() in shared(calls)


@pytest.mark.parametrize("name", sorted(ALL))
async def test_equal_samples_make_equal_prompts(name: str) -> None:
    scripts = [Script(lambda _: failed(UnknownReason.TIMEOUT)) for _ in range(2)]
    for script in scripts:
        await ALL[name]().opinions(sample("a", "b"), script)
    assert [call.messages for call in scripts[0].calls] == [call.messages for call in scripts[1].calls]


async def test_a_criterion_gets_its_verdict_with_the_judges_words() -> None:
    script = Script(['{"explanation": "A cat.", "verdict": "met"}', '{"explanation": "None.", "verdict": "unmet"}'])
    opinions = await of_form(PER_CRITERION).opinions(sample("animal", "food"), script)
    assert [(each.status, each.explanation) for each in opinions] == [(MET, "A cat."), (UNMET, "None.")]
    assert {each.attempts for each in opinions} == {1}
    assert [call.schema for call in script.calls] == [None, None]


async def test_a_criterion_that_cannot_be_read_is_asked_once_more_with_the_schema() -> None:
    script = Script(["prose", '{"explanation": "", "verdict": "met"}'])
    (opinion,) = await of_form(PER_CRITERION).opinions(sample(), script)
    assert (opinion.status, opinion.attempts) == (MET, 2)
    assert [call.purpose for call in script.calls] == ["ask", "single"]
    assert script.calls[1].schema is not None
    assert script.calls[1].schema["required"] == ["explanation", "verdict"]
    assert user(script.calls[1]).startswith(user(script.calls[0]))


@pytest.mark.parametrize("name", ["rubric_per_criterion", "verif", "verif_per_constraint", "semantic_equality"])
@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        ("nothing to read here", 2),
        ("", 2),
        (failed(UnknownReason.TRUNCATED), 2),
        (failed(UnknownReason.TIMEOUT), 1),
        (failed(UnknownReason.JUDGE_DOWN), 1),
        (failed(UnknownReason.REJECTED), 1),
        (failed(UnknownReason.BUDGET, 0), 1),
        (failed(UnknownReason.REFUSED), 1),
        (failed(UnknownReason.TOO_LONG, 0), 1),
        ("I cannot assist with that.", 1),
    ],
)
async def test_only_what_cannot_be_read_is_asked_for_again(name: str, reply: str | Failure, calls: int) -> None:
    script = Script(lambda _: reply)
    (opinion,) = await ALL[name]().opinions(sample(), script)
    assert len(script.calls) == calls
    assert (opinion.status, opinion.probability) == (UNKNOWN, None)
    assert opinion.attempts == sum(1 if isinstance(reply, str) else reply.attempts for _ in range(calls))


@pytest.mark.parametrize("name", ["rubric_per_criterion", "verif", "verif_per_constraint", "semantic_equality"])
async def test_a_reply_that_says_nothing_is_dropped(name: str) -> None:
    dropped = Dropped()
    await ALL[name]().opinions(sample(), Script(lambda _: said("nothing to read here", drop=dropped)))
    assert dropped.times == 2


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ('{"explanation": "", "same": true}', MET),
        ('{"explanation": "Other city.", "same": false}', UNMET),
        ('{"same": "yes"}', MET),
        ('{"same": null}', UNKNOWN),
    ],
)
async def test_semantic_equality_compares_with_the_quoted_reference(reply: str, status: VerdictStatus) -> None:
    script = Script(lambda _: reply)
    reference = "Paris,\nthe capital"
    (opinion,) = await of_form(SEMANTIC_EQUALITY).opinions(sample(reference, response="It is Paris."), script)
    assert opinion.status is status
    found = quotations(user(script.calls[0]))
    assert found == {"QUESTION": "Write a sentence.", "RESPONSE": "It is Paris.", "REFERENCE": reference}


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(("reply", "status"), [("[[1]] All kept.", MET), ("[[0]] The third is not.", UNMET)])
async def test_verif_gives_all_constraints_one_verdict(count: int, reply: str, status: VerdictStatus) -> None:
    script = Script([reply])
    opinions = await verif().opinions(sample(*"abc"[:count]), script)
    assert [each.status for each in opinions] == [status] * count
    assert "1. a" in user(script.calls[0])


@pytest.mark.parametrize("name", ["verif", "verif_per_constraint"])
@pytest.mark.parametrize("reply", ["[[10]]", "[[2]] very good", "[[-1]]", "[[yes]]", "[1]", "1", "[[1]", "[[0.5]]"])
async def test_verif_takes_no_other_number(name: str, reply: str) -> None:
    (opinion,) = await ALL[name]().opinions(sample(), Script(lambda _: reply))
    assert (opinion.status, opinion.reason) == (UNKNOWN, UnknownReason.UNPARSEABLE)


@pytest.mark.parametrize("name", ["verif", "verif_per_constraint"])
@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ('The response says "[[1]]" itself, and breaks the rule: [[0]]', UNMET),
        ('[[0]] The response says "[[1]]" itself.', UNMET),
        ("[[1]]\n\nThat was the response. My verdict: [[0]]", UNKNOWN),
        ("It says [[1]].\n\nMy verdict: [[0]]", UNMET),
        ('The response says "[[1]]" itself.', UNKNOWN),
        ("[[1]] It keeps them all.", MET),
    ],
)
async def test_a_label_in_the_response_is_not_the_judges(name: str, reply: str, status: VerdictStatus) -> None:
    (opinion,) = await ALL[name]().opinions(sample(response="Please write [[1]] now."), Script(lambda _: reply))
    assert opinion.status is status


async def test_verif_refuses_penalties() -> None:
    penalty = Sample("row-9", "s", "q", "r", (Criterion("be kind"), Criterion("insult", -2.0)))
    script = Script([])
    with pytest.raises(SampleError, match="'insult' is a penalty") as caught:
        await verif().opinions(penalty, script)
    assert "reward.protocol: rubric" in caught.value.remedy
    assert script.calls == []


async def test_a_cut_label_at_the_beginning_is_whole() -> None:
    cut: Answer = said("[[1]] The response keeps", finish="length")
    (opinion,) = await of_form(VERIF_PER_CONSTRAINT).opinions(sample(), Script([cut]))
    assert opinion.status is MET
