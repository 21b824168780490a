"""A scripted judge as a chat-completions server."""

import json
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from aiohttp import web

from components.bias.scripted.judge import ScriptedJudge
from components.bias.scripted.prompts import UnknownPromptError, read_prompt, reply

MODEL: Final = "scripted"
_JUDGE: Final = web.AppKey("judge", ScriptedJudge)
_ASKED: Final = web.AppKey("asked", Counter[str])
_LARGEST: Final = 16 * 2**20


def build_app(judge: ScriptedJudge) -> web.Application:
    """The server: ``/v1/models``, ``/v1/chat/completions`` (whole or streamed), ``/health``."""
    app = web.Application(client_max_size=_LARGEST)
    app[_JUDGE] = judge
    app[_ASKED] = Counter()
    app.router.add_get("/health", _health)
    app.router.add_get("/v1/models", _models)
    app.router.add_post("/v1/chat/completions", _chat)
    return app


async def _health(request: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


async def _models(request: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "gavel"}]})


async def _chat(request: web.Request) -> web.StreamResponse:
    try:
        body = json.loads(await request.read())
        asked = read_prompt(body["messages"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        told = str(error) if isinstance(error, UnknownPromptError) else f"no chat request: {error!r}"
        return web.json_response({"error": {"message": told, "type": "invalid_request_error"}}, status=400)
    counts = request.app[_ASKED]
    text = reply(request.app[_JUDGE], asked, counts[asked.key])
    counts[asked.key] += 1
    usage = _usage(body["messages"], text)
    if body.get("stream"):
        return await _stream(request, text, usage)
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return web.json_response({**_head("chat.completion"), "choices": [choice], "usage": usage})


async def _stream(request: web.Request, text: str, usage: Mapping[str, int]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    head = _head("chat.completion.chunk")
    deltas: list[dict[str, Any]] = [
        {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": "stop"},
    ]
    for delta in deltas:
        await response.write(f"data: {json.dumps({**head, 'choices': [delta]})}\n\n".encode())
    await response.write(f"data: {json.dumps({**head, 'choices': [], 'usage': usage})}\n\ndata: [DONE]\n\n".encode())
    await response.write_eof()
    return response


def _head(kind: str) -> dict[str, Any]:
    return {"id": "scripted", "object": kind, "created": int(time.time()), "model": MODEL}


def _usage(messages: list[Mapping[str, Any]], text: str) -> dict[str, int]:
    """Words stand for tokens: this judge has no tokenizer."""
    asked = sum(len(str(message.get("content", "")).split()) for message in messages)
    answered = len(text.split())
    return {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}
