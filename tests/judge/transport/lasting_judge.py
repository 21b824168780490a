"""A judge in a process of its own: ``lasting_judge.py PORT SECONDS [PEAK_FILE]``.

It answers with the number that it was asked with, after SECONDS. The file gets the greatest number of calls that were
under way at once, and how many came in all.
"""

import asyncio
import sys
from pathlib import Path

import orjson
from aiohttp import web


async def main(port: int, seconds: float, peak: Path | None) -> None:
    under_way = most = came = 0

    async def answer(request: web.Request) -> web.Response:
        nonlocal under_way, most, came
        number = orjson.loads(await request.read())["number"]
        came += 1
        under_way += 1
        most = max(most, under_way)
        if peak is not None:
            new = peak.with_name("new")
            new.write_text(f"{most} {came}")
            new.replace(peak)
        try:
            await asyncio.sleep(seconds)
        finally:
            under_way -= 1
        return web.Response(body=orjson.dumps({"number": number}), content_type="application/json")

    app = web.Application()
    app.router.add_post("/v1", answer)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None))
