"""The scripted judge reads what the protocols render, finds features in the text alone, and repeats itself."""

import json

import pytest
from aiohttp.test_utils import TestClient, TestServer

from components.bias.scripted.axes import AXES, contentless
from components.bias.scripted.cli import main
from components.bias.scripted.judge import ScriptedJudge
from components.bias.scripted.prompts import UNREADABLE, UnknownPromptError, read_prompt, reply
from components.bias.scripted.server import MODEL, build_app
from components.bias.types import Form
from components.core.errors import ConfigError
from components.judge.parsing.choice import read_choice
from components.judge.protocols import pairwise, rubric
from components.judge.protocols.chat_template import load_chat
from components.judge.protocols.quotation import fence

QUESTION = "Why is the sky blue?"
PLAIN, CITED = "Light is scattered by the air.", "Light is scattered, says Rayleigh et al. in a review."


def _pair(first: str, second: str) -> list[dict[str, str]]:
    template = load_chat(pairwise.NAME, pairwise.FIELDS)
    values = {
        "question": fence("QUESTION", QUESTION),
        "first": fence("FIRST RESPONSE", first, QUESTION, second),
        "second": fence("SECOND RESPONSE", second, QUESTION, first),
    }
    return [{"role": each.role, "content": each.content} for each in template.messages(values)]


def test_a_rendered_pair_is_read_back() -> None:
    asked = read_prompt(_pair(PLAIN, CITED))
    assert asked.kind == "pairwise"
    assert [form.response for form in asked.forms] == [PLAIN, CITED]
    assert asked.forms[0].question == QUESTION


def test_a_rendered_rubric_is_read_back_and_answered_line_by_line() -> None:
    template = load_chat("rubric", rubric.FIELDS)
    values = {
        "question": fence("QUESTION", QUESTION),
        "response": fence("RESPONSE", PLAIN, QUESTION),
        "criteria": "c1: It names light.\nc2: It names air.",
        "numbers": "c1, c2",
    }
    asked = read_prompt([{"role": each.role, "content": each.content} for each in template.messages(values)])
    assert asked.forms[0].criteria == ("It names light.", "It names air.")
    assert json.loads(reply(ScriptedJudge(quality=1.0, noise=0.0), asked, 0)) == {"c1": "met", "c2": "met"}


def test_what_is_no_question_is_refused() -> None:
    with pytest.raises(UnknownPromptError):
        read_prompt([{"role": "user", "content": "Hello"}])
    with pytest.raises(UnknownPromptError):
        read_prompt([])


def test_a_planted_authority_decides_a_pair_in_both_orders() -> None:
    judge = ScriptedJudge({"authority": 0.6}, text_noise=0.0, noise=0.0)
    for first, second, expected in ((CITED, PLAIN, "first"), (PLAIN, CITED, "second")):
        text = reply(judge, read_prompt(_pair(first, second)), 0)
        assert read_choice(text, cut=False, quoted=()) == expected


def test_the_same_question_has_the_same_answer_but_for_planted_retries() -> None:
    form = Form(QUESTION, PLAIN, ("It names light.",))
    steady, wavering = ScriptedJudge(), ScriptedJudge({"retry": 0.5})
    assert len({steady.place(form, asking) for asking in range(20)}) == 1
    assert len({wavering.place(form, asking) for asking in range(20)}) == 2


def test_a_failing_judge_says_nothing_that_can_be_read() -> None:
    judge = ScriptedJudge({"failure": 1.0})
    assert reply(judge, read_prompt(_pair("```\ncode\n```", PLAIN)), 0) == UNREADABLE


@pytest.mark.parametrize(("words", "failing"), [(12, False), (13, True)])
def test_length_beyond_what_a_judge_bears_fails_as_often_as_planted(words: int, failing: bool) -> None:
    judge = ScriptedJudge({"failure": 0.5}, strained_words=12)
    forms = [Form(f"{QUESTION} ({number})", "word " * words, ("It names light.",)) for number in range(400)]
    unread = sum(judge.met(form) is None for form in forms)
    # Three standard errors of 400 draws with chance 1/2 are 30.
    assert 170 <= unread <= 230 if failing else unread == 0


@pytest.mark.parametrize(
    "text", [" ", ".", ":", "Solution", "Thought process:", "解", "Let's solve this problem step by step."]
)
def test_master_keys_say_nothing(text: str) -> None:
    assert contentless(text)
    assert not contentless(PLAIN)


def test_every_axis_has_a_feature_between_0_and_1() -> None:
    form = Form(QUESTION, PLAIN, ("It names light.",))
    assert all(0.0 <= find(form) <= 1.0 for find in AXES.values())


@pytest.mark.parametrize("planted", [{"charm": 0.1}, {"retry": 0.7}, {"failure": -0.1}, {"style": float("nan")}])
def test_what_cannot_be_planted_is_refused(planted: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        ScriptedJudge(planted)


def test_a_bias_that_is_no_pair_is_refused() -> None:
    with pytest.raises(ConfigError, match="AXIS=STRENGTH"):
        main(["--port", "1", "--bias", "verbosity"])


@pytest.mark.parametrize("stream", [False, True])
async def test_the_server_answers_over_http(stream: bool) -> None:
    judge = ScriptedJudge({"authority": 0.6}, text_noise=0.0, noise=0.0)
    async with TestClient(TestServer(build_app(judge))) as client:
        body = {"model": MODEL, "messages": _pair(CITED, PLAIN), "stream": stream}
        response = await client.post("/v1/chat/completions", json=body)
        text = await response.text()
        assert response.status == 200
        assert "first" in text
        assert ("[DONE]" in text) == stream
        bad = await client.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": "Hello"}]})
        assert bad.status == 400
        models = await (await client.get("/v1/models")).json()
        assert models["data"][0]["id"] == MODEL
