"""What a status and a body mean."""

import datetime
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from components.judge.backoff import retry_after, wish
from components.judge.foreign import shown
from components.judge.transport.reply import Good, Signal, Trouble
from components.judge.verdict import UnknownReason

Classify = Callable[[int, bytes], UnknownReason | None]
"""A provider's own meaning of a status and body: a reason that no repetition changes, or None for the common one."""

_LONGEST_WISH = 120.0
"""Seconds that a server's wish is believed for; then one call finds out. A slip of the server's would else hold the
judge back for ever."""
_BROKEN = frozenset({408, 500, 502, 504})
_ROUTE_HINT = "is the route right? KServe serves /openai/v1, plain vLLM /v1; the endpoint is written without /v1"
_MODEL_HINT = "is model_name right? GET /v1/models lists the names that the server knows"
_KEY_HINT = "is the right key in the variable that api_key_env names?"
_NO_MEANS = (b"insufficient_quota", b"Arrearage")
"""Codes of OpenAI (status 429) and DashScope (status 400) for an account that has to be paid first."""

_TOO_LONG = (
    b"context_length_exceeded",
    b"context length",
    b"max_model_len",
    b"maximum model length",
    b"context size",
    b"range of input length",
)
"""What OpenAI, vLLM, llama.cpp and DashScope write about a prompt that does not fit."""


def read_reply(
    url: str, status: int, headers: Mapping[str, str], body: bytes, classify: Classify | None
) -> Good | Trouble:
    """What a whole reply means.

    Args:
        url: for people.
        status: HTTP status.
        headers: the reply's; looked up as ``Retry-After`` and ``retry-after-ms``.
        body: the whole body.
        classify: asked first about everything but a good reply.
    """
    if status == 200:
        try:
            data = orjson.loads(body)
        except orjson.JSONDecodeError:
            start = body[:60].decode("utf-8", "replace")
            detail = f"{url}: status 200 but no JSON: {start!r}"
            return Trouble(UnknownReason.UNPARSEABLE, detail, Signal.ALIVE, again=True, body=body)
        if not isinstance(data, dict):
            detail = f"{url}: status 200 but no object"
            return Trouble(UnknownReason.UNPARSEABLE, detail, Signal.ALIVE, again=False, body=body)
        inner = _error_status(data)
        if inner is None:
            return Good(data, body)
        status = inner
    detail = f"{url}: status {status}: {message(body)}"
    if classify is not None and (reason := classify(status, body)) is not None:
        return Trouble(reason, detail, Signal.ALIVE, again=False, body=body)
    if 300 <= status <= 399:
        detail = f"{detail} (redirected{_target(headers)}; calls are not sent on: put the right URL into endpoint)"
        return Trouble(UnknownReason.REJECTED, detail, Signal.ALIVE, again=False, body=body)
    if not 400 <= status <= 599:
        what = "200 with an error object" if status == 0 else str(status)
        detail = f"{url}: status {what}: {message(body)}"
        reason = UnknownReason.UNPARSEABLE if status == 0 else UnknownReason.REJECTED
        return Trouble(reason, detail, Signal.ALIVE, again=False, body=body)
    return _read_error(status, headers, body, detail)


def _read_error(status: int, headers: Mapping[str, str], body: bytes, detail: str) -> Trouble:
    if status in (401, 403) or (status in (400, 429) and any(code in body for code in _NO_MEANS)):
        return Trouble(
            UnknownReason.REJECTED, f"{detail} ({_KEY_HINT})", Signal.KEY_REFUSED, again=True, counts=False, body=body
        )
    if status in (429, 503):
        wait = _asked_wait(headers)
        signal = Signal.UNAVAILABLE if status == 503 else Signal.THROTTLED
        return Trouble(UnknownReason.JUDGE_DOWN, detail, signal, again=True, counts=False, wait=wait, body=body)
    if status in _BROKEN:
        return Trouble(UnknownReason.JUDGE_DOWN, detail, Signal.BROKEN, again=True, body=body)
    if status in (400, 413, 422) and _is_too_long(status, body):
        return Trouble(UnknownReason.TOO_LONG, detail, Signal.ALIVE, again=False, body=body)
    if status in (404, 405):
        detail = f"{detail} ({_MODEL_HINT if b'model' in body.lower() else _ROUTE_HINT})"
    signal = Signal.BROKEN if status >= 500 else Signal.ALIVE
    return Trouble(UnknownReason.REJECTED, detail, signal, again=False, body=body)


def _target(headers: Mapping[str, str]) -> str:
    """Where a redirection points, for people; what it may carry behind a question mark is left out."""
    where = headers.get("Location", "").split("?")[0][:200]
    return f" to {where}" if where else ""


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asked for. ``retry-after-ms`` is OpenAI's finer form of Retry-After."""
    try:
        finer = wish(float(headers.get("retry-after-ms", "")) / 1000.0)
    except ValueError:
        finer = None
    asked = finer or retry_after(headers.get("Retry-After"), datetime.datetime.now(datetime.UTC))
    return None if asked is None else min(_LONGEST_WISH, asked)


def _error_status(data: Mapping[str, Any]) -> int | None:
    """The status that an error object inside a reply of status 200 stands for; 0 if it names none that is one."""
    error = data.get("error") if data.get("object") != "error" else data
    if not error:
        return None
    code = error.get("code") if isinstance(error, dict) else None
    found = code if isinstance(code, int) else 0
    if isinstance(code, str) and len(code) == 3 and code.isdecimal():
        found = int(code)
    return found if 400 <= found <= 599 else 0


def _is_too_long(status: int, body: bytes) -> bool:
    text = body.lower()
    return status == 413 or any(words in text for words in _TOO_LONG)


def message(body: bytes) -> str:
    """The error text of a body, on one line of at most 300 characters."""
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        data = None
    if isinstance(data, dict):
        error = data.get("error", data)
        found = error.get("message", error) if isinstance(error, dict) else error
        return shown(found)
    return " ".join(body[:200].decode("utf-8", "replace").split())
