"""The response of /v1/chat/completions, whole or as events."""

import re
import time
import uuid
from collections.abc import Iterator
from typing import Any

import orjson

from components.judge.server.chat_request import ChatRequest
from components.judge.server.jobs import Answer, TokenScore
from components.judge.server.response import LOWEST
from components.judge.server.text import Text

_PIECE = re.compile(r"\s*\S+|\s+$")


def whole(asked: ChatRequest, prompt_tokens: int, answer: Answer, text: Text) -> dict[str, Any]:
    """The body of a call that is not streamed."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": answer.text},
        "logprobs": _logprobs(answer, text) if asked.logprobs else None,
        "finish_reason": answer.finish,
        "stop_reason": answer.stop_reason,
    }
    return {**_head(asked, "chat.completion"), "choices": [choice], "usage": _usage(prompt_tokens, answer)}


def events(asked: ChatRequest, prompt_tokens: int, answer: Answer, text: Text) -> Iterator[bytes]:
    """The same as events, word by word. The engine works in batches, so all of them come at its end."""
    head = _head(asked, "chat.completion.chunk")

    def event(choices: list[dict[str, Any]], **more: Any) -> bytes:
        return b"data: " + orjson.dumps({**head, "choices": choices, **more}) + b"\n\n"

    def choice(delta: dict[str, Any], finish: str | None = None, logprobs: Any = None) -> dict[str, Any]:
        return {"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": finish}

    yield event([choice({"role": "assistant", "content": ""})])
    logprobs = _logprobs(answer, text) if asked.logprobs else None
    for piece in _PIECE.findall(answer.text):
        yield event([choice({"content": piece}, logprobs=logprobs)])
        logprobs = None
    yield event([choice({}, answer.finish, logprobs)])
    if asked.stream_options is not None and asked.stream_options.include_usage:
        yield event([], usage=_usage(prompt_tokens, answer))
    yield b"data: [DONE]\n\n"


def _head(asked: ChatRequest, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": kind, "created": int(time.time()), "model": asked.model}


def _usage(prompt_tokens: int, answer: Answer) -> dict[str, int]:
    made = len(answer.ids)
    return {"prompt_tokens": prompt_tokens, "completion_tokens": made, "total_tokens": prompt_tokens + made}


def _logprobs(answer: Answer, text: Text) -> dict[str, Any]:
    return {"content": [_token(index, score, text) for index, score in zip(answer.ids, answer.scores, strict=True)]}


def _token(index: int, score: TokenScore, text: Text) -> dict[str, Any]:
    return {**_scored(index, score.logprob, text), "top_logprobs": [_scored(*pair, text) for pair in score.top]}


def _scored(index: int, logprob: float, text: Text) -> dict[str, Any]:
    piece = text.piece(index)
    return {"token": piece, "logprob": max(logprob, LOWEST), "bytes": list(piece.encode())}
