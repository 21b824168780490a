"""Replies that make a careless reader raise: each is a typed failure."""

import asyncio

import pytest
from raw_server import raw_server, request

from components.judge.stream import assemble
from components.judge.transport.reply import Trouble
from components.judge.transport.wire import HttpWire
from components.judge.verdict import UnknownReason

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
END = b'data: {"choices": [{"index": 0, "delta": {"content": "met"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def error(status: bytes, body: bytes, header: bytes = b"X: y") -> bytes:
    return (
        b"HTTP/1.1 %s X\r\n%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        % (status, header, len(body))
        + body
    )


DOWN, REJECTED = UnknownReason.JUDGE_DOWN, UnknownReason.REJECTED
BROKEN = UnknownReason.STREAM_ERROR
ANSWERS = {
    "milliseconds beyond a float": (error(b"429", b"{}", b"retry-after-ms: " + b"9" * 400), DOWN),
    "milliseconds beyond an int": (error(b"429", b"{}", b"retry-after-ms: " + b"9" * 5000), DOWN),
    "zone beyond a date": (
        error(b"429", b"{}", b"Retry-After: Mon, 01 Jan 2024 00:00:00 +99999999999999999999"),
        DOWN,
    ),
    "nested error": (error(b"400", b'{"error": %s}' % nested(985)), REJECTED),
    "long code": (error(b"200", b'{"error": {"code": "%s"}}' % (b"4" * 9000)), UnknownReason.UNPARSEABLE),
    "stream, nested error": (STREAM + b'data: {"error": %s}\n\n' % nested(985), BROKEN),
    "stream, nested message": (STREAM + b'data: {"error": {"message": %s}}\n\n' % nested(980), BROKEN),
    "stream, code a list": (STREAM + b'data: {"error": {"message": "x", "code": [1]}}\n\n', BROKEN),
    "stream, code an object": (STREAM + b'data: {"error": {"message": "x", "code": {}}}\n\n', BROKEN),
    "stream, long code": (STREAM + b'data: {"error": {"code": "%s"}}\n\n' % (b"5" * 9000), BROKEN),
    "stream, nested usage": (STREAM + b'data: {"usage": {"a": %s}}\n\n' % nested(300) + END, BROKEN),
    "stream, nested id": (STREAM + b'data: {"id": %s}\n\n' % nested(300) + END, BROKEN),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_it_raises_nothing(name: str) -> None:
    answer, reason = ANSWERS[name]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(answer)
        await writer.drain()

    async def run() -> object:
        async with raw_server(serve) as port:
            wire = HttpWire([f"http://127.0.0.1:{port}"], [None], None)
            try:
                return await wire.send("POST", 0, 0, "/v1", b"{}", 20.0, assemble)
            finally:
                await wire.close()

    got = asyncio.run(run())
    assert isinstance(got, Trouble)
    assert got.reason is reason
    assert got.wait is None or got.wait < float("inf")
