"""Chat judges over real HTTP that answer as a test tells them to."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

import orjson
from aiohttp import web
from scripted_serving import Behaviour, next_of, served


def completion(text: Any = "met", finish: Any = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}},
        **more,
    }


def say(data: Any, status: int = 200) -> Behaviour:
    async def answer(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
        return web.Response(body=orjson.dumps(data), status=status, content_type="application/json")

    return answer


def events(*data: Any, done: bool = True) -> Behaviour:
    async def answer(request: web.Request, _: dict[str, Any]) -> web.StreamResponse:
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        for each in data:
            await stream.write(b"data: " + orjson.dumps(each) + b"\n\n")
        if done:
            await stream.write(b"data: [DONE]\n\n")
        await stream.write_eof()
        return stream

    return answer


def chunk(text: str | None = None, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {} if text is None else {"content": text}, "finish_reason": finish}]}


class ChatServer:
    """Keeps the bodies that came to each path; behaviours answer one call each, the last one all further ones."""

    def __init__(self, *behaviours: Behaviour, routes: Sequence[str] = ("/v1/chat/completions",)) -> None:
        self.behaviours = behaviours
        self.routes = routes
        self.bodies: list[dict[str, Any]] = []

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(orjson.loads(await request.read()))
        return await next_of(self.behaviours, len(self.bodies))(request, self.bodies[-1])

    @contextlib.asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        """Serve on a free port; gives the base URL."""
        async with served(*(web.post(route, self._chat) for route in self.routes)) as url:
            yield url
