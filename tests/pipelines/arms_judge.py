"""A judge for any rubric, over real HTTP: its opinion is a hash of criterion and response, which anybody can recompute.

It answers the protocols rubric and verif, and counts them. Like :mod:`rule_judge` it reads the prompt by the fences'
codes, independently of the project's code.
"""

import asyncio
import hashlib
import json
import re
from typing import Any

from aiohttp import web
from rule_judge import RuleJudge

_RESPONSE = re.compile(r"^=== RESPONSE ([0-9a-f]{16}) ===\n(.*)\n=== END OF RESPONSE \1 ===$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"^c(\d+): (.*)$", re.MULTILINE)
_NUMBERED = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


def opinion(criterion: str, response: str) -> bool:
    """Met for three responses of four; of the one criterion that the step probe-judge asks about, the truth."""
    if criterion == "mentions an animal":
        return "cat" in response
    return hashlib.sha256(json.dumps([criterion, response]).encode()).digest()[0] >= 64


class ArmsJudge(RuleJudge):
    """See the module. ``kinds`` counts the calls by the form that was asked for."""

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.calls += 1
        prompt = body["messages"][-1]["content"]
        found = _RESPONSE.search(prompt)
        assert found is not None, prompt
        response, rest = found[2], prompt[found.end() :]
        await asyncio.sleep(0.01)
        if named := _NAMED.findall(rest):
            self.kinds["rubric"] += 1
            verdicts = {f"c{number}": "met" if opinion(text, response) else "unmet" for number, text in named}
            return _reply(json.dumps(verdicts))
        self.kinds["verif"] += 1
        texts = [text for _, text in _NUMBERED.findall(rest)]
        assert texts, prompt
        return _reply(f"[[{int(all(opinion(text, response) for text in texts))}]]")


def _reply(text: str) -> web.Response:
    reply: dict[str, Any] = {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }
    return web.json_response(reply)
