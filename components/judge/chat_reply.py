"""Reads a chat completion: the text that was asked for, or why it is none."""

import hashlib
import math
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from components.judge.calls import Answer, AnswerToken, Usage, nothing_kept
from components.judge.failures import Failure
from components.judge.verdict import UnknownReason

_OVER = 1e-3
"""How far above 0 rounding may put a log-probability."""

_TEMPLATE: Final = 8192
"""Tokens that a server's own template may add to a prompt."""

_ABSURD = 1 << 21
"""Tokens that no call takes; a larger count says nothing."""


def read_answer(
    data: Mapping[str, Any],
    raw: bytes,
    *,
    attempts: int,
    seconds: float,
    logprobs: bool,
    usage: Usage | None = None,
    served: float = 0.0,
    drop: Callable[[], None] = nothing_kept,
) -> Answer | Failure:
    """The first choice of a ``chat.completion`` object.

    Args:
        data: the object.
        raw: its bytes.
        attempts: calls made for it.
        seconds: how long it took.
        logprobs: whether the reply's tokens are wanted.
        usage: tokens of it and of the replies before it; those of this one unless given.
        served: as in :class:`Answer`.
        drop: forgets the reply where it is kept.

    Returns:
        The answer, or a failure: NO_FINISH, EMPTY_REPLY, TRUNCATED (cut before its first word), REFUSED (content
        filter, or the model's own refusal field), JUDGE_DOWN (the server gave up), UNPARSEABLE (not this protocol).
    """

    def failed(reason: UnknownReason, detail: str) -> Failure:
        return Failure(reason, detail, raw, attempts, served=served)

    choices = data.get("choices")
    first = [each for each in choices if _place(each) == 0] if isinstance(choices, list) else []
    choice = first[0] if len(first) == 1 else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return failed(UnknownReason.UNPARSEABLE, "the reply has no choices with a message; is it a chat completion?")
    finish = choice.get("finish_reason")
    refusal = message.get("refusal")
    if finish == "content_filter":
        return failed(UnknownReason.REFUSED, "the provider's content filter stopped the reply")
    if isinstance(refusal, str) and refusal.strip():
        return failed(UnknownReason.REFUSED, f"the model refused: {refusal[:200]}")
    text = _text(message.get("content"))
    if text is None:
        return failed(UnknownReason.UNPARSEABLE, "the reply's content is no text")
    if not finish:
        return failed(UnknownReason.NO_FINISH, "the reply does not say why it ended")
    if finish in ("abort", "error"):
        return failed(UnknownReason.JUDGE_DOWN, f"the server gave up in the middle of the reply ({finish})")
    if finish not in ("stop", "length"):
        return failed(UnknownReason.UNPARSEABLE, f"the reply ended with finish_reason {finish!r}, which is no answer")
    if not text.strip():
        return failed(*_empty(finish, message))
    ended: Literal["stop", "length"] = "stop" if finish == "stop" else "length"
    tokens = read_tokens(choice.get("logprobs")) if logprobs else None
    used = read_usage(data) if usage is None else usage
    return Answer(text, ended, used, tokens, attempts, hashlib.sha256(raw).hexdigest(), seconds, served, drop)


def _place(choice: object) -> object:
    """A choice's index; the first one's where it has none."""
    return choice.get("index", 0) if isinstance(choice, dict) else None


def read_usage(data: Mapping[str, Any], *, sent: int | None = None) -> Usage:
    """Tokens that the server counted; 0 for what it does not say.

    Args:
        data: the reply.
        sent: bytes of the request. A tokenizer makes no more tokens of a text than it has bytes, and a chat template
            adds some; a prompt with more says nothing.
    """
    usage = data.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    prompt = _count(usage.get("prompt_tokens"))
    if sent is not None and prompt > sent + _TEMPLATE:
        prompt = 0
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return Usage(prompt, _count(usage.get("completion_tokens")), min(prompt, _count(cached)))


def read_tokens(logprobs: object) -> tuple[AnswerToken, ...] | None:
    """The ``logprobs`` of a choice; None when there are none, or one of them is no log-probability."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list) or not content:
        return None
    found = []
    for entry in content:
        pair = _pair(entry)
        if pair is None:
            return None
        others = entry.get("top_logprobs") or []
        top = [_pair(other) for other in others] if isinstance(others, list) else [None]
        if None in top:
            return None
        found.append(AnswerToken(*pair, tuple(each for each in top if each is not None)))
    return tuple(found)


def _empty(finish: str, message: Mapping[str, Any]) -> tuple[UnknownReason, str]:
    thought = message.get("reasoning_content") or message.get("reasoning")
    if finish == "length":
        cause = "reasoning took them all; raise max_answer_tokens" if thought else "raise max_answer_tokens"
        return UnknownReason.TRUNCATED, f"the reply was cut before its first word: {cause}"
    if thought:
        return UnknownReason.EMPTY_REPLY, "the reply is empty beside its reasoning; set thinking: false if it always is"
    return UnknownReason.EMPTY_REPLY, "the reply is empty"


def _text(content: object) -> str | None:
    """Text as it is, or in parts; an absent one is empty."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(part for part in parts if isinstance(part, str))


def _pair(entry: object) -> tuple[str, float] | None:
    if not isinstance(entry, dict):
        return None
    token, value = entry.get("token"), entry.get("logprob")
    if not isinstance(token, str) or not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return (token, min(0.0, float(value))) if math.isfinite(value) and value <= _OVER else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _ABSURD else 0
