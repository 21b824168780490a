"""What the check says of servers that can do everything, little, or nothing."""

import asyncio
import contextlib
import math
import re
from pathlib import Path
from typing import Any

import psutil
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from chat_servers import ChatServer, completion, say
from judge_servers import spec

from components.judge.__main__ import main
from components.judge.check import Finding, check
from components.judge.server.app import build_app
from components.judge.server.engine import Engine


def by_name(found: list[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in found}


def test_the_embedded_server_does_all_but_schemas(engine: Engine) -> None:
    async def run() -> list[Finding]:
        server = TestServer(build_app(engine, "scripted-model"))
        await server.start_server()
        try:
            judge = spec(
                serving="embedded", endpoint=None, source={"kind": "tiny"}, timeout_seconds=60, context_tokens=512
            )
            return await check(judge, str(server.make_url("")), None)
        finally:
            await server.close()

    found = by_name(asyncio.run(run()))
    assert found["chat"].works
    assert "tokens a second" in found["chat"].text
    assert found["log-probabilities of the reply"].works
    assert "answer_logprobs: true" in found["log-probabilities of the reply"].remedy
    assert found["JSON schema"].works is None
    assert found["streaming"].works
    assert found["log-probabilities of the prompt"].works


@pytest.mark.parametrize(
    ("status", "error", "changes", "said"),
    [
        (401, {"message": "bad key"}, {}, "api_key_env"),
        (403, {"message": "bad key"}, {"api_key_env": "SOME_KEY"}, "SOME_KEY is not accepted"),
        (404, {"message": "no such route"}, {}, "/openai/v1"),
        (429, {"message": "slow down"}, {}, "requests_per_minute"),
        (400, {"message": "This model only support stream mode"}, {}, "stream: always"),
        (500, {"message": "boom"}, {}, "server runs"),
    ],
)
async def test_each_refusal_has_its_remedy(status: int, error: Any, changes: Any, said: str) -> None:
    async with ChatServer(say({"error": error}, status)).serve() as url:
        found = by_name(await check(spec(**changes), url, None))
    assert found["chat"].works is False
    assert found["chat"].needed
    assert said in found["chat"].remedy


async def test_a_server_without_what_the_judge_claims_is_told() -> None:
    reply = {"choices": [{"message": {"role": "assistant", "content": '{"c1": "met"}'}, "finish_reason": "stop"}]}
    async with ChatServer(say(reply)).serve() as url:
        found = by_name(await check(spec(logprobs=True, answer_logprobs=True), url, None))
    for name in ("log-probabilities of the reply", "log-probabilities of the prompt"):
        assert (found[name].works, found[name].needed) == (False, True)
    assert found["JSON schema"].works
    assert "profile: vllm" in found["JSON schema"].remedy


@pytest.mark.parametrize(("logprobs", "lines"), [(True, 6), (False, 2)])
async def test_a_model_without_words_may_still_be_asked_by_likelihood_ratio(logprobs: bool, lines: int) -> None:
    silent = {"choices": [{"message": {"role": "assistant", "content": ""}, "finish_reason": "length"}]}
    async with ChatServer(say(silent)).serve() as url:
        found = await check(spec(logprobs=logprobs), url, None)
    chat = by_name(found)["chat"]
    assert (chat.works, chat.needed, len(found)) == (False, not logprobs, lines)
    assert "max_answer_tokens" in chat.remedy


def test_nobody_there_is_an_error_with_a_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["check", "--judge", "external-example", "endpoint=http://127.0.0.1:9"])
    told = capsys.readouterr().out
    assert code == 1
    assert "generic; http://127.0.0.1:9/v1/chat/completions" in told
    assert "server runs" in told


def test_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "check" in capsys.readouterr().err
    assert main(["pars", "x"]) == 2
    told = capsys.readouterr().err
    assert "no command 'pars'; there are: check, serve, sweep, ledger, parse" in told
    assert main(["--help"]) == 0
    assert "no command" not in capsys.readouterr().err
    assert main(["check", "--judge", "no-such-judge"]) == 1
    assert "no-such-judge" in capsys.readouterr().err
    assert main(["serve", "--judge", "external-example"]) == 1
    assert "nothing to start" in capsys.readouterr().err


async def test_a_server_that_is_busy_is_not_told_to_lack_anything() -> None:
    busy = say({"error": {"message": "slow down"}}, 429)
    server = ChatServer(say(completion("Yes.")), busy)
    async with server.serve() as url:
        told = by_name(await check(spec(), url, None))
    assert told["chat"].works
    for name in ("log-probabilities of the reply", "streaming"):
        assert (told[name].works, told[name].remedy) == (None, "")
        assert "429" in told[name].text


async def test_a_page_is_no_server_and_a_thought_is_no_answer() -> None:
    async def page(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
        return web.Response(text="<html>welcome</html>", content_type="text/html")

    for behaviour, said in ((page, "no OpenAI server at this URL"), (say(completion("<think>Hmm, it")), "thinking")):
        server = ChatServer(behaviour)
        async with server.serve() as url:
            chat = (await check(spec(logprobs=False), url, None))[1]
        assert chat.works is False
        assert chat.needed
        assert said in chat.text + chat.remedy


def test_a_judge_that_is_served_here_is_started_for_the_check(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path))
    main(["check", "--judge", "tiny-lr"])
    told = capsys.readouterr().out
    assert "its server is started for this check" in told
    assert re.search(r"log-probabilities of the prompt +yes", told)
    assert not [each for each in psutil.process_iter() if str(tmp_path) in " ".join(_argv(each))]


def test_where_a_judge_runs_may_be_named_for_any_serving(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAVEL_STATE", str(tmp_path))
    assert main(["check", "--judge", "qwen3-8b", "endpoint=http://127.0.0.1:9"]) == 1
    assert "http://127.0.0.1:9/v1/chat/completions" in capsys.readouterr().out
    assert main(["check", "--judge", "qwen3-8b"]) == 1
    assert 'make check-judge JUDGE=qwen3-8b SET="endpoint=URL"' in capsys.readouterr().err


def _argv(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return []


def one_token(*chances: tuple[str, float]) -> dict[str, Any]:
    """A reply of one token with the natural log-probabilities of its alternatives."""
    top = [{"token": text, "logprob": math.log(chance)} for text, chance in chances]
    choice = {"message": {"role": "assistant", "content": chances[0][0]}, "finish_reason": "length"}
    return {"choices": [choice | {"logprobs": {"content": [top[0] | {"top_logprobs": top}]}}]}


@pytest.mark.parametrize(
    ("chances", "said", "hint"),
    [
        ([("Yes", 0.5), (" yes", 0.25), ("No", 0.125)], "yes and no have 0.88 together", ""),
        ([("A", 0.75), ("yes", 0.125), ("no", 0.0625)], "yes and no have 0.19 together", "reward.min_mass below 0.19"),
        ([("A", 0.75), ("B", 0.25)], "yes and no have 0 together", "rubric_token is not for it"),
    ],
)
async def test_the_mass_that_rubric_token_needs_is_told(chances: list[tuple[str, float]], said: str, hint: str) -> None:
    server = ChatServer(say(completion("Yes.")), say(one_token(*chances)))
    async with server.serve() as url:
        found = by_name(await check(spec(answer_logprobs=True), url, None))["log-probabilities of the reply"]
    assert found.works
    assert f"up to {len(chances)} alternatives; {said}" in found.text
    assert hint in found.remedy
    assert bool(hint) == bool(found.remedy)
    # It is asked as the protocol asks.
    assert (server.bodies[1]["max_tokens"], server.bodies[1]["top_logprobs"]) == (1, 20)


async def test_what_a_server_says_is_bounded_and_has_no_key() -> None:
    key = "a-key-of-some-length"

    async def echo(request: web.Request, _: dict[str, Any]) -> web.StreamResponse:
        return web.json_response({"error": {"message": request.headers["Authorization"]}}, status=400)

    async def flood(request: web.Request, _: dict[str, Any]) -> web.StreamResponse:
        stream = web.StreamResponse()
        await stream.prepare(request)
        with contextlib.suppress(ConnectionError):
            for _number in range(1000):
                await stream.write(b" " * (1 << 20))
        return stream

    async def away(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
        raise web.HTTPTemporaryRedirect("http://127.0.0.1:9/elsewhere")

    for behaviour, said in ((echo, "[key]"), (flood, "bytes in one reply"), (away, "calls are not sent on")):
        async with ChatServer(behaviour).serve() as url:
            chat = (await check(spec(timeout_seconds=20), url, key))[1]
        assert said in chat.text
        assert key not in chat.text
