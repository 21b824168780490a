"""The probe step on a judge that cannot do what the protocol needs."""

import asyncio
import io
import threading
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from components.core.errors import JudgeError
from components.core.progress import Progress
from components.core.spec import load_experiment
from components.core.step import StepContext
from components.probe_judge.step import STEP


def serve_without_logprobs(found: list[str], ready: threading.Event, over: threading.Event) -> None:
    async def models(_: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "tiny"}]})

    async def completions(request: web.Request) -> web.Response:
        body: dict[str, Any] = orjson.loads(await request.read())
        choices = [{"index": n, "text": " ok", "logprobs": None} for n, _ in enumerate(body["prompt"])]
        return web.json_response({"choices": choices})

    async def run() -> None:
        app = web.Application()
        app.router.add_get("/v1/models", models)
        app.router.add_post("/v1/completions", completions)
        server = TestServer(app)
        await server.start_server()
        found.append(str(server.make_url("")).rstrip("/"))
        ready.set()
        await asyncio.to_thread(over.wait)
        await server.close()

    asyncio.run(run())


def test_a_judge_that_ignores_logprobs_stops_the_pipeline_here(tmp_path: Path) -> None:
    found: list[str] = []
    ready, over = threading.Event(), threading.Event()
    thread = threading.Thread(target=serve_without_logprobs, args=(found, ready, over))
    thread.start()
    try:
        assert ready.wait(10)
        overrides = ["judge.serving=external", f"judge.endpoint={found[0]}", "judge.source=null"]
        experiment = load_experiment("tiny", overrides)
        ctx = StepContext(
            experiment, {}, {}, tmp_path, tmp_path, "x" * 64, Progress("test", stream=io.StringIO()), tmp_path
        )
        with pytest.raises(JudgeError, match="does not return the prompt's log-probabilities"):
            STEP.run(ctx)
    finally:
        over.set()
        thread.join(10)
