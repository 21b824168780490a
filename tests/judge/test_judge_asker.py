"""Calls over real HTTP: cache before budget before network, one row a call, and never a number for a failure."""

import asyncio
import dataclasses
import time
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from chat_servers import Behaviour, ChatServer, chunk, completion, events, say
from judge_servers import spec

from components.core.spec.judge_limits import JudgeBudget, JudgePrice
from components.judge.asker import Asker
from components.judge.build import build_transport
from components.judge.calls import Answer, Call, Message, Usage
from components.judge.failures import Failure
from components.judge.memory import Budget, Cache, Ledger
from components.judge.profiles import profile_for
from components.judge.transport.once import Once
from components.judge.verdict import UnknownReason


def call(text: str = "Is it so?", **changes: Any) -> Call:
    return Call((Message("user", text),), **{"max_tokens": 16, **changes})


async def ask(server: ChatServer, *calls: Call, judge: Any = None, **parts: Any) -> list[Answer | Failure]:
    judge = judge or spec()
    async with server.serve() as url, Once(url, key=None, timeout=2.0) as wire:
        asker = Asker(judge, profile_for(judge, url), wire, protocol="rubric/1", **parts)
        return list(await asyncio.gather(*(asker(each) for each in calls)))


async def test_an_answer_carries_text_tokens_and_its_row(tmp_path: Path) -> None:
    price = JudgePrice(prompt=2.0, completion=8.0, cached=1.0, currency="EUR")
    with Ledger(tmp_path / "ledger") as ledger:
        (answer,) = await ask(ChatServer(say(completion())), call(), judge=spec(price=price), ledger=ledger)
        (row,) = ledger.calls()
    assert isinstance(answer, Answer)
    assert (answer.text, answer.finish, answer.usage, answer.attempts) == ("met", "stop", Usage(100, 10, 40), 1)
    # 60 fresh tokens at 2, 40 cached at 1, 10 of the reply at 8, a million tokens each.
    assert row.cost == pytest.approx(240e-6)
    assert (row.currency, row.judge, row.protocol, row.purpose) == ("EUR", "scripted", "rubric/1", "ask")
    assert (row.attempts, row.finish, row.reason, row.from_cache, row.reply_chars) == (1, "stop", None, False, 3)
    assert (row.prompt_tokens, row.completion_tokens, row.cached_tokens) == (100, 10, 40)
    assert row.raw_id == answer.raw_id


async def test_equal_calls_at_once_are_one(tmp_path: Path) -> None:
    server = ChatServer(say(completion()))
    with Ledger(tmp_path / "ledger") as ledger:
        found = await ask(server, call(), call(), call("another"), ledger=ledger)
        assert len(ledger.calls()) == 2
    assert [each.attempts for each in found] == [1, 0, 1]
    assert len(server.bodies) == 2


async def test_the_cache_answers_without_network_or_budget(tmp_path: Path) -> None:
    server = ChatServer(say(completion()))
    cache = Cache(tmp_path / "cache")
    budget = Budget(JudgeBudget(calls=1))
    first = await ask(server, call(), cache=cache, budget=budget)
    with Ledger(tmp_path / "ledger") as ledger:
        again = await ask(server, call(), cache=cache, budget=budget, ledger=ledger)
        (row,) = ledger.calls()
    assert isinstance(first[0], Answer)
    assert isinstance(again[0], Answer)
    assert (again[0].text, again[0].raw_id, again[0].attempts) == ("met", first[0].raw_id, 0)
    assert (row.from_cache, row.attempts, row.prompt_tokens) == (True, 0, 0)
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "changes", [{"protocol": "rubric/2"}, {"sampling": "2"}, {"identity": "other weights"}], ids=str
)
async def test_the_cache_tells_protocol_draw_and_judge_apart(tmp_path: Path, changes: dict[str, str]) -> None:
    server = ChatServer(say(completion()))
    cache = Cache(tmp_path / "cache")
    judge = spec()
    async with server.serve() as url, Once(url, key=None, timeout=2.0) as wire:
        for parts in ({"protocol": "rubric/1"}, {"protocol": "rubric/1"}, {"protocol": "rubric/1", **changes}):
            await Asker(judge, profile_for(judge, url), wire, cache=cache, **parts)(call())
    assert len(server.bodies) == 2


@pytest.mark.parametrize("reply", [completion("cut", "length"), completion("", "stop"), {"choices": []}])
async def test_only_whole_good_replies_are_kept(tmp_path: Path, reply: Any) -> None:
    server = ChatServer(say(reply), say(reply), say(completion()))
    cache = Cache(tmp_path / "cache")
    await ask(server, call(), cache=cache)
    seen = len(server.bodies)
    await ask(server, call(), cache=cache)
    assert len(server.bodies) > seen


async def test_a_reached_budget_is_a_failure_that_says_which_limit(tmp_path: Path) -> None:
    server = ChatServer(say(completion()))
    with Ledger(tmp_path / "ledger") as ledger:
        found = await ask(
            server, *(call(str(number)) for number in range(3)), budget=Budget(JudgeBudget(calls=2)), ledger=ledger
        )
        reasons = sorted(str(row.reason) for row in ledger.calls())
    assert [isinstance(each, Answer) for each in found] == [True, True, False]
    assert isinstance(found[2], Failure)
    assert found[2].reason is UnknownReason.BUDGET
    assert "budget.calls" in found[2].detail
    assert len(server.bodies) == 2
    assert reasons == ["None", "None", "budget"]


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (say({"error": {"code": "data_inspection_failed"}}, 400), UnknownReason.REFUSED),
        (say({"error": {"code": "invalid_parameter_error"}}, 400), UnknownReason.REJECTED),
        (say(completion("", "content_filter")), UnknownReason.REFUSED),
        (say(completion(finish=None)), UnknownReason.NO_FINISH),
        (say(completion("")), UnknownReason.EMPTY_REPLY),
        (say([], 200), UnknownReason.UNPARSEABLE),
    ],
)
async def test_failures_are_typed_and_counted(tmp_path: Path, behaviour: Behaviour, reason: UnknownReason) -> None:
    server, budget = ChatServer(behaviour), Budget(JudgeBudget())
    with Ledger(tmp_path / "ledger") as ledger:
        (found,) = await ask(server, call(), ledger=ledger, budget=budget)
        (row,) = ledger.calls()
    assert isinstance(found, Failure)
    assert found.reason is reason
    assert row.reason == reason.value
    assert row.finish is None
    assert row.attempts == len(server.bodies) == budget.total.calls == found.attempts


async def test_a_failure_is_counted_for_the_caller_that_made_the_call(tmp_path: Path) -> None:
    server = ChatServer(say({"error": "no"}, 400))
    found = await ask(server, call(), call())
    assert [each.attempts for each in found] == [1, 0]
    assert len(server.bodies) == 1


async def test_a_dropped_reply_is_asked_for_anew(tmp_path: Path) -> None:
    server = ChatServer(say(completion("first")), say(completion("second")))
    cache = Cache(tmp_path / "cache")
    texts = []
    for drops in (False, True, False, False):
        (answer,) = await ask(server, call(), cache=cache)
        assert isinstance(answer, Answer)
        texts.append((answer.text, answer.attempts))
        if drops:
            answer.drop()
    assert texts == [("first", 1), ("first", 0), ("second", 1), ("second", 0)]


async def test_an_answer_bears_the_tokens_of_its_repetitions() -> None:
    (found,) = await ask(ChatServer(say(completion("")), say(completion())), call())
    assert isinstance(found, Answer)
    assert found.usage == Usage(200, 20, 80)


async def test_an_empty_reply_gets_a_second_chance() -> None:
    server = ChatServer(say(completion("")), say(completion("met")))
    (found,) = await ask(server, call())
    assert isinstance(found, Answer)
    assert (found.attempts, found.text) == (2, "met")


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (events(chunk("me"), chunk("t"), chunk(finish="stop")), "met"),
        (events(chunk("me"), done=False), UnknownReason.STREAM_CUT),
        (events(chunk("met")), UnknownReason.NO_FINISH),
        (events(chunk("met"), {"error": {"message": "boom", "code": 500}}), UnknownReason.STREAM_ERROR),
        (events({"error": {"code": "data_inspection_failed", "message": "no"}}), UnknownReason.REFUSED),
        (events(chunk(finish="stop")), UnknownReason.EMPTY_REPLY),
    ],
)
async def test_streams(behaviour: Behaviour, expected: str | UnknownReason) -> None:
    server = ChatServer(behaviour)
    (found,) = await ask(server, call(), judge=spec(stream="always"))
    assert server.bodies[0]["stream"] is True
    if isinstance(found, Answer):
        assert found.text == expected
    else:
        assert found.reason is expected


async def test_a_prompt_longer_than_the_judge_reads_is_told_before_the_call() -> None:
    server = ChatServer(say(completion()))
    (found,) = await ask(server, call("word " * 2040))
    assert isinstance(found, Failure)
    assert found.reason is UnknownReason.TOO_LONG
    assert "judge scripted" in found.detail
    assert server.bodies == []


async def test_a_cancelled_call_is_charged_and_recorded(tmp_path: Path) -> None:
    async def hang(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(1)
        return web.Response()

    server, budget, judge = ChatServer(hang), Budget(JudgeBudget(calls=1)), spec()
    with Ledger(tmp_path / "ledger") as ledger:
        async with server.serve() as url, Once(url, key=None, timeout=5.0) as wire:
            asker = Asker(judge, profile_for(judge, url), wire, ledger=ledger, budget=budget)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(asker(call()), 0.2)
            await asyncio.sleep(0.05)
        (row,) = ledger.calls()
    assert (row.reason, row.attempts) == ("timeout", 1)
    assert budget.total.calls == 1


@pytest.mark.parametrize("count", [10**11, 40_000])
async def test_a_count_of_tokens_that_the_prompt_cannot_have_says_nothing(count: int, tmp_path: Path) -> None:
    reply = completion() | {"usage": {"prompt_tokens": count, "completion_tokens": 3}}
    with Ledger(tmp_path / "l") as ledger:
        await ask(ChatServer(say(reply)), call(), ledger=ledger)
        (row,) = ledger.calls()
    assert (row.prompt_tokens, row.completion_tokens, row.cached_tokens) == (0, 3, 0)


async def test_who_joins_late_has_the_time_of_its_own_deadline() -> None:
    async def slow(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(0.8)
        return await say(completion("met"))(request, body)

    async with ChatServer(slow).serve() as url:
        patient = spec(timeout_seconds=20.0)
        transport = build_transport(patient, url)
        judge = Asker(patient, profile_for(patient, url), transport)
        now = time.monotonic()
        first = asyncio.create_task(judge(dataclasses.replace(call(), deadline=now + 0.4)))
        await asyncio.sleep(0.2)
        late = await judge(dataclasses.replace(call(), deadline=now + 20))
        await transport.close()
    given_up = await first
    assert isinstance(given_up, Failure)
    assert given_up.reason is UnknownReason.TIMEOUT
    assert isinstance(late, Answer)
