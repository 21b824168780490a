"""A chat judge in a process of its own that costs next to nothing: ``judge_transport_server.py [REPLY_MILLISECONDS]``.

Prints its URL, and answers every POST with the same chat completion. For benchmarks of clients.
"""

import asyncio
import sys

import orjson

BODY = orjson.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": '{"verdicts": {"c1": "met", "c2": "not met"}}'},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 800, "completion_tokens": 20, "total_tokens": 820},
    }
)
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)


class Judge(asyncio.Protocol):
    """One connection; one call at a time on it."""

    delay = 0.0

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._got = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, found, body = self._got.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        if len(body) < length:
            return
        self._got = body[length:]
        asyncio.get_running_loop().call_later(self.delay, self._answer)

    def _answer(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(REPLY)


async def main() -> None:
    Judge.delay = float(sys.argv[1] if len(sys.argv) > 1 else 20) / 1000.0
    server = await asyncio.get_running_loop().create_server(Judge, "127.0.0.1", 0, backlog=2048)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
