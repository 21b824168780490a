"""What the network and lying servers do, over real sockets: each a typed failure that says what to do."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
from raw_server import Answer, raw_server, request

from components.judge.failures import Failure
from components.judge.stream import assemble
from components.judge.transport import Limits, Reply, Transport
from components.judge.transport.reply import Good, Trouble
from components.judge.transport.wire import HttpWire, ReadStream
from components.judge.verdict import UnknownReason

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def fixed(data: bytes, *, keep_open: bool = False) -> Answer:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(data)
        await writer.drain()
        if keep_open:
            await asyncio.sleep(60.0)

    return answer


def status(code: int, data: Any, **headers: str) -> Answer:
    body = orjson.dumps(data)
    more = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return fixed(f"HTTP/1.1 {code} X\r\n{more}Content-Length: {len(body)}\r\n\r\n".encode() + body)


def endless(head: bytes, piece: bytes, pause: float = 0.0) -> Answer:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(head)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


def call(
    answer: Answer, *, scheme: str = "http", keys: tuple[str, ...] = (), read: ReadStream | None = None, **more: Any
) -> Reply | Failure:
    async def run() -> Reply | Failure:
        async with raw_server(answer) as port:
            url = f"{scheme}://127.0.0.1:{port}"
            settings = {"timeout": 10.0, "attempts": 1, "limits": Limits(), **more}
            transport = Transport([url], keys=keys, **settings)
            try:
                return await transport.post("/v1/chat/completions", {"a": 1}, read=read)
            finally:
                await transport.close()

    return asyncio.run(run())


def send(answer: Answer, read: ReadStream | None = None, most: int = 100_000) -> Good | Trouble:
    async def run() -> Good | Trouble:
        async with raw_server(answer) as port:
            wire = HttpWire([f"http://127.0.0.1:{port}"], [None], None, most=most)
            try:
                return await wire.send("POST", 0, 0, "/v1", b"{}", 20.0, read)
            finally:
                await wire.close()

    return asyncio.run(run())


ZEROS = gzip.compress(b" " * 10_000_000)


@pytest.mark.parametrize(
    "answer",
    [
        endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"2000\r\n" + b"x" * 0x2000 + b"\r\n"),
        endless(OK + b"\r\n", b"x" * 8192),
        endless(OK + b"Content-Length: 99999999999\r\n\r\n", b"x" * 8192),
        fixed(OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(ZEROS) + ZEROS, keep_open=True),
    ],
    ids=["chunked", "until it closes", "announced", "compressed"],
)
def test_a_reply_without_end_is_cut(answer: Answer) -> None:
    got = send(answer)
    assert isinstance(got, Trouble)
    assert got.reason is UnknownReason.UNPARSEABLE
    assert "more than 100000 bytes" in got.detail
    assert not got.again


def test_a_stream_without_end_is_cut() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    got = send(endless(head, b": nothing\n\n" * 100), read=assemble)
    assert isinstance(got, Trouble)
    assert got.reason is UnknownReason.STREAM_ERROR
    assert "more than 100000 bytes" in got.detail
    assert len(got.body or b"") <= 65536


def test_a_reply_just_below_the_limit_is_read() -> None:
    body = orjson.dumps({"a": "x" * 99_000})
    got = send(fixed(OK + b"Content-Length: %d\r\n\r\n" % len(body) + body))
    assert isinstance(got, Good)
    assert got.body == body


@pytest.mark.parametrize("head", [OK + b"Content-Length: 100000\r\n\r\n", OK], ids=["body", "headers"])
def test_a_server_that_drips_runs_into_the_time_limit(head: bytes) -> None:
    got = call(endless(head, b"x", 0.05), timeout=0.5)
    assert isinstance(got, Failure)
    assert got.reason is UnknownReason.TIMEOUT


def test_a_dripping_stream_runs_into_the_time_limit() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    got = call(endless(head, b": wait\n\n", 0.05), timeout=0.5, read=assemble)
    assert isinstance(got, Failure)
    assert got.reason is UnknownReason.TIMEOUT


def test_a_stream_that_is_cut_says_so() -> None:
    piece = b'data: {"choices": [{"index": 0, "delta": {"content": "met"}}]}\n\n'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 5000\r\n\r\n"
    got = call(fixed(head + piece), read=assemble)
    assert isinstance(got, Failure)
    assert got.reason is UnknownReason.STREAM_CUT


def test_the_body_of_a_streamed_reply_is_json_for_the_cache() -> None:
    piece = b'data: {"choices": [{"index": 0, "delta": {"content": "met"}, "finish_reason": "stop"}]}\n\n'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    got = call(fixed(head + piece + b"data: [DONE]\n\n"), read=assemble)
    assert isinstance(got, Reply)
    assert orjson.loads(got.body) == got.data
    assert got.data["choices"][0]["message"]["content"] == "met"


def test_a_reader_that_stumbles_is_not_a_wrong_url() -> None:
    async def stumble(chunks: AsyncIterator[bytes]) -> dict[str, Any]:
        async for chunk in chunks:
            int(chunk)
        return {}

    got = call(fixed(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nmet"), read=stumble)
    assert isinstance(got, Failure)
    assert got.reason is UnknownReason.STREAM_ERROR
    assert "not a URL" not in got.detail


def test_no_http_at_all() -> None:
    got = call(fixed(b"SSH-2.0-OpenSSH_9.6\r\n"))
    assert isinstance(got, Failure)
    assert got.reason is UnknownReason.JUDGE_DOWN


def test_tls_to_a_plain_port_ends_at_once_with_the_remedy() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()

    got = call(answer, scheme="https", timeout=30.0)
    assert isinstance(got, Failure)
    assert (got.reason, got.attempts) == (UnknownReason.REJECTED, 1)
    assert "speaks no TLS" in got.detail


def unresolved(*urls: str, **more: Any) -> Reply | Failure:
    async def run() -> Reply | Failure:
        transport = Transport(urls, timeout=1.0, attempts=1, limits=Limits(), **more)
        try:
            return await transport.post("/v1", {})
        finally:
            await transport.close()

    return asyncio.run(run())


def test_a_name_that_nobody_knows() -> None:
    got = unresolved("http://no-such-host.invalid")
    assert isinstance(got, Failure)
    assert got.reason is UnknownReason.JUDGE_DOWN
    assert "no-such-host.invalid" in got.detail


@pytest.mark.parametrize("url", ["http://[::1", "http://a:99999999", "no scheme", "ftp://127.0.0.1"])
def test_what_is_no_url_ends_at_once(url: str) -> None:
    got = unresolved(url)
    assert isinstance(got, Failure)
    assert (got.reason, got.attempts) == (UnknownReason.REJECTED, 1)


def test_a_key_that_no_header_takes_is_not_shown() -> None:
    got = call(status(200, {}), keys=("first\nsecond",))
    assert isinstance(got, Failure)
    assert got.reason is UnknownReason.REJECTED
    assert "second" not in got.detail


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirection_is_named_and_not_followed(code: int) -> None:
    got = call(status(code, {}, Location="https://other.example/v1/x?token=abc"))
    assert isinstance(got, Failure)
    assert (got.reason, got.attempts) == (UnknownReason.REJECTED, 1)
    assert "redirected to https://other.example/v1/x;" in got.detail
    assert "abc" not in got.detail


def test_a_key_that_an_error_repeats_is_left_out() -> None:
    error = {"error": {"message": "Incorrect API key provided: secret-of-ours.", "code": "invalid_api_key"}}
    got = call(status(401, error), keys=("secret-of-ours",))
    assert isinstance(got, Failure)
    assert "secret-of-ours" not in got.detail
    assert b"secret-of-ours" not in (got.body or b"")
    assert "Incorrect API key provided" in got.detail


HINTS = {
    "wrong key": (401, {"error": {"message": "Unauthorized"}}, UnknownReason.REJECTED, "api_key_env"),
    "unpaid": (429, {"error": {"code": "insufficient_quota"}}, UnknownReason.REJECTED, "api_key_env"),
    "unknown model": (
        404,
        {"object": "error", "message": "The model `x` does not exist.", "code": 404},
        UnknownReason.REJECTED,
        "model_name",
    ),
    "wrong route": (404, {"detail": "Not Found"}, UnknownReason.REJECTED, "KServe serves /openai/v1, plain vLLM /v1"),
    "wrong method": (405, {"detail": "Method Not Allowed"}, UnknownReason.REJECTED, "/openai/v1"),
    "OpenAI, too long": (
        400,
        {"error": {"message": "too many tokens", "code": "context_length_exceeded"}},
        UnknownReason.TOO_LONG,
        "too many tokens",
    ),
    "vLLM, too long": (
        400,
        {"message": "This model's maximum context length is 16 tokens. However, you requested 90 tokens."},
        UnknownReason.TOO_LONG,
        "16 tokens",
    ),
    "llama.cpp, too long": (
        400,
        {"error": {"message": "the request exceeds the available context size", "code": 400}},
        UnknownReason.TOO_LONG,
        "context size",
    ),
    "DashScope, too long": (
        400,
        {"error": {"message": "Range of input length should be [1, 30720]"}},
        UnknownReason.TOO_LONG,
        "30720",
    ),
}


@pytest.mark.parametrize("name", HINTS)
def test_hints(name: str) -> None:
    code, body, reason, hint = HINTS[name]
    got = call(status(code, body))
    assert isinstance(got, Failure)
    assert (got.reason, got.attempts) == (reason, 1)
    assert hint in got.detail
