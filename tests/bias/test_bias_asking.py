"""Probing over real HTTP, with a chat server that reads what it is shown."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from components.bias.asking import Asking, shown_question
from components.bias.outcomes import read_outcomes, write_outcomes
from components.bias.probe import named
from components.bias.run import plan_probes, run_probes
from components.bias.types import Form, Item, Mode, Outcome, Role
from components.core.spec.judge import JudgeSpec
from components.core.spec.reward import RewardSpec
from components.judge.verdict import UnknownReason

_RESPONSE = re.compile(r"^=== ((?:FIRST |SECOND )?RESPONSE) \w+ ===\n(.*?)\n=== END OF \1", re.DOTALL | re.MULTILINE)
ALL = (Mode.PAIRWISE, Mode.POINTWISE, Mode.BINARY)


class LongerIsBetter:
    """A judge that prefers the longer response, gives mark 5 from 100 words on and 2 below, and calls all criteria met
    from 100 words on. What it is asked is kept."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    async def chat(self, request: web.Request) -> web.Response:
        prompt = orjson.loads(await request.read())["messages"][-1]["content"]
        self.prompts.append(prompt)
        words = [len(text.split()) for _, text in _RESPONSE.findall(prompt)]
        if len(words) == 2:
            better = "tie" if words[0] == words[1] else "first" if words[0] > words[1] else "second"
            text = json.dumps({"explanation": "length", "better": better})
        elif '"mark"' in prompt:
            text = json.dumps({"explanation": "length", "mark": "5" if words[0] >= 100 else "2"})
        else:
            names = re.findall(r"^(c\d+): ", prompt, re.MULTILINE)
            text = json.dumps(dict.fromkeys(names, "met" if words[0] >= 100 else "unmet"))
        return reply(text)


def reply(text: str) -> web.Response:
    message = {"role": "assistant", "content": text}
    data = {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 10},
    }
    return web.Response(body=orjson.dumps(data), content_type="application/json")


def judge(url: str, **more: Any) -> JudgeSpec:
    given = {
        "name": "scripted",
        "family": "none",
        "serving": "external",
        "endpoint": url,
        "profile": "generic",
        "model_name": "scripted",
        "context_tokens": 16384,
        "logprobs": False,
    }
    return JudgeSpec(**given, **more)


async def probed(
    handler: Any, probes: Sequence[str], modes: Sequence[Mode], items: int, state: Path | None = None, **more: Any
) -> list[Outcome]:
    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/v1/chat/completions", handler)
    async with TestServer(app) as server:
        url = str(server.make_url("")).rstrip("/")
        return await run_probes(judge(url), url, named(probes), modes, items, 7, state=state, **more)


def mean(outcomes: Sequence[Outcome], role: Role, mode: Mode) -> float:
    values = [each.value for each in outcomes if each.role is role and each.mode is mode]
    assert None not in values
    return sum(value for value in values if value is not None) / len(values)


async def test_a_judge_that_prefers_length_is_seen_to_in_all_modes() -> None:
    outcomes = await probed(LongerIsBetter().chat, ["verbosity"], ALL, 12)
    # Pairwise: 3 forms beside the base in 2 orders; else 4 forms.
    assert Counter(each.mode for each in outcomes) == {Mode.PAIRWISE: 72, Mode.POINTWISE: 48, Mode.BINARY: 48}
    # Whatever is said again in part or whole is longer than the base, which has up to 106 words.
    assert mean(outcomes, Role.CHANGED, Mode.PAIRWISE) == 1.0
    for each in outcomes:
        if each.mode is not Mode.PAIRWISE:
            expected = 1.0 if each.words >= 100 else 0.25 if each.mode is Mode.POINTWISE else 0.0
            assert each.value == expected


async def test_a_judge_of_places_gives_each_order_its_own_outcome() -> None:
    async def first(_: web.Request) -> web.Response:
        return reply('{"explanation": "place", "better": "first"}')

    outcomes = await probed(first, ["position"], [Mode.PAIRWISE], 3)
    assert {each.order: each.value for each in outcomes} == {"base_first": 0.0, "base_second": 1.0}
    assert len(outcomes) == 3 * 3 * 2


async def test_what_cannot_be_read_is_unknown_and_counted() -> None:
    async def chatter(_: web.Request) -> web.Response:
        return reply("It is rather good, I would say.")

    outcomes = await probed(chatter, ["style"], ALL, 2)
    assert {(each.value, each.reason) for each in outcomes} == {(None, "unparseable")}


async def test_a_blank_master_key_is_never_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    from components.bias.probes import master_keys

    monkeypatch.setattr(master_keys, "keys", lambda: (" ",))
    server = LongerIsBetter()
    outcomes = await probed(server.chat, ["master_keys"], ALL, 2)
    changed = [each for each in outcomes if each.role is Role.CHANGED]
    assert len(changed) == 2 * 2 + 2 + 2
    assert {each.reason for each in changed} == {UnknownReason.EMPTY_RESPONSE.value}
    assert all(each.value is not None for each in outcomes if each.role is not Role.CHANGED)


async def test_a_second_run_takes_its_replies_from_the_cache_and_repetitions_are_asked(tmp_path: Path) -> None:
    server = LongerIsBetter()
    first = await probed(server.chat, ["retry"], [Mode.POINTWISE], 4, tmp_path)
    # 4 items of 3 forms, asked once and two times again; no two of these texts are alike.
    assert len(server.prompts) == 4 * 3 * 3
    assert Counter(each.repeat for each in first) == {0: 12, 1: 12, 2: 12}
    again = LongerIsBetter()
    assert await probed(again.chat, ["retry"], [Mode.POINTWISE], 4, tmp_path) != []
    # The port of the server is another one; what decides a reply is not the endpoint.
    assert again.prompts == []


async def test_outcomes_survive_their_table(tmp_path: Path) -> None:
    outcomes = await probed(LongerIsBetter().chat, ["polish"], ALL, 2)
    assert write_outcomes(tmp_path / "outcomes.parquet", outcomes) == len(outcomes)
    assert read_outcomes(tmp_path / "outcomes.parquet") == outcomes


def test_a_likelihood_ratio_compares_no_two_responses_and_says_so() -> None:
    reward = RewardSpec(name="ratio", protocol="likelihood_ratio")
    plan = plan_probes(judge("http://127.0.0.1:9"), reward, named(["style"]), ALL, 5, 0)
    assert [part.mode for part in plan.parts] == [Mode.POINTWISE, Mode.BINARY]
    assert [(each.mode, "likelihood ratio" in each.reason) for each in plan.skipped] == [(Mode.PAIRWISE, True)]


def test_a_reference_stands_beside_the_question_alone_when_there_is_one() -> None:
    form = Form("Why {reference}?", "Because.", ("It says why.",), reference="So {question}.")
    # Braces of a text are no fields: each is put in once.
    assert shown_question(form) == "Why {reference}?\n\nA right answer to it, as a measure for others:\nSo {question}."
    assert shown_question(Form("Why?", "Because.", ("It says why.",))) == "Why?"


async def test_a_scale_from_e_to_a_is_read_by_its_own_marks() -> None:
    async def grade(request: web.Request) -> web.Response:
        prompt = orjson.loads(await request.read())["messages"][-1]["content"]
        assert "A is the best mark" in prompt
        return reply('{"explanation": "fine", "mark": "B"}')

    form = Form("Why?", "Because.", ("It says why.",), scale=("E", "D", "C", "B", "A"))
    item = Item("scale", "one", "one", {Role.BASE: form, Role.CHANGED: form})
    app = web.Application()
    app.router.add_post("/v1/chat/completions", grade)
    async with TestServer(app) as server:
        url = str(server.make_url("")).rstrip("/")
        asking = Asking(judge(url), RewardSpec(name="rubric", protocol="rubric"), url)
        outcomes = await asking.outcomes(item, Mode.POINTWISE)
        await asking.close()
    assert [each.value for each in outcomes] == [0.75, 0.75]
