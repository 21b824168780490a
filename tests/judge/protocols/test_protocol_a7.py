"""The eight parts of a known defect, each from the judge's reply to the reward and the mask.

A grader whose failed replies were scored as "not present" trained policies to be short and plain, and hid penalties
(the project's notes on RuscaRL list these eight). Every test here names the part that it keeps from coming back.
"""

import json
from collections.abc import Callable

import pytest
from protocol_asks import Script, failed, numbers, rubric, said, user

from components.judge.calls import Answer, Call
from components.judge.chat_judge import ChatJudge
from components.judge.failures import Failure
from components.judge.verdict import Criterion, Sample, UnknownReason, Verdict
from components.reward.advantage import grpo_advantages
from components.reward.rubric import Reward, rubric_reward

POINTS = (5.0, 3.0, 2.0, -4.0)
CRITERIA = tuple(Criterion(f"criterion {number}", points) for number, points in enumerate(POINTS, start=1))
SAMPLE = Sample("row-1", "s", "Is this rash dangerous?", "See a doctor if it spreads. " * 40, CRITERIA)

# Met: 5 and 3 of 5, 3, 2; and the penalty of 4: (5 + 3 - 4) / 10.
TRUTH = {"1": "PRESENT", "2": "PRESENT", "3": "NOT_PRESENT", "4": "PRESENT"}
WORTH = 0.4

Replies = Callable[[Call], str | Answer | Failure]


async def judged(replies: Replies) -> tuple[list[Verdict], Reward, Script]:
    script = Script(replies)
    verdicts = await ChatJudge("j", rubric(), script).judge(SAMPLE)
    return verdicts, rubric_reward(CRITERIA, verdicts, "binary", where=SAMPLE.row_id), script


def kept(reward: Reward) -> None:
    assert reward.status == "scored"
    assert reward.value == pytest.approx(WORTH)
    assert reward.parts["penalty"] == pytest.approx(-0.4)


def masked(reward: Reward, reason: str) -> None:
    """No number at all, and no part in the group: not in its mean, no advantage, no loss."""
    assert (reward.status, reward.value, reward.parts, reward.reason) == ("abstained", None, {}, reason)
    assert grpo_advantages([reward.value, 0.2, 0.6], ["p"] * 3) == [None, *grpo_advantages([0.2, 0.6], ["p"] * 2)]
    assert grpo_advantages([reward.value] + [0.8] * 7, ["p"] * 8) == [None] * 8


def truth(call: Call) -> dict[str, str]:
    return {str(number): TRUTH[str(number)] for number in numbers(call)}


@pytest.mark.parametrize(
    "form",
    [
        "Here is my evaluation:\n```json\n{}\n```",
        "<think>Is the first one there? {{\"1\": \"NOT_PRESENT\"}} No, it is.</think>{}",
        "Let me see.</think>\n{}",
        "{}\n\nI hope this helps.",
        "```json\n{}\n```\nThe third is missing.",
    ],
)  # fmt: skip
async def test_a7_1_text_around_json(form: str) -> None:
    def reply(call: Call) -> str:
        return form.replace("{{", "{").replace("}}", "}").replace("{}", json.dumps(truth(call)))

    _, reward, script = await judged(reply)
    kept(reward)
    assert len(script.calls) == 1


async def test_a7_1_a_cut_object_is_asked_for_again() -> None:
    def reply(call: Call) -> str | Answer:
        whole = json.dumps(truth(call))
        return said(whole[:20], finish="length") if call.purpose == "ask" else whole

    _, reward, script = await judged(reply)
    kept(reward)
    assert script.asked == [("ask", [1, 2, 3, 4]), ("again", [1, 2]), ("again", [3, 4])]


@pytest.mark.parametrize(
    ("present", "absent"),
    [
        ("PRESENT", "NOT PRESENT"),
        ("Present", "Not_Present"),
        ("present", "not-present"),
        ("PRESENT.", "**NOT PRESENT**"),
        ("met", "unmet"),
        ("yes", "no"),
    ],
)
@pytest.mark.parametrize("key", ["{}", "c{}", "Criterion {}"])
async def test_a7_2_spellings_of_keys_and_labels(present: str, absent: str, key: str) -> None:
    def reply(call: Call) -> str:
        labels = {"PRESENT": present, "NOT_PRESENT": absent}
        return json.dumps({key.format(number): labels[label] for number, label in truth(call).items()})

    _, reward, script = await judged(reply)
    kept(reward)
    assert len(script.calls) == 1


async def test_a7_3_one_missing_criterion_does_not_discard_the_others() -> None:
    def reply(call: Call) -> str:
        asked = truth(call)
        return json.dumps({number: label for number, label in asked.items() if len(asked) == 1 or number != "3"})

    _, reward, script = await judged(reply)
    kept(reward)
    assert script.asked == [("ask", [1, 2, 3, 4]), ("single", [3])]


async def test_a7_3_one_criterion_that_stays_missing_leaves_the_rest_scored() -> None:
    verdicts, reward, _ = await judged(
        lambda call: json.dumps({k: v for k, v in truth(call).items() if k != "3"} or {"x": "y"})
    )
    assert [verdict.reason for verdict in verdicts] == [None, None, "unparseable", None]
    # 8 of 10 positive points are known: (5 + 3 - 4) / 8.
    assert reward.status == "scored"
    assert reward.known_weight == pytest.approx(0.8)
    assert reward.value == pytest.approx(0.5)


async def test_a7_4_attempts_vary() -> None:
    _, reward, script = await judged(lambda _: "I would say it is good.")
    masked(reward, "known_weight")
    assert len({call.messages for call in script.calls}) == len(script.calls) == 1 + 2 + 4
    assert script.calls[0].schema is None
    assert all(call.schema is not None for call in script.calls[1:])
    assert all(user(call).startswith(user(script.calls[0])[:200]) for call in script.calls)
    assert {call.temperature for call in script.calls} == {0.0}


async def test_a7_5_a_failed_grading_is_no_zero() -> None:
    verdicts, reward, _ = await judged(lambda _: "NOT_PRESENT for everything, sorry")
    assert {verdict.status.value for verdict in verdicts} == {"unknown"}
    assert {verdict.probability for verdict in verdicts} == {None}
    masked(reward, "known_weight")


async def test_a7_6_a_failure_does_not_hide_a_penalty() -> None:
    def reply(call: Call) -> str:
        return json.dumps({k: v for k, v in truth(call).items() if k != "4"} or {"x": "y"})

    verdicts, reward, _ = await judged(reply)
    assert verdicts[3].status.value == "unknown"
    # All positive points are known, and still: without the penalty the sum would be 0.8 instead of 0.4.
    assert reward.known_weight == 1.0
    masked(reward, "penalty_unknown")


async def test_a7_7_a_failure_that_follows_the_responses_form_costs_the_policy_nothing() -> None:
    """A grader that long or JSON-like answers confuse must not teach the policy to be short and plain."""

    def confused(call: Call) -> str | Failure:
        text = user(call)
        if '{"dose"' in text or len(text) > 8000:
            return failed(UnknownReason.TOO_LONG, 0) if len(text) > 8000 else "{ { {"
        return json.dumps({f"c{number}": TRUTH[str(number)] for number in numbers(call)})

    rewards = []
    for response in ("Rest, and drink.", 'Take {"dose": 1}.', "word " * 2000, "Rest."):
        sample = Sample("row-1", response[:9], "q", response, CRITERIA)
        verdicts = await ChatJudge("j", rubric(), Script(confused)).judge(sample)
        rewards.append(rubric_reward(CRITERIA, verdicts, "binary").value)
    assert rewards == [pytest.approx(WORTH), None, None, pytest.approx(WORTH)]
    # As zeros the two would have had a strong negative advantage; so they have none, and their group is left out.
    assert min(each or 0.0 for each in grpo_advantages([0.4, 0.0, 0.0, 0.4], ["p"] * 4)) < -0.8
    assert grpo_advantages(rewards, ["p"] * 4) == [None] * 4


@pytest.mark.parametrize(
    "reason", [each for each in UnknownReason if each not in (UnknownReason.LOW_MASS, UnknownReason.SPLIT)]
)
async def test_a7_8_any_failure_and_any_refusal_is_told_from_a_bad_answer(reason: UnknownReason) -> None:
    verdicts, reward, _ = await judged(lambda _: failed(reason))
    assert {verdict.reason for verdict in verdicts} == {reason}
    masked(reward, "known_weight")
    _, bad, _ = await judged(lambda call: json.dumps({str(number): "NOT_PRESENT" for number in numbers(call)}))
    assert (bad.status, bad.value) == ("scored", 0.0)


async def test_a7_8_a_refusal_in_words_is_told_from_a_bad_answer() -> None:
    verdicts, reward, script = await judged(lambda _: "I'm sorry, but I can't evaluate this content.")
    assert {verdict.reason for verdict in verdicts} == {UnknownReason.REFUSED}
    assert len(script.calls) == 1
    masked(reward, "known_weight")
