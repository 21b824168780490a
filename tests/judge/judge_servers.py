"""Judges over real HTTP that answer as a test tells them to."""

import contextlib
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import orjson
from aiohttp import web
from scripted_serving import Behaviour, next_of, served

from components.core.spec.judge import JudgeSpec
from components.core.spec.reward import RewardSpec
from components.judge.verdict import Criterion, Sample

MODEL = "scripted-model"
REWARD = RewardSpec(name="r")
ANIMAL = Criterion("mentions an animal")
FOOD = Criterion("mentions food")


def spec(**changes: Any) -> JudgeSpec:
    """A judge served by others."""
    values: dict[str, Any] = {
        "name": "scripted",
        "family": "test",
        "serving": "external",
        "endpoint": "http://127.0.0.1:9",
        "model_name": MODEL,
        "context_tokens": 2048,
        "logprobs": True,
        "timeout_seconds": 20.0,
        "attempts": 2,
    }
    return JudgeSpec(**{**values, **changes})


def sample(response: str = "A cat sleeps.", *criteria: Criterion, name: str = "s") -> Sample:
    return Sample("row", name, "Write a sentence.", response, criteria or (ANIMAL,))


def tokens_of(text: str) -> list[str]:
    """Words with the white space before them, and every other character."""
    return re.findall(r" ?\w+|\W", text)


def choice(number: int, prompt: str) -> dict[str, Any]:
    """vLLM's shape: offsets add up the tokens' lengths, the first log-probability is null."""
    tokens = tokens_of(prompt)
    offsets, place = [], 0
    for token in tokens:
        offsets.append(place)
        place += len(token)
    values = [None, *(-0.01 * len(token) - 0.001 * len(prompt) for token in tokens[1:])]
    return {
        "index": number,
        "text": prompt,
        "logprobs": {
            "text_offset": offsets,
            "token_logprobs": values,
            "tokens": tokens,
            "top_logprobs": [None if value is None else {} for value in values],
        },
        "finish_reason": "length",
        "stop_reason": None,
        "prompt_logprobs": None,
    }


def completion(body: dict[str, Any]) -> dict[str, Any]:
    """A right reply to ``body``."""
    prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
    total = sum(len(tokens_of(prompt)) for prompt in prompts)
    return {
        "id": "cmpl-1",
        "object": "text_completion",
        "created": 1,
        "model": MODEL,
        "choices": [choice(number, prompt) for number, prompt in enumerate(prompts)],
        "usage": {"prompt_tokens": total, "total_tokens": total, "completion_tokens": 0},
    }


def reply(data: Any, status: int = 200, **headers: str) -> web.Response:
    return web.Response(body=orjson.dumps(data), status=status, headers=headers, content_type="application/json")


class Scripted:
    """Counts and keeps the bodies that came; ``behaviours`` answer one call each, the last one all further calls."""

    def __init__(self, *behaviours: Behaviour, models: Any = None, models_status: int = 200) -> None:
        self.behaviours = behaviours
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.models = {"object": "list", "data": [{"id": MODEL, "object": "model"}]} if models is None else models
        self.models_status = models_status

    async def completions(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(orjson.loads(await request.read()))
        self.headers.append(dict(request.headers))
        return await next_of(self.behaviours, len(self.bodies))(request, self.bodies[-1])

    async def list_models(self, _: web.Request) -> web.StreamResponse:
        return reply(self.models, self.models_status)

    @contextlib.asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        """Serve on a free port; gives the base URL."""
        async with served(
            web.post("/v1/completions", self.completions), web.get("/v1/models", self.list_models)
        ) as url:
            yield url


async def good(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    return reply(completion(body))


def changed(change: Callable[[dict[str, Any]], None]) -> Behaviour:
    """A right reply with something put wrong."""

    async def answer(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        data = completion(body)
        change(data)
        return reply(data)

    return answer


def fixed(data: Any, status: int = 200, **headers: str) -> Behaviour:
    async def answer(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
        return reply(data, status, **headers)

    return answer


def text(content: str, status: int = 200, content_type: str = "text/html") -> Behaviour:
    async def answer(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
        return web.Response(text=content, status=status, content_type=content_type)

    return answer
