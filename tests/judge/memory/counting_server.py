"""A chat judge in a process of its own that counts the calls which reach it: ``counting_server.py COUNT_FILE``.

Prints its URL. The count, eight bytes in the machine's order, is in the file as soon as a call's body has come.
"""

import asyncio
import mmap
import random
import struct
import sys

import orjson
from aiohttp import web

REPLY = orjson.dumps(
    {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "met"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}},
    }
)


async def main(path: str) -> None:
    with open(path, "r+b") as file:  # noqa: ASYNC230  nothing else runs yet
        shared = mmap.mmap(file.fileno(), 8)
    calls, dice = 0, random.Random(7)

    async def answer(request: web.Request) -> web.Response:
        nonlocal calls
        await request.read()
        calls += 1
        shared[:] = struct.pack("q", calls)
        await asyncio.sleep(dice.uniform(0.0, 0.002))
        return web.Response(body=REPLY, content_type="application/json")

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
