"""HTTP calls to a judge: bounded repetition, one deadline a sample, and a typed failure at the end."""

import asyncio
import dataclasses
import datetime
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import aiohttp
import orjson

from components.judge.backoff import full_jitter, retry_after
from components.judge.failures import Failure
from components.judge.verdict import UnknownReason

log = logging.getLogger(__name__)

_THROTTLED = frozenset({429, 503})
_BROKEN = frozenset({408, 500, 502, 504})
_ROUTE_HINT = "is the route right? KServe serves /openai/v1, plain vLLM /v1; the endpoint is written without /v1"


@dataclasses.dataclass(frozen=True, slots=True)
class Reply:
    """A reply of status 200 whose body is a JSON object.

    Attributes:
        data: the decoded body.
        body: the body as it came.
        attempts: calls made.
    """

    data: dict[str, Any]
    body: bytes
    attempts: int


@dataclasses.dataclass(frozen=True, slots=True)
class _Trouble:
    """One call that failed. ``counts``: it used up an attempt; others are bounded by the deadline alone."""

    reason: UnknownReason
    detail: str
    again: bool
    counts: bool = True
    wait: float | None = None
    body: bytes | None = None


class Transport:
    """Calls to one endpoint over one session.

    A call that the judge never took up (connection refused, 429, 503) is repeated until the sample's deadline, so that
    a judge which restarts or is flooded is waited for; one that it took up and broke (time-out, reset, 5xx, broken
    JSON) is repeated ``attempts`` times at most. 400, 401, 403, 404 and 422 are never repeated.

    Args:
        endpoint: base URL without ``/v1``.
        key: bearer token, or None.
        timeout: seconds of one call.
        attempts: calls that may fail.
        concurrency: calls under way at once.
        pause: waits so many seconds.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        key: str | None,
        timeout: float,
        attempts: int,
        concurrency: int,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.endpoint = endpoint.rstrip("/")
        self.timeout = timeout
        self.deadline = timeout * attempts
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._attempts = attempts
        self._concurrency = concurrency
        self._pause = pause
        self._dice = random.Random()
        self._session: aiohttp.ClientSession | None = None
        self._permits: asyncio.Semaphore | None = None
        self._said: set[str] = set()

    async def post(self, path: str, body: Mapping[str, Any]) -> Reply | Failure:
        """POST ``body`` as JSON. The deadline runs from the moment at which the call gets its permit."""
        return await self._repeat("POST", path, orjson.dumps(body), self._attempts)

    async def get(self, path: str) -> Reply | Failure:
        """GET ``path``; repeated only while the judge cannot be reached or is flooded."""
        return await self._repeat("GET", path, None, 1)

    async def close(self) -> None:
        """Close the session; calling it twice is harmless."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _repeat(self, method: str, path: str, payload: bytes | None, attempts: int) -> Reply | Failure:
        if self._permits is None:
            self._permits = asyncio.Semaphore(self._concurrency)
        async with self._permits:
            end = time.monotonic() + self.deadline
            calls = failed = 0
            while True:
                calls += 1
                left = max(0.01, end - time.monotonic())
                got = await self._once(method, path, payload, min(self.timeout, left))
                if isinstance(got, Reply):
                    return dataclasses.replace(got, attempts=calls)
                failed += got.counts
                wait = max(got.wait or 0.0, full_jitter(calls - 1, self._dice))
                if not got.again or failed >= attempts or time.monotonic() + wait >= end:
                    self._say(got.detail)
                    return Failure(got.reason, got.detail, got.body, calls)
                await self._pause(wait)

    async def _once(self, method: str, path: str, payload: bytes | None, limit: float) -> Reply | _Trouble:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers={**self._headers, "Content-Type": "application/json"},
                connector=aiohttp.TCPConnector(limit=0),
            )
        url = self.endpoint + path
        try:
            async with self._session.request(
                method, url, data=payload, timeout=aiohttp.ClientTimeout(total=limit)
            ) as response:
                body = await response.read()
                return _judge_reply(url, response.status, response.headers.get("Retry-After"), body)
        except TimeoutError:
            return _Trouble(UnknownReason.TIMEOUT, f"{url}: no reply in {limit:.1f} s", again=True)
        except aiohttp.ClientConnectorError as error:
            return _Trouble(UnknownReason.JUDGE_DOWN, f"{url}: {error}", again=True, counts=False)
        except aiohttp.InvalidURL as error:
            return _Trouble(UnknownReason.REJECTED, f"{url}: not a URL: {error}", again=False)
        except (aiohttp.ClientError, OSError) as error:
            detail = f"{url}: the reply broke off: {type(error).__name__} {error}"
            return _Trouble(UnknownReason.JUDGE_DOWN, detail, again=True)

    def _say(self, detail: str) -> None:
        """Log each kind of failure once; the ledger has them all."""
        kind = detail.removeprefix(self.endpoint)[:32]
        if kind not in self._said and len(self._said) < 100:
            self._said.add(kind)
            log.warning("judge call failed: %s", detail)


def _judge_reply(url: str, status: int, after: str | None, body: bytes) -> Reply | _Trouble:
    if status == 200:
        try:
            data = orjson.loads(body)
        except orjson.JSONDecodeError:
            start = body[:60].decode("utf-8", "replace")
            return _Trouble(
                UnknownReason.UNPARSEABLE, f"{url}: status 200 but no JSON: {start!r}", again=True, body=body
            )
        if not isinstance(data, dict):
            return _Trouble(UnknownReason.UNPARSEABLE, f"{url}: status 200 but no object", again=False, body=body)
        inner = _error_status(data)
        if inner is None:
            return Reply(data, body, 1)
        if not 400 <= inner <= 599:
            detail = f"{url}: status 200 with an error object: {_message(body)}"
            return _Trouble(UnknownReason.UNPARSEABLE, detail, again=False, body=body)
        status = inner
    detail = f"{url}: status {status}: {_message(body)}"
    if status in _THROTTLED:
        wait = retry_after(after, datetime.datetime.now(datetime.UTC))
        return _Trouble(UnknownReason.JUDGE_DOWN, detail, again=True, counts=False, wait=wait, body=body)
    if status in _BROKEN:
        return _Trouble(UnknownReason.JUDGE_DOWN, detail, again=True, body=body)
    if status in (400, 413, 422) and _is_too_long(status, body):
        return _Trouble(UnknownReason.TOO_LONG, detail, again=False, body=body)
    if status == 404:
        detail = f"{detail} ({_ROUTE_HINT})"
    return _Trouble(UnknownReason.REJECTED, detail, again=False, body=body)


def _error_status(data: Mapping[str, Any]) -> int | None:
    """The status that an error object inside a reply of status 200 stands for; 0 if it names none."""
    error = data.get("error") if data.get("object") != "error" else data
    if not error:
        return None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) else int(code) if isinstance(code, str) and code.isdecimal() else 0


def _is_too_long(status: int, body: bytes) -> bool:
    text = body.lower()
    return status == 413 or b"context_length_exceeded" in text or b"context length" in text or b"max_model_len" in text


def _message(body: bytes) -> str:
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        data = None
    if isinstance(data, dict):
        error = data.get("error", data)
        found = error.get("message", error) if isinstance(error, dict) else error
        return str(found)[:300]
    return " ".join(body[:200].decode("utf-8", "replace").split())
