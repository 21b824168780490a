"""An executor model over HTTP on this machine that knows one program: first answers are wrong, mended ones right."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any, Final

from aiohttp import web

from components.core.spec.judge import JudgeSpec
from components.workflow.checks.problems import RIGHT_PROGRAM, WRONG_PROGRAM

MODEL: Final = "scripted"
_MENDS: Final = "The program below does not pass its tests."
"""How the prompt of the operator Test begins."""


def reply_to(prompt: str) -> str:
    """What the model says."""
    if "<letter>" in prompt:
        return "<thought>They are alike.</thought>\n<letter>A</letter>"
    if "```python" not in prompt:
        return "Leave out the first and the last number, and mind lists that are too short."
    return f"```python\n{RIGHT_PROGRAM if _MENDS in prompt else WRONG_PROGRAM}```"


@contextlib.asynccontextmanager
async def scripted_model() -> AsyncIterator[JudgeSpec]:
    """The model's specification, with its address, while it is there."""
    app = web.Application()
    app.router.add_post("/v1/chat/completions", _chat)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        _, port = runner.addresses[0][:2]
        yield JudgeSpec(
            name=MODEL,
            family="none",
            serving="external",
            endpoint=f"http://127.0.0.1:{port}",
            model_name=MODEL,
            context_tokens=8192,
            max_answer_tokens=1024,
            logprobs=False,
        )
    finally:
        await runner.cleanup()


async def _chat(request: web.Request) -> web.Response:
    asked: dict[str, Any] = await request.json()
    text = reply_to(asked["messages"][-1]["content"])
    message = {"role": "assistant", "content": text}
    return web.json_response(
        {
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20},
        }
    )
