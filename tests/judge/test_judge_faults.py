"""Every fault of a judge gives its reason and no number. Each server here speaks real HTTP."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from judge_servers import (
    ANIMAL,
    FOOD,
    REWARD,
    Behaviour,
    Scripted,
    changed,
    choice,
    completion,
    fixed,
    good,
    reply,
    sample,
    spec,
    text,
)

from components.judge.build import build_judge
from components.judge.memory import Ledger
from components.judge.verdict import Sample, UnknownReason, Verdict, VerdictStatus


def ask(server: Scripted, *samples: Sample, ledger: Ledger | None = None, **changes: Any) -> list[list[Verdict]]:
    async def run() -> list[list[Verdict]]:
        async with server.serve() as url:
            judge = build_judge(spec(**changes), REWARD, url, ledger)
            try:
                return list(await asyncio.gather(*(judge.judge(each) for each in samples or (sample(),))))
            finally:
                await judge.close()

    return asyncio.run(run())


async def hang(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
    await asyncio.sleep(30)
    raise AssertionError("unreachable")


async def reset_in_body(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "100000"})
    await response.prepare(request)
    await response.write(b'{"choices": [')
    assert request.transport is not None
    request.transport.abort()
    return response


async def cut_chunked(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    response = web.StreamResponse()
    response.enable_chunked_encoding()
    await response.prepare(request)
    await response.write(b'{"choices": [')
    assert request.transport is not None
    request.transport.close()
    return response


def first_block(change: Callable[[dict[str, Any]], None]) -> Behaviour:
    return changed(lambda data: change(data["choices"][0]["logprobs"]))


def no_echo(data: dict[str, Any]) -> None:
    """What llama.cpp does: the completion alone, with its own log-probabilities."""
    for number, _ in enumerate(data["choices"]):
        data["choices"][number] = {**choice(number, " Sure"), "text": " Sure"}


ERROR = {"error": {"message": "the engine died", "type": "server_error", "code": None}}
LONG = {
    "error": {
        "message": "This model's maximum context length is 16 tokens. However, you requested 90 tokens.",
        "type": "BadRequestError",
        "code": 400,
    }
}
FAULTS: dict[str, tuple[Behaviour, UnknownReason, int | None]] = {
    "hangs": (hang, UnknownReason.TIMEOUT, 2),
    "reset in the body": (reset_in_body, UnknownReason.JUDGE_DOWN, 2),
    "cut chunked body": (cut_chunked, UnknownReason.JUDGE_DOWN, 2),
    "500": (fixed(ERROR, 500), UnknownReason.JUDGE_DOWN, 2),
    "502 with a page": (text("<html>Bad gateway</html>", 502), UnknownReason.JUDGE_DOWN, 2),
    "503 for ever": (fixed(ERROR, 503), UnknownReason.JUDGE_DOWN, None),
    "429 for ever": (fixed(ERROR, 429), UnknownReason.JUDGE_DOWN, None),
    "429 asking for more time than there is": (fixed(ERROR, 429, **{"Retry-After": "60"}), UnknownReason.JUDGE_DOWN, 1),
    "401": (fixed({"error": "Unauthorized"}, 401), UnknownReason.REJECTED, 1),
    "403": (text("no", 403), UnknownReason.REJECTED, 1),
    "404": (fixed({"detail": "Not Found"}, 404), UnknownReason.REJECTED, 1),
    "400": (fixed({"object": "error", "message": "bad echo", "code": 400}, 400), UnknownReason.REJECTED, 1),
    "400 too long": (fixed(LONG, 400), UnknownReason.TOO_LONG, 1),
    "413": (text("Request Entity Too Large", 413), UnknownReason.TOO_LONG, 1),
    "200 with an error": (fixed(ERROR), UnknownReason.UNPARSEABLE, 1),
    "200 with vLLM's error": (fixed({"object": "error", "message": "x", "code": 500}), UnknownReason.JUDGE_DOWN, 2),
    "200 with an error of 400": (fixed({"error": {"message": "no", "code": 400}}), UnknownReason.REJECTED, 1),
    "200 with a page": (text("<!doctype html><h1>Welcome</h1>"), UnknownReason.UNPARSEABLE, 2),
    "200 and empty": (text(""), UnknownReason.UNPARSEABLE, 2),
    "200 with half a JSON": (text('{"choices": [', content_type="application/json"), UnknownReason.UNPARSEABLE, 2),
    "a list": (fixed([1, 2]), UnknownReason.UNPARSEABLE, 1),
    "no choices": (fixed({"object": "text_completion"}), UnknownReason.UNPARSEABLE, 1),
    "one choice too few": (changed(lambda d: d["choices"].pop()), UnknownReason.UNPARSEABLE, 1),
    "one choice twice": (changed(lambda d: d["choices"][1].update(index=0)), UnknownReason.UNPARSEABLE, 1),
    "choice without index": (changed(lambda d: d["choices"][1].pop("index")), UnknownReason.UNPARSEABLE, 1),
    "choices swapped": (
        changed(lambda d: [c.update(index=1 - c["index"]) for c in d["choices"]] and None),
        UnknownReason.UNPARSEABLE,
        1,
    ),
    "logprobs ignored": (changed(lambda d: d["choices"][0].update(logprobs=None)), UnknownReason.UNPARSEABLE, 1),
    "echo ignored": (changed(no_echo), UnknownReason.UNPARSEABLE, 1),
    "a list too short": (first_block(lambda b: b["token_logprobs"].pop()), UnknownReason.UNPARSEABLE, 1),
    "a list too long": (first_block(lambda b: b["token_logprobs"].append(-1.0)), UnknownReason.UNPARSEABLE, 1),
    "offsets of another length": (first_block(lambda b: b["text_offset"].pop()), UnknownReason.UNPARSEABLE, 1),
    "a token missing in both lists": (
        first_block(lambda b: [b[name].pop() for name in ("tokens", "token_logprobs", "text_offset")] and None),
        UnknownReason.UNPARSEABLE,
        1,
    ),
    "null in the response": (
        first_block(lambda b: b["token_logprobs"].__setitem__(-1, None)),
        UnknownReason.UNPARSEABLE,
        1,
    ),
    "text for a number": (
        first_block(lambda b: b["token_logprobs"].__setitem__(-2, "-1")),
        UnknownReason.UNPARSEABLE,
        1,
    ),
    "a boolean": (first_block(lambda b: b["token_logprobs"].__setitem__(-2, True)), UnknownReason.UNPARSEABLE, 1),
    "a positive one": (first_block(lambda b: b["token_logprobs"].__setitem__(-2, 0.7)), UnknownReason.UNPARSEABLE, 1),
    "a log-probability of -1e400": (
        text('{"choices": [{"index": 0, "logprobs": {"tokens": ["a"], "token_logprobs": [-1e400]}}]}'),
        UnknownReason.UNPARSEABLE,
        None,
    ),
    "other tokens in the second prompt": (
        changed(lambda d: d["choices"][1]["logprobs"]["tokens"].__setitem__(-1, "!")),
        UnknownReason.UNPARSEABLE,
        1,
    ),
}


ENDLESS = ("hangs", "503 for ever", "429 for ever")
"""Faults that end with the judge's patience alone; all others are told whatever time a busy machine takes."""


@pytest.mark.parametrize("fault", list(FAULTS))
def test_a_fault_gives_its_reason_and_no_number(fault: str, tmp_path: Path) -> None:
    behaviour, reason, calls = FAULTS[fault]
    server = Scripted(behaviour)
    patience = {"timeout_seconds": 0.6} if fault in ENDLESS else {}
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        (verdicts,) = ask(server, sample("A cat sleeps.", ANIMAL, FOOD), ledger=ledger, **patience)
        assert [v.status for v in verdicts] == [VerdictStatus.UNKNOWN] * 2
        assert [v.reason for v in verdicts] == [reason] * 2
        assert all(v.probability is None and v.log_ratio is None for v in verdicts)
        assert calls is None or verdicts[0].attempts == calls == len(server.bodies)
        assert [row.reason for row in ledger.rows()] == [reason.value] * 2
        assert all(row.probability is None and row.log_ratio is None for row in ledger.rows())
        ((sample_id, detail, _),) = ledger.failures()
        assert sample_id == "s"
        assert detail


def not_a_number(kind: str) -> Behaviour:
    async def answer(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        # Python's own json writes NaN and Infinity, and so do servers that use it.
        import json

        data = completion(body)
        data["choices"][1]["logprobs"]["token_logprobs"][-1] = float(kind)
        return web.Response(text=json.dumps(data), content_type="application/json")

    return answer


@pytest.mark.parametrize("kind", ["nan", "inf", "-inf"])
def test_nan_and_infinity_are_no_numbers(kind: str) -> None:
    ((verdict,),) = ask(Scripted(not_a_number(kind)))
    assert (verdict.status, verdict.reason) == (VerdictStatus.UNKNOWN, UnknownReason.UNPARSEABLE)


def test_a_storm_of_429_passes_and_all_are_judged() -> None:
    storm = [fixed(ERROR, 429, **{"Retry-After": "0.1"})] * 6
    server = Scripted(*storm, good)
    results = ask(server, *(sample(name=f"s{n}") for n in range(4)), timeout_seconds=5.0)
    assert all(v.status is not VerdictStatus.UNKNOWN for verdicts in results for v in verdicts)
    assert len(server.bodies) == 10
    assert sum(verdicts[0].attempts for verdicts in results) == 10


def test_one_failure_then_a_right_reply_is_a_verdict() -> None:
    for behaviour in (reset_in_body, fixed(ERROR, 500), text("<html>")):
        ((verdict,),) = ask(Scripted(behaviour, good))
        assert verdict.status is not VerdictStatus.UNKNOWN
        assert verdict.attempts == 2


def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"

        async def run() -> list[list[Verdict]]:
            judge = build_judge(spec(timeout_seconds=0.5), REWARD, url, None)
            try:
                return list(await asyncio.gather(*(judge.judge(sample(name=f"{n}")) for n in range(8))))
            finally:
                await judge.close()

        results = asyncio.run(run())
    assert {v.reason for verdicts in results for v in verdicts} == {UnknownReason.JUDGE_DOWN}


def test_a_judge_that_comes_back_in_time_is_used() -> None:
    async def run() -> list[Verdict]:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        judge = build_judge(spec(timeout_seconds=5.0), REWARD, f"http://127.0.0.1:{port}", None)
        asked = asyncio.create_task(judge.judge(sample()))
        await asyncio.sleep(0.5)
        server = Scripted(good)
        app = web.Application()
        app.router.add_post("/v1/completions", server.completions)
        app.router.add_get("/v1/models", server.list_models)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        try:
            return await asked
        finally:
            await judge.close()
            await runner.cleanup()

    (verdict,) = asyncio.run(run())
    assert verdict.status is not VerdictStatus.UNKNOWN


def test_a_wrong_route_gives_the_hint(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite") as ledger:
        ask(Scripted(fixed({"detail": "Not Found"}, 404)), ledger=ledger)
        ((_, detail, body),) = ledger.failures()
    assert "/openai/v1" in detail
    assert "/v1" in detail
    assert body == b'{"detail":"Not Found"}'


@pytest.mark.parametrize("response", ["", "  ", "\n\t ", "\u3000"])
def test_nothing_to_judge_is_not_asked(response: str) -> None:
    server = Scripted(good)
    ((verdict,),) = ask(server, sample(response))
    assert (verdict.reason, verdict.attempts, server.bodies) == (UnknownReason.EMPTY_RESPONSE, 0, [])


def test_more_words_than_the_judge_reads_tokens_is_not_asked() -> None:
    server = Scripted(good)
    ((verdict,),) = ask(server, sample("word " * 3000))
    assert (verdict.reason, verdict.attempts, server.bodies) == (UnknownReason.TOO_LONG, 0, [])


def test_no_more_calls_at_once_than_allowed() -> None:
    under_way: list[int] = [0, 0]

    async def slow(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        under_way[0] += 1
        under_way[1] = max(under_way)
        await asyncio.sleep(0.03)
        under_way[0] -= 1
        return reply(completion(body))

    results = ask(Scripted(slow), *(sample(name=f"{n}") for n in range(12)), max_concurrency=3, timeout_seconds=5.0)
    assert all(v.status is not VerdictStatus.UNKNOWN for verdicts in results for v in verdicts)
    assert under_way[1] == 3
