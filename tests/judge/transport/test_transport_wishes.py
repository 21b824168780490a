"""How long a server may ask to be left alone, at both ends."""

import asyncio

import pytest
from raw_server import raw_server, request

from components.judge.failures import Failure
from components.judge.transport import Limits, Transport
from components.judge.transport.reading import read_reply
from components.judge.transport.reply import Trouble


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after-ms": "250", "Retry-After": "1"}, 0.25),
        ({"Retry-After": "1000000000"}, 120.0),
        ({"retry-after-ms": "999999999999"}, 120.0),
        ({"Retry-After": "0"}, None),
        ({"Retry-After": "-5"}, None),
        ({}, None),
    ],
)
def test_a_wish_is_believed_within_bounds(headers: dict[str, str], wait: float | None) -> None:
    trouble = read_reply("http://j/v1", 429, headers, b"{}", None)
    assert isinstance(trouble, Trouble)
    assert trouble.wait == wait


@pytest.mark.parametrize("header", [b"Retry-After: 0", b"Retry-After: -5", b"retry-after-ms: 1"])
def test_a_server_that_asks_for_hardly_any_rest_is_not_asked_without_a_breath(header: bytes) -> None:
    calls = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal calls
        while await request(reader):
            calls += 1
            writer.write(b"HTTP/1.1 429 X\r\n%s\r\nContent-Length: 2\r\n\r\n{}" % header)
            await writer.drain()

    async def run() -> object:
        async with raw_server(serve) as port:
            limits = Limits(concurrency=4, sample_deadline=1.5)
            transport = Transport([f"http://127.0.0.1:{port}"], timeout=5.0, attempts=3, limits=limits)
            try:
                return await transport.post("/v1", {})
            finally:
                await transport.close()

    assert isinstance(asyncio.run(run()), Failure)
    # Full jitter from half a second on makes a handful; without it there were some seven hundred a second.
    assert 1 <= calls <= 60
