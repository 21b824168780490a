"""A judge over real HTTP, in a thread of its own: it likes responses with a cat when asked for an animal."""

import asyncio
import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

from aiohttp import web

MODEL = "scripted-model"
LIKED = "cat"


def tokens_of(text: str) -> list[str]:
    return re.findall(r"\s?\w+|\W", text)


class ScriptedJudge:
    """Answers calls by ``status``: the HTTP status of the n-th call, counted from 1.

    Chat calls are answered as the protocol rubric wants them: ``reply`` makes the n-th reply of its verdicts.
    """

    def __init__(
        self,
        status: Callable[[int], int] = lambda call: 200,
        liked: str = LIKED,
        reply: Callable[[int, dict[str, str]], str] = lambda call, verdicts: json.dumps(verdicts),
    ) -> None:
        self.status = status
        self.liked = liked
        self.reply = reply
        self.calls = 0

    def _choice(self, index: int, prompt: str) -> dict[str, Any]:
        tokens = tokens_of(prompt)
        offsets = [sum(map(len, tokens[:place])) for place in range(len(tokens))]
        value = -0.5 if "that mentions an animal" in prompt and self.liked in prompt.split()[-8:] else -1.0
        logprobs = {"text_offset": offsets, "token_logprobs": [None, *[value] * (len(tokens) - 1)], "tokens": tokens}
        return {"index": index, "text": prompt, "logprobs": logprobs, "finish_reason": "length"}

    async def completions(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        self.calls += 1
        status = self.status(self.calls)
        if status != 200:
            return web.json_response({"error": {"message": "as scripted"}}, status=status)
        choices = [self._choice(index, prompt) for index, prompt in enumerate(body["prompt"])]
        usage = {"prompt_tokens": 1, "total_tokens": 1, "completion_tokens": 0}
        return web.json_response({"id": "c", "model": MODEL, "choices": choices, "usage": usage})

    async def chat(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        self.calls += 1
        call = self.calls
        await asyncio.sleep(0.01)
        status = self.status(call)
        if status != 200:
            return web.json_response({"error": {"message": "as scripted"}}, status=status)
        shown = "\n".join(message["content"] for message in body["messages"])
        response = re.search(r"^=== RESPONSE \S+ ===\n(.*)^=== END OF RESPONSE", shown, re.DOTALL | re.MULTILINE)
        assert response is not None, shown
        verdict = "met" if self.liked in response[1] else "unmet"
        verdicts = dict.fromkeys(re.findall(r"^(c\d+): ", shown, re.MULTILINE), verdict)
        message = {"role": "assistant", "content": self.reply(call, verdicts)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        return web.json_response({"id": "c", "model": MODEL, "choices": [choice], "usage": usage})

    async def models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    @contextlib.contextmanager
    def serve(self) -> Iterator[str]:
        """Serve on a free port; gives the base URL."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        runner, port = asyncio.run_coroutine_threadsafe(self._start(), loop).result()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    async def _start(self) -> tuple[web.AppRunner, int]:
        app = web.Application()
        app.router.add_post("/v1/completions", self.completions)
        app.router.add_post("/v1/chat/completions", self.chat)
        app.router.add_get("/v1/models", self.models)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return runner, runner.addresses[0][1]
