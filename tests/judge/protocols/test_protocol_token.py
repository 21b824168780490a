"""P(met) and the mass on yes and no, against sums worked out by hand."""

import math

import pytest
from protocol_asks import Dropped, Script, failed, said, sample, spelled, token, user

from components.judge.calls import Answer, AnswerToken
from components.judge.protocols.base import Opinion
from components.judge.verdict import UnknownReason, VerdictStatus


async def ask(answer: Answer, min_mass: float = 0.5) -> Opinion:
    (opinion,) = await token(min_mass).opinions(sample(), Script([answer]))
    return opinion


def chances(**words: float) -> tuple[tuple[str, float], ...]:
    return tuple((word, math.log(share)) for word, share in words.items())


async def test_one_token_with_its_alternatives_is_asked_for() -> None:
    script = Script(lambda _: spelled(*chances(yes=0.6, no=0.2)))
    await token().opinions(sample("a", "b"), script)
    assert len(script.calls) == 2
    for call in script.calls:
        assert (call.max_tokens, call.top_logprobs, call.schema, call.purpose) == (1, 20, None, "ask")
    assert user(script.calls[0]).endswith("Does the response meet the criterion? Answer yes or no.")


@pytest.mark.parametrize(
    ("words", "probability", "mass", "status"),
    [
        # 0.6 / (0.6 + 0.2)
        ({"yes": 0.6, "no": 0.2, "maybe": 0.1}, 0.75, 0.8, "met"),
        # (0.1 + 0.05 + 0.05) / (0.2 + 0.6)
        ({"Yes": 0.1, " yes": 0.05, "YES": 0.05, "no": 0.5, "No": 0.1}, 0.25, 0.8, "unmet"),
        ({"\u0120yes": 0.3, "\u2581Yes": 0.3, "\u0120no": 0.2, "Yes.": 0.1}, 0.7 / 0.9, 0.9, "met"),
        ({'"yes': 0.5, "**No**": 0.5}, 0.5, 1.0, "unmet"),
        ({"yes": 0.9, "yesterday": 0.05, "eyes": 0.01}, 1.0, 0.9, "met"),
        ({"no": 0.6, "not": 0.2, "nothing": 0.1, "none": 0.05}, 0.0, 0.6, "unmet"),
    ],
)
async def test_spellings_are_summed(words: dict[str, float], probability: float, mass: float, status: str) -> None:
    opinion = await ask(spelled(*chances(**words)))
    assert opinion.probability == pytest.approx(probability)
    assert opinion.mass == pytest.approx(mass)
    assert opinion.status.value == status
    assert opinion.reason is None


async def test_the_token_itself_is_counted_once_where_it_is_among_the_alternatives() -> None:
    inside = await ask(spelled(*chances(yes=0.5, no=0.3)))
    assert [inside.probability, inside.mass] == pytest.approx([0.625, 0.8])


async def test_the_token_itself_is_added_where_it_is_not_among_them() -> None:
    # 0.2 / (0.2 + 0.6): a reply at a temperature may have drawn a token beyond the alternatives.
    outside = await ask(spelled(*chances(no=0.6, maybe=0.1), first=("yes", math.log(0.2))))
    assert [outside.probability, outside.mass] == pytest.approx([0.25, 0.8])


async def test_two_tokens_of_one_text_are_both_counted() -> None:
    # The word with and without a leading space is one text where a server leaves spaces out.
    opinion = await ask(spelled(("yes", math.log(0.4)), ("yes", math.log(0.2)), ("no", math.log(0.2))))
    assert [opinion.probability, opinion.mass] == pytest.approx([0.75, 0.8])


async def test_low_mass_is_unknown_and_says_what_the_judge_wanted_to_say() -> None:
    opinion = await ask(spelled(*chances(The=0.6, yes=0.2, no=0.1)))
    assert (opinion.status, opinion.reason) == (VerdictStatus.UNKNOWN, UnknownReason.LOW_MASS)
    assert opinion.probability is None
    assert opinion.mass == pytest.approx(0.3)
    assert opinion.trouble is not None
    assert "'The'" in opinion.trouble.detail
    assert (await ask(spelled(*chances(The=0.6, yes=0.2, no=0.1)), 0.25)).probability == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "answer",
    [
        said("yes"),
        said("yes", tokens=()),
        # Of the other word nothing is known.
        said("yes", tokens=(AnswerToken("yes", math.log(0.9)),)),
        # One alternative, the token itself: nothing is known of the other word either.
        spelled(*chances(yes=0.9)),
        # More than everything.
        spelled(*chances(yes=0.8, no=0.3)),
    ],
)
async def test_what_cannot_be_read_is_unknown_and_dropped(answer: Answer) -> None:
    dropped = Dropped()
    opinion = await ask(said(answer.text, tokens=answer.tokens, drop=dropped))
    assert (opinion.status, opinion.reason) == (VerdictStatus.UNKNOWN, UnknownReason.UNPARSEABLE)
    assert (opinion.probability, opinion.mass) == (None, None)
    assert dropped.times == 1


async def test_rounding_above_one_is_no_fault() -> None:
    opinion = await ask(spelled(*chances(yes=0.9004, no=0.1)))
    assert opinion.mass == 1.0
    assert opinion.probability == pytest.approx(0.9004 / 1.0004)


async def test_a_failed_call_is_unknown_and_is_not_repeated() -> None:
    script = Script([failed(UnknownReason.TIMEOUT, 3)])
    (opinion,) = await token().opinions(sample(), script)
    assert (opinion.reason, opinion.attempts, opinion.mass) == (UnknownReason.TIMEOUT, 3, None)
