"""An executor model over real HTTP that answers as a test tells it to, and a broker in front of it."""

import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web
from aiohttp.test_utils import TestServer

from components.core.spec.judge import JudgeSpec
from components.judge.build import build_chat
from components.judge.memory import Ledger
from components.sandbox.limits import Limits
from components.workflow.broker.broker import Broker
from components.workflow.broker.executor import ExecutorModel
from components.workflow.broker.programs import Programs
from components.workflow.types import Budget, Problem

Reply = str | tuple[int, Any]
"""What the model says, or a status and a whole body."""

PLENTY = Budget(calls=50, tokens=1_000_000, seconds=300.0, bytes=1 << 20)
SUM = Problem("math", "gsm8k", "What is 40 + 2?", None, None)
DOUBLE = Problem(
    "code",
    "humaneval",
    'def double(x):\n    """Twice x."""\n',
    "double",
    "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(5) == 10\n",
)
QUICK = Limits(cpu_seconds=1, wall_seconds=5.0, memory_bytes=256 << 20, value_bytes=1 << 14)


def completion(text: Any, finish: Any = "stop", **message: Any) -> dict[str, Any]:
    return {
        "object": "chat.completion",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }


class Model:
    """Keeps the prompts that came. Answers come in order, the last one for all further calls; or by the prompt."""

    def __init__(self, *replies: Reply, by: Callable[[str], Reply] | None = None) -> None:
        self.replies = replies
        self.by = by
        self.prompts: list[str] = []
        self.bodies: list[dict[str, Any]] = []

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(orjson.loads(await request.read()))
        (message,) = self.bodies[-1]["messages"]
        self.prompts.append(message["content"])
        if self.by is not None:
            reply = self.by(self.prompts[-1])
        else:
            reply = self.replies[min(len(self.prompts), len(self.replies)) - 1]
        status, body = (200, completion(reply)) if isinstance(reply, str) else reply
        raw = body if isinstance(body, bytes) else orjson.dumps(body)
        return web.Response(body=raw, status=status, content_type="application/json")

    @contextlib.asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._chat)
        server = TestServer(app)
        await server.start_server()
        try:
            yield str(server.make_url("")).rstrip("/")
        finally:
            await server.close()


def spec(**changes: Any) -> JudgeSpec:
    """An executor served by others; impatient, so that tests are quick."""
    values: dict[str, Any] = {
        "name": "scripted",
        "family": "test",
        "serving": "external",
        "endpoint": "http://127.0.0.1:9",
        "model_name": "scripted-model",
        "context_tokens": 4096,
        "max_answer_tokens": 256,
        "logprobs": False,
        "timeout_seconds": 5.0,
        "attempts": 2,
    }
    return JudgeSpec(**{**values, **changes})


@contextlib.asynccontextmanager
async def executor(
    url: str, *, described: JudgeSpec | None = None, ledger: Ledger | None = None, state: Path | None = None
) -> AsyncIterator[ExecutorModel]:
    made = ExecutorModel(build_chat(described or spec(), url, ledger, state=state), Programs(QUICK, concurrency=1))
    try:
        yield made
    finally:
        await made.close()


@contextlib.asynccontextmanager
async def broker(
    model: Model,
    problem: Problem = SUM,
    budget: Budget = PLENTY,
    *,
    enhance: Callable[[str, Problem], str | None] | None = None,
    **parts: Any,
) -> AsyncIterator[Broker]:
    async with model.serve() as url, executor(url, **parts) as made:
        yield Broker(made, budget, problem, enhance)
