"""The HTTP side: /health, /v1/models, both kinds of completions, and errors as OpenAI error objects."""

import logging
import time
from collections.abc import Awaitable, Callable

import orjson
from aiohttp import web

from components.judge.server import chat_response, response
from components.judge.server import request as requests
from components.judge.server.batcher import Batcher
from components.judge.server.chat_request import chat_job, parse_chat
from components.judge.server.engine import Engine

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_BODY_LIMIT = 16 << 20
"""Bytes of a request body."""

log = logging.getLogger(__name__)


def build_app(engine: Engine, name: str) -> web.Application:
    """The application that serves ``engine`` under the model name ``name``."""
    batcher = Batcher(engine)
    started = int(time.time())

    async def health(_: web.Request) -> web.Response:
        return web.Response(body=b"")

    async def models(_: web.Request) -> web.Response:
        card = {
            "id": name,
            "object": "model",
            "created": started,
            "owned_by": "gavel",
            "root": name,
            "parent": None,
            "max_model_len": engine.model.context,
            "gavel": {"logprobs_from": True, "reuses_prefixes": engine.model.reuse},
        }
        return _json({"object": "list", "data": [card]})

    async def completions(call: web.Request) -> web.Response:
        asked = requests.parse(await _body(call))
        _check_model(asked.model, name)
        prompts = requests.encode(asked, engine.text, context=engine.model.context, vocabulary=engine.model.vocabulary)
        answers = await batcher.submit(requests.to_jobs(asked, prompts))
        return _json(response.build(asked, prompts, answers, engine.text))

    async def chat(call: web.Request) -> web.StreamResponse:
        asked = parse_chat(await _body(call))
        _check_model(asked.model, name)
        prompt, job = chat_job(asked, engine.text, context=engine.model.context)
        (answer,) = await batcher.submit([job])
        if not asked.stream:
            return _json(chat_response.whole(asked, len(prompt.ids), answer, engine.text))
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
        await stream.prepare(call)
        for event in chat_response.events(asked, len(prompt.ids), answer, engine.text):
            await stream.write(event)
        await stream.write_eof()
        return stream

    async def start(_: web.Application) -> None:
        batcher.start()

    async def stop(_: web.Application) -> None:
        await batcher.close()

    app = web.Application(client_max_size=_BODY_LIMIT, middlewares=[_errors])
    app.router.add_get("/health", health)
    app.router.add_get("/v1/models", models)
    app.router.add_post("/v1/completions", completions)
    app.router.add_post("/v1/chat/completions", chat)
    app.on_startup.append(start)
    app.on_cleanup.append(stop)
    return app


@web.middleware
async def _errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except requests.RequestError as error:
        return _json(error.body, status=error.status)
    except web.HTTPException as error:
        refused = requests.RequestError(error.status, f"{error.reason}: {request.method} {request.path}")
        return _json(refused.body, status=error.status)
    except RuntimeError as error:
        log.error("%s %s: %s", request.method, request.path, error)
        body = {"error": {"message": str(error), "type": "server_error", "param": None, "code": 500}}
        return _json(body, status=500)


async def _body(call: web.Request) -> object:
    try:
        return orjson.loads(await call.read())
    except orjson.JSONDecodeError as error:
        raise requests.RequestError(400, f"the body is not valid JSON: {error}") from error


def _check_model(asked: str, served: str) -> None:
    if asked != served:
        raise requests.RequestError(
            404,
            f"The model `{asked}` does not exist; this server has `{served}`.",
            param="model",
            code="model_not_found",
        )


def _json(body: object, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json")
