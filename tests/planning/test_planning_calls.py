"""How often a judge is asked: by hand, and as the protocols themselves do it."""

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.spec import Experiment, load_experiment
from components.judge.calls import Answer, AnswerToken, Call, Usage
from components.judge.protocols.choose import chat_protocol
from components.judge.verdict import Criterion, Sample
from components.planning.assumptions import Assumptions
from components.planning.calls import calls_about, criteria_of, rubric_asks, samples_of

BASE = load_experiment("tiny")
NONE_AGAIN = Assumptions(again=0.0)
CHATS = [
    "rubric",
    "rubric_per_criterion",
    "rubric_token",
    "verif",
    "verif_per_constraint",
    "semantic_equality",
    "pairwise",
]


def test_samples_by_hand() -> None:
    """3 steps x 4 prompts x 4 rollouts; 16 held-out rows x 1 sample, by the policy before and after."""
    found = samples_of(load_experiment("tiny"))
    assert (found.training, found.scoring) == (48, 32)


def test_canaries_are_calls_of_the_training() -> None:
    """3 steps x 5 canaries beside 48 rollouts, one call each by a rubric."""
    found = samples_of(load_experiment("tiny", ["training.canaries={per_step: 5}"]))
    assert (found.training, found.scoring) == (48 + 15, 32)


def test_a_control_arm_asks_in_scoring_alone() -> None:
    found = samples_of(load_experiment("tiny", ["reward={use: length}"]))
    assert (found.training, found.scoring) == (0, 32)


def test_a_likelihood_ratio_is_one_call_with_a_prompt_more_than_criteria() -> None:
    criteria = "data.criteria=[{text: a}, {text: b}, {text: c}]"
    found = calls_about(10, load_experiment("tiny", [criteria]), 3, NONE_AGAIN)
    assert (found.expected, found.most, found.texts) == (10, 30, 4)


def test_lines_by_rule_are_none_of_the_judges() -> None:
    rule = "{text: c, verifier: rule, rule: {name: word_count_range, min_count: 1, max_count: 2}}"
    found = load_experiment("tiny", [f"data.criteria=[{{text: a}}, {{text: b}}, {rule}]"])
    assert criteria_of(found, Assumptions(criteria=9)) == 2


def test_rows_with_their_own_rubric_leave_the_number_open() -> None:
    experiment = load_experiment("tiny_verinstruct_rl", ["reward={use: rubric-per-criterion}"])
    assert calls_about(10, experiment, 3, NONE_AGAIN).expected is None
    assert calls_about(10, experiment, 3, Assumptions(again=0.0, criteria=5)).expected == 50
    whole = load_experiment("tiny_verinstruct_rl", ["reward={use: rubric}"])
    assert calls_about(10, whole, 3, NONE_AGAIN).expected == 10
    assert calls_about(10, whole, 3, NONE_AGAIN).most is None


def test_the_assumed_share_is_asked_again(chat: Callable[..., Experiment]) -> None:
    found = calls_about(100, chat(), 3, Assumptions(again=0.1))
    assert found.expected == pytest.approx(110)
    assert found.most == 600


class Script:
    """A judge that says the same to everything."""

    def __init__(self, reply: Callable[[Call], str]) -> None:
        self.calls = 0
        self._reply = reply

    async def __call__(self, call: Call) -> Answer:
        self.calls += 1
        text = self._reply(call)
        tokens = (AnswerToken("yes", -0.1, (("yes", -0.1), ("no", -3.0))),)
        return Answer(text, "stop", Usage(), tokens, 1, "0" * 64, 0.0)


def _good(call: Call) -> str:
    text = call.messages[-1].content
    names = re.findall(r"^(c\d+): ", text, re.MULTILINE)
    if names:
        return json.dumps(dict.fromkeys(names, "met"))
    return json.dumps({"explanation": "e", "verdict": "met", "same": True, "better": "first"}) + "\n[YES] [[YES]]"


def _sample(lines: int) -> Sample:
    return Sample("s", "r", "question?", "a response", tuple(Criterion(f"criterion {n}") for n in range(lines)))


@pytest.mark.parametrize("protocol", CHATS)
@pytest.mark.parametrize("lines", [1, 2, 3, 4, 5, 8])
async def test_most_calls_are_those_of_a_judge_that_nobody_can_read(
    chat: Callable[..., Experiment], protocol: str, lines: int
) -> None:
    criteria = ", ".join(f"{{text: criterion {n}}}" for n in range(lines))
    experiment = chat(f"reward.protocol={protocol}", f"data.criteria=[{criteria}]")
    script = Script(lambda call: "nothing that is a verdict")
    await chat_protocol(experiment.reward, experiment.judge).opinions(_sample(lines), script)
    found = calls_about(1, experiment, 1, NONE_AGAIN)
    assert found.most == script.calls
    if protocol in ("rubric", "rubric_token"):
        readable = Script(_good)
        await chat_protocol(experiment.reward, experiment.judge).opinions(_sample(lines), readable)
        assert found.expected == readable.calls


@given(st.integers(1, 40), st.integers(1, 40))
def test_more_lines_never_take_fewer_questions(one: int, more: int) -> None:
    assert rubric_asks(one + more) >= rubric_asks(one) + 1


@given(
    steps=st.integers(1, 400),
    further=st.integers(0, 400),
    again=st.floats(0, 1),
    protocol=st.sampled_from(CHATS),
)
def test_more_steps_never_take_fewer_calls(steps: int, further: int, again: float, protocol: str) -> None:
    assumed = Assumptions(again=again)

    def calls(number: int) -> float:
        training = BASE.training.model_copy(update={"steps": number})
        reward = BASE.reward.model_copy(update={"protocol": protocol})
        experiment = BASE.model_copy(update={"training": training, "reward": reward})
        found = calls_about(samples_of(experiment).training, experiment, 3, assumed)
        assert found.expected is not None
        assert found.most is not None
        assert found.expected <= found.most
        return found.expected

    assert calls(steps + further) >= calls(steps)
    if further:
        assert calls(steps + further) > calls(steps)
