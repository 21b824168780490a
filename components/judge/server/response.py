"""The response body of /v1/completions in the shape of OpenAI's legacy protocol, as vLLM gives it."""

import time
import uuid
from typing import Any

from components.judge.server.jobs import Answer, TokenScore
from components.judge.server.request import CompletionRequest
from components.judge.server.text import Encoded, Text

LOWEST = -9999.0
"""JSON has no minus infinity; vLLM reports this floor instead."""


def build(request: CompletionRequest, prompts: list[Encoded], answers: list[Answer], text: Text) -> dict[str, Any]:
    """The whole body: choices in the prompts' order and the usage."""
    asked = sum(len(prompt.ids) for prompt in prompts)
    made = sum(len(answer.ids) for answer in answers)
    return {
        "id": f"cmpl-{uuid.uuid4().hex}",
        "object": "text_completion",
        "created": int(time.time()),
        "model": request.model,
        "choices": [
            _choice(number, request, prompt, answer, text)
            for number, (prompt, answer) in enumerate(zip(prompts, answers, strict=True))
        ],
        "usage": {"prompt_tokens": asked, "total_tokens": asked + made, "completion_tokens": made},
    }


def _choice(number: int, request: CompletionRequest, prompt: Encoded, answer: Answer, text: Text) -> dict[str, Any]:
    return {
        "index": number,
        "text": (prompt.text if request.echo else "") + answer.text,
        "logprobs": None if request.logprobs is None else _logprobs(request, prompt, answer, text),
        "finish_reason": answer.finish,
        "stop_reason": answer.stop_reason,
    }


def _logprobs(request: CompletionRequest, prompt: Encoded, answer: Answer, text: Text) -> dict[str, Any]:
    ids: list[int] = []
    scores: list[TokenScore | None] = []
    offsets: list[int] = []
    place = 0
    if request.echo:
        ids.extend(prompt.ids)
        scores.extend(answer.prompt)
        offsets.extend(prompt.starts)
        place = len(prompt.text)
    for index, score in zip(answer.ids, answer.scores, strict=True):
        ids.append(index)
        scores.append(score)
        offsets.append(place)
        place += len(text.piece(index))
    return {
        "text_offset": offsets,
        "token_logprobs": [None if score is None else max(score.logprob, LOWEST) for score in scores],
        "tokens": [text.piece(index) for index in ids],
        "top_logprobs": [_tops(index, score, text) for index, score in zip(ids, scores, strict=True)],
    }


def _tops(index: int, score: TokenScore | None, text: Text) -> dict[str, float] | None:
    """The token itself and the likeliest ones, as vLLM lists them."""
    if score is None:
        return None
    found = {text.piece(index): max(score.logprob, LOWEST)}
    for other, value in score.top:
        found.setdefault(text.piece(other), max(value, LOWEST))
    return found
