"""A server that repeats the API key: it is in nothing that is kept, wherever the server puts it."""

import asyncio
from collections.abc import AsyncIterator

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_server import raw_server, request

from components.judge.stream import assemble
from components.judge.transport.redaction import Redaction
from components.judge.transport.reply import Good, Trouble
from components.judge.transport.wire import HttpWire, ReadStream

KEY = "Kq7/secret-of-ours-and-long"
BARE = KEY.encode()
ESCAPED = b"".join(b"\\u%04X" % byte for byte in BARE)
HEAD = b"HTTP/1.1 %s X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def whole(body: bytes, status: bytes = b"200") -> bytes:
    return HEAD % (status, len(body)) + body


def delta(text: str) -> bytes:
    return b"data: " + orjson.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}) + b"\n\n"


def send(answer: bytes, read: ReadStream | None, *, pieces: int = 1 << 20) -> Good | Trouble:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        for at in range(0, len(answer), pieces):
            writer.write(answer[at : at + pieces])
            await writer.drain()
            await asyncio.sleep(0.0)

    async def run() -> Good | Trouble:
        async with raw_server(serve) as port:
            wire = HttpWire([f"http://127.0.0.1:{port}"], ["another-key", KEY], None)
            try:
                return await wire.send("POST", 0, 0, "/v1", b"{}", 20.0, read)
            finally:
                await wire.close()

    return asyncio.run(run())


def no_key(text: str) -> bool:
    return not any(KEY[at : at + 8] in text for at in range(len(KEY) - 7))


FINISH = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
ANSWERS = {
    "good": (whole(b'{"a": "%s"}' % BARE), None),
    "good, escaped": (whole(b'{"a": "%s"}' % ESCAPED), None),
    "good, escaped slash": (whole(b'{"a": "%s"}' % BARE.replace(b"/", b"\\/")), None),
    "no JSON": (whole(b"<html>" + b"x" * 40 + BARE), None),
    "cut at 300": (whole(orjson.dumps({"error": {"message": "x" * 280 + KEY}}), b"400"), None),
    "cut at 200": (whole(b"x" * 185 + BARE, b"500"), None),
    "escaped error": (whole(b'{"error": "%s"}' % ESCAPED, b"400"), None),
    "bad status line": (b"HTTP/1.1 " + BARE + b"\r\n\r\n", None),
    "bad header": (b"HTTP/1.1 200 OK\r\n" + b"y" * 85 + BARE * 400 + b"\r\n\r\n", None),
    "bad chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + BARE + b"\r\n", None),
    "redirection": (b"HTTP/1.1 302 X\r\nLocation: /" + b"z" * 185 + BARE + b"\r\nContent-Length: 0\r\n\r\n", None),
    "stream": (STREAM + delta(KEY) + FINISH, assemble),
    "stream, one character an event": (STREAM + b"".join(map(delta, KEY)) + FINISH, assemble),
    "stream, error": (STREAM + b'data: {"error": {"message": "%s%s"}}\n\n' % (b"x" * 290, BARE), assemble),
    "stream, no JSON": (STREAM + b"data: " + b"x" * 48 + BARE + b"\n\n", assemble),
    "stream, cut": (STREAM + delta(KEY), assemble),
}


@pytest.mark.parametrize("pieces", [1 << 20, 7])
@pytest.mark.parametrize("name", ANSWERS)
def test_the_key_is_nowhere(name: str, pieces: int) -> None:
    answer, read = ANSWERS[name]
    got = send(answer, read, pieces=len(answer) if len(answer) > 5000 else pieces)
    assert isinstance(got, Good) == (name.startswith("good") or name in ("stream", "stream, one character an event"))
    body = (got.body or b"").decode()
    assert KEY not in body
    assert "Kq7/s" not in "".join(orjson.loads(body).values()) if name.startswith("good") else True
    if isinstance(got, Good):
        assert KEY not in orjson.dumps(got.data).decode()
        assert "[key]" in orjson.dumps(got.data).decode()
    else:
        assert no_key(got.detail)


@given(st.lists(st.sampled_from([BARE, BARE[:5], BARE[:-1], b"Kq", b"x", b"\n"]), max_size=12), st.integers(1, 40))
def test_cut_anywhere_it_says_the_same(parts: list[bytes], size: int) -> None:
    text = b"".join(parts)

    async def give() -> AsyncIterator[bytes]:
        for at in range(0, len(text), size):
            yield text[at : at + size]

    async def run() -> bytes:
        return b"".join([piece async for piece in Redaction([KEY]).pieces(give())])

    assert asyncio.run(run()) == text.replace(BARE, b"[key]")


def test_what_is_too_short_to_be_a_key_stays_in_a_reply() -> None:
    assert Redaction(["EMPTY", None]).raw(b'{"a": "EMPTY"}') == b'{"a": "EMPTY"}'
    assert Redaction([KEY]).text(f"key {KEY[:9]}... of {KEY}") == "key [key]... of [key]"
