"""Where the judge's tokenizer does not lie here, its server counts what may be too long, each text once."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
from aiohttp import web
from judge_servers import REWARD, completion, sample, spec
from scripted_serving import served

from components.core.errors import JudgeError
from components.core.spec.reward import RewardSpec
from components.judge.build import build_judge
from components.judge.probing.run import probe
from components.judge.verdict import Criterion, UnknownReason, VerdictStatus

RUBRIC = RewardSpec(name="r", protocol="rubric", value="binary")
MET = {
    "choices": [{"index": 0, "message": {"role": "assistant", "content": '{"c1": "met"}'}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 100, "completion_tokens": 10},
}
SYLLABLES = "Donaudampfschiff" * 400
"""One word of 6,400 letters: a count of words takes it for one token."""


class Counting:
    """A server with vLLM's routes whose tokens are four characters long."""

    def __init__(self, prefix: str = "", status: int = 200, reply: Any = None, seconds: float = 0.0) -> None:
        self.prefix, self.status, self.reply, self.seconds = prefix, status, reply, seconds
        self.counted: list[str] = []
        self.chats = 0

    async def _tokenize(self, request: web.Request) -> web.Response:
        body = orjson.loads(await request.read())
        assert body["model"] == "scripted-model"
        assert body["add_special_tokens"] is False
        self.counted.append(body["prompt"])
        await asyncio.sleep(self.seconds)
        tokens = list(range(-(-len(body["prompt"]) // 4)))
        found = {"count": len(tokens), "max_model_len": 4096, "tokens": tokens} if self.reply is None else self.reply
        return web.json_response(found, status=self.status)

    async def _chat(self, request: web.Request) -> web.Response:
        await request.read()
        self.chats += 1
        return web.json_response(MET)

    async def _complete(self, request: web.Request) -> web.Response:
        self.chats += 1
        return web.json_response(completion(orjson.loads(await request.read())))

    @contextlib.asynccontextmanager
    async def serve(self, *, tokenizes: bool = True) -> AsyncIterator[str]:
        routes = [
            web.post(f"{self.prefix}/v1/chat/completions", self._chat),
            web.post(f"{self.prefix}/v1/completions", self._complete),
        ]
        if tokenizes:
            routes.append(web.post(f"{self.prefix}/tokenize", self._tokenize))
        async with served(*routes) as url:
            yield url


async def judged(url: str, *responses: str, reward: RewardSpec = RUBRIC, **changes: Any) -> list[Any]:
    values = {"profile": "vllm", "context_tokens": 3000, "max_answer_tokens": 100, "cache": False, **changes}
    judge = build_judge(spec(**values), reward, url, None)
    try:
        return [(await judge.judge(sample(response)))[0] for response in responses]
    finally:
        await judge.close()


@pytest.mark.parametrize(("profile", "prefix"), [("vllm", ""), ("kserve", "/openai")])
async def test_what_words_would_let_pass_is_counted_and_not_sent(profile: str, prefix: str) -> None:
    server = Counting(prefix)
    async with server.serve() as url:
        short, long = await judged(url, SYLLABLES, SYLLABLES * 2, profile=profile)
    # 1,600 tokens fit into 2,900 with their question; 3,200 do not.
    assert short.status is VerdictStatus.MET
    assert long.reason is UnknownReason.TOO_LONG
    assert server.chats == 1


async def test_each_text_is_counted_once_and_what_surely_fits_never() -> None:
    server = Counting()
    async with server.serve() as url:
        await judged(url, "A cat sleeps.")
        assert server.counted == []
        await judged(url, *[SYLLABLES] * 3, *[SYLLABLES + "en"] * 3)
    assert len(server.counted) == len(set(server.counted))
    # The system message, which all share, and a user message for either response.
    assert len(server.counted) == 3
    assert server.chats == 7


async def test_more_words_than_the_judge_reads_tokens_need_no_count() -> None:
    server = Counting()
    async with server.serve() as url:
        (verdict,) = await judged(url, "long " * 3000)
    assert verdict.reason is UnknownReason.TOO_LONG
    assert (server.counted, server.chats) == ([], 0)


async def test_a_server_without_the_route_is_asked_once_and_words_count(caplog: pytest.LogCaptureFixture) -> None:
    server = Counting()
    with caplog.at_level(logging.WARNING, "components.judge"):
        async with server.serve(tokenizes=False) as url:
            verdicts = await judged(url, SYLLABLES * 2, SYLLABLES * 3)
    assert [verdict.status for verdict in verdicts] == [VerdictStatus.MET] * 2
    told = [each.getMessage() for each in caplog.records if "words are counted from now on" in each.getMessage()]
    assert len(told) == 1
    assert "status 404" in told[0]


@pytest.mark.parametrize("reply", [{"tokens": []}, {"count": "7"}, {"count": -1}, {"count": True}])
async def test_a_reply_without_a_count_is_no_count(reply: Any) -> None:
    server = Counting(reply=reply)
    async with server.serve() as url:
        verdicts = await judged(url, *(SYLLABLES + "x" * n for n in range(6)))
    assert {verdict.status for verdict in verdicts} == {VerdictStatus.MET}
    # After three in a row no more is asked.
    assert len(server.counted) == 3


async def test_callers_at_once_share_one_count() -> None:
    server = Counting(seconds=0.05)
    async with server.serve() as url:
        judge = build_judge(
            spec(profile="vllm", context_tokens=3000, max_answer_tokens=100, cache=False), RUBRIC, url, None
        )
        await asyncio.gather(*(judge.judge(sample(SYLLABLES, name=f"s{n}")) for n in range(8)))
        await judge.close()
    assert len(server.counted) == len(set(server.counted)) == 2


async def test_the_likelihood_ratio_counts_too() -> None:
    server = Counting()
    async with server.serve() as url:
        (verdict,) = await judged(url, SYLLABLES * 2, reward=REWARD)
    assert verdict.reason is UnknownReason.TOO_LONG
    assert server.chats == 0


async def test_a_criterion_that_never_fits_says_whose_count_it_is() -> None:
    server = Counting()
    async with server.serve() as url:
        judge = build_judge(spec(profile="vllm", context_tokens=2000, max_answer_tokens=100), RUBRIC, url, None)
        with pytest.raises(JudgeError, match=r"tokens as its server counts \(/tokenize\)"):
            await judge.judge(sample("A cat.", Criterion(SYLLABLES * 2)))
        await judge.close()


@pytest.mark.parametrize(
    ("profile", "tokenizes", "told"),
    [("vllm", True, "at its server (/tokenize)"), ("vllm", False, "words, one token each"), ("auto", True, "words")],
)
async def test_the_probe_says_how_prompts_are_counted(profile: str, tokenizes: bool, told: str) -> None:
    server = Counting()
    async with server.serve(tokenizes=tokenizes) as url:
        report = await probe(spec(profile=profile), RUBRIC, url)
    assert told in report.counted
    (line,) = (line for line in report.table() if line.startswith("prompts are counted by"))
    assert line.endswith(report.counted)
