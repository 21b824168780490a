"""A reply that nobody asked for answers nobody."""

import asyncio

import orjson
from raw_server import raw_server, request

from components.judge.transport import Limits, Reply, Transport


def reply(number: int) -> bytes:
    body = orjson.dumps({"number": number})
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


def test_a_second_reply_on_an_idle_connection_is_not_the_next_calls() -> None:
    connections = 0
    asked = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections, asked
        connections += 1
        while await request(reader):
            asked += 1
            writer.write(reply(asked))
            await writer.drain()
            if asked == 1:
                await asyncio.sleep(0.05)
                writer.write(reply(666))
                await writer.drain()

    async def run() -> list[object]:
        async with raw_server(serve) as port:
            url, limits = f"http://127.0.0.1:{port}", Limits(concurrency=1)
            transport = Transport([url], timeout=5.0, attempts=1, limits=limits)
            found = []
            for _ in range(4):
                got = await transport.post("/v1", {})
                assert isinstance(got, Reply), got
                found.append(got.data["number"])
                await asyncio.sleep(0.3)
            await transport.close()
            return found

    assert asyncio.run(run()) == [1, 2, 3, 4]
    # Only the connection with the stale reply was given up.
    assert connections == 2
