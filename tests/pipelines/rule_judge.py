"""A chat judge that decides by rules, over real HTTP, and lies, stumbles and dies as judges do.

It keeps its own count of calls. It reads the prompt by the fences' codes, independently of the project's code.
"""

import asyncio
import collections
import hashlib
import json
import random
import re
import threading
from collections.abc import Callable
from typing import Any

from aiohttp import web

RULES: dict[str, Callable[[str], bool]] = {
    "has the letter e": lambda text: "e" in text,
    "has five words or more": lambda text: len(text.split()) >= 5,
    "has a digit": lambda text: any(char.isdigit() for char in text),
}
POINTS = dict(zip(RULES, (2.0, 1.0, -1.0), strict=True))
"""The rubric's points."""
_PROBE: dict[str, Callable[[str], bool]] = {"mentions an animal": lambda text: "cat" in text}
"""What the step probe-judge asks."""
_RESPONSE = re.compile(r"^=== RESPONSE ([0-9a-f]{16}) ===\n(.*)\n=== END OF RESPONSE \1 ===$", re.MULTILINE | re.DOTALL)
_CRITERION = re.compile(r"^c(\d+): (.*)$", re.MULTILINE)


def truth(criterion: str, response: str) -> bool:
    return (RULES | _PROBE)[criterion](response)


def judged_by(judge: "RuleJudge", reward: str = "max_abstain_rate: 0.2") -> list[str]:
    """Overrides of the tiny experiment: this judge, asked by rubric about the rules."""
    criteria = ", ".join(f"{{text: {text}, points: {points}}}" for text, points in POINTS.items())
    return [
        f"judge={{name: ruler, family: rule, serving: external, endpoint: '{judge.url}', model_name: rule, "
        "context_tokens: 4096, logprobs: false, timeout_seconds: 5, attempts: 4, max_concurrency: 8}",
        f"reward={{use: rubric, {reward}}}",
        f"data={{use: tiny-sentences, criteria: [{criteria}]}}",
    ]


class RuleJudge:
    """Serves from a thread of its own, so that it can die and come back while the test waits for a command.

    Args:
        port: where.
        faults: whether it stumbles.
    """

    def __init__(self, port: int, *, faults: bool = True) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.faults = faults
        self.calls = 0
        self.good = 0
        self.kinds: collections.Counter[str] = collections.Counter()
        self.deaths = 0
        self._seen: collections.Counter[str] = collections.Counter()
        self._loop = asyncio.new_event_loop()
        self._runner: web.AppRunner | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def start(self) -> None:
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)

    def die(self) -> None:
        """Every connection breaks, and none is taken."""
        self.deaths += 1
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    async def _start(self) -> None:
        app = web.Application(client_max_size=8 << 20)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/chat/completions", self._chat)
        self._runner = web.AppRunner(app, shutdown_timeout=0.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True).start()

    async def _stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "rule", "max_model_len": 4096}]})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.calls += 1
        prompt = body["messages"][-1]["content"]
        found = _RESPONSE.search(prompt)
        assert found is not None, prompt
        asked = {int(number): text for number, text in _CRITERION.findall(prompt[found.end() :])}
        verdicts = {f"c{n}": "met" if truth(text, found[2]) else "unmet" for n, text in asked.items()}
        key = hashlib.sha256(prompt.encode()).hexdigest()
        fault = self._fault(key)
        self.kinds[fault] += 1
        self._seen[key] += 1
        await asyncio.sleep(0.02)
        return await self._answer(fault, verdicts, request)

    def _fault(self, key: str) -> str:
        """Decided by the prompt and how often it came, so that two runs stumble alike."""
        if not self.faults:
            return "plain"
        dice = random.Random(f"{key}{self._seen[key]}")
        if self._seen[key] < 3 and dice.random() < 0.25:
            return dice.choice(["429", "500", "503", "broken off", "no json"])
        return dice.choice(
            ["plain", "plain", "plain", "prose", "thinks", "list", "one left out", "cut", "nonsense", "labels"]
        )

    async def _answer(self, fault: str, verdicts: dict[str, str], request: web.Request) -> web.StreamResponse:
        if fault in ("429", "500", "503"):
            headers = {"Retry-After": "0.1"} if fault == "429" else {}
            return web.json_response({"error": {"message": "not now"}}, status=int(fault), headers=headers)
        if fault == "no json":
            return web.Response(text="<html>gateway</html>", content_type="text/html")
        if fault == "broken off":
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        whole = json.dumps(verdicts)
        finish = "stop"
        text = {
            "plain": whole,
            "prose": f"Here you are:\n```json\n{whole}\n```\nHope {{this}} helps.",
            "thinks": f'<think>first I thought {{"c1": "met", "c2": "met", "c3": "met"}}</think>{whole}',
            "list": json.dumps([{"id": name, "verdict": label} for name, label in verdicts.items()]),
            "one left out": json.dumps(dict(list(verdicts.items())[1:])),
            "cut": whole[: len(whole) // 2],
            "nonsense": "The response is quite good, 8/10.",
            "labels": json.dumps({n: "PRESENT" if v == "met" else "NOT PRESENT" for n, v in verdicts.items()}),
        }[fault]
        if fault == "cut":
            finish = "length"
        self.good += 1
        message = {"role": "assistant", "content": text}
        reply: dict[str, Any] = {
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10},
        }
        return web.json_response(reply)
