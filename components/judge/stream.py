"""A streamed chat completion, put together into the form of one that came at once."""

import collections
import re
from collections.abc import AsyncIterator
from typing import Any, Final

import aiohttp
import orjson

from components.judge.failures import ReplyTrouble
from components.judge.foreign import shown
from components.judge.sse import Event, EventParser
from components.judge.verdict import UnknownReason

_DONE: Final = b"[DONE]"
_MOST: Final = 16 << 20
"""Bytes of one reply; a server that sends more is broken."""
_BLAMES_CALL: Final = re.compile(
    r"invalid|unsupported|not_?found|length_exceeded|filter|inspection|policy", re.IGNORECASE
)
"""Error codes that another try will not change."""
_NUMBER: Final = re.compile(r"[0-9]{1,9}")


async def assemble(chunks: AsyncIterator[bytes]) -> dict[str, Any]:
    """Read a stream to its end.

    Returns:
        A ``chat.completion`` object with one choice. Reasoning is in ``message.reasoning_content`` and never in
        ``content``. A server that ignored the wish for a stream and sent one JSON object gives that object.

    Raises:
        ReplyTrouble: the stream holds an error or more than one reply, ends early, says nowhere why the reply ended,
            or is no stream.
    """
    stream = ChatStream()
    try:
        async for chunk in chunks:
            stream.feed(chunk)
    except (aiohttp.ClientPayloadError, aiohttp.ClientConnectionError, ConnectionError) as error:
        if not stream.finished:
            detail = f"the stream broke off: {type(error).__name__} {error}"
            raise ReplyTrouble(UnknownReason.STREAM_CUT, detail, again=True) from error
    return stream.close()


class ChatStream:
    """Takes the bytes of a streamed chat completion as they come."""

    def __init__(self) -> None:
        self._parser = EventParser()
        self._size = 0
        self._whole: bytearray | None = None
        self._begun = False
        self._done = False
        self._finish: str | None = None
        self._head: dict[str, Any] = {}
        self._parts: dict[str, list[str]] = {"content": [], "reasoning_content": [], "refusal": []}
        self._logprobs: list[Any] | None = None
        self._usage: dict[str, Any] | None = None
        self._spoke: collections.Counter[str] = collections.Counter()
        """Chunks with content, by the id of the reply that they are of."""
        self._ended: set[str] = set()
        """Ids under which a reason for the end was given."""

    @property
    def finished(self) -> bool:
        """Whether the reply is whole: the server has said why it ended."""
        return self._finish is not None

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes.

        Raises:
            ReplyTrouble: they hold an error, or are no chat completion.
        """
        self._size += len(chunk)
        if self._size > _MOST:
            raise _wrong(f"more than {_MOST} bytes in one reply", again=False)
        if not self._begun and chunk.strip():
            self._begun = True
            if chunk.lstrip()[:1] == b"{":
                self._whole = bytearray()
        if self._whole is not None:
            self._whole += chunk
            return
        for event in self._parser.feed(chunk):
            self._event(event)

    def close(self) -> dict[str, Any]:
        """The reply, once the stream has ended.

        Raises:
            ReplyTrouble: see :func:`assemble`.
        """
        if self._whole is not None:
            return _object(bytes(self._whole))
        for event in self._parser.close():
            if event.data.strip() != _DONE and not _is_json(event.data):
                break  # The stream was cut inside this event.
            self._event(event)
        if self._finish is None and not self._done:
            detail = "the stream ended without an end marker" if self._begun else "the stream is empty"
            raise ReplyTrouble(UnknownReason.STREAM_CUT, detail, again=True)
        if self._finish is None:
            raise ReplyTrouble(UnknownReason.NO_FINISH, "the stream says nowhere why the reply ended", again=True)
        if self._is_mixed():
            ids = ", ".join(repr(shown(each)) for each in list(self._spoke)[:3])
            raise _wrong(f"one stream with chunks of {len(self._spoke)} replies: {ids}", again=True)
        return self._completion()

    def _event(self, event: Event) -> None:
        if self._done:
            return
        if event.data.strip() == _DONE:
            self._done = True
            return
        try:
            data = orjson.loads(event.data)
        except orjson.JSONDecodeError as error:
            raise _wrong(f"an event is no JSON: {_start(event.data)!r}", again=True) from error
        if not isinstance(data, dict):
            raise _wrong(f"an event is no object: {_start(event.data)!r}", again=True)
        if event.kind == "error" or _is_error(data):
            raise _error(data, event.data)
        self._chunk(data)

    def _chunk(self, data: dict[str, Any]) -> None:
        for key in ("id", "model", "created"):
            if data.get(key) is not None:
                self._head.setdefault(key, data[key])
        if isinstance(data.get("usage"), dict):
            self._usage = data["usage"]
        choices = data.get("choices")
        for choice in choices if isinstance(choices, list) else []:
            if isinstance(choice, dict) and choice.get("index", 0) == 0:
                self._choice(choice, data.get("id"))

    def _is_mixed(self) -> bool:
        """Whether there is content of more than one reply.

        Chunks without an id belong to whichever there is. A server that gives every chunk an id of its own has three
        or more with content, none of them twice, and ends once.
        """
        counts = self._spoke.values()
        return len(counts) == 2 or (len(counts) > 2 and (max(counts) > 1 or len(self._ended) > 1))

    def _choice(self, choice: dict[str, Any], of: object) -> None:
        delta = choice.get("delta")
        name = of if isinstance(of, str) else ""
        spoke = False
        if isinstance(delta, dict):
            for key, value in (
                ("content", delta.get("content")),
                ("reasoning_content", delta.get("reasoning_content") or delta.get("reasoning")),
                ("refusal", delta.get("refusal")),
            ):
                if isinstance(value, str):
                    self._parts[key].append(value)
                    spoke = spoke or bool(value)
        if spoke and name:
            self._spoke[name] += 1
        logprobs = choice.get("logprobs")
        tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
        if isinstance(tokens, list):
            self._logprobs = self._logprobs or []
            self._logprobs.extend(tokens)
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish and name:
            self._ended.add(name)
        if isinstance(finish, str) and finish and _gravity(finish) >= _gravity(self._finish or "stop"):
            self._finish = finish

    def _completion(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._parts["content"])}
        for key in ("reasoning_content", "refusal"):
            if self._parts[key]:
                message[key] = "".join(self._parts[key])
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None if self._logprobs is None else {"content": self._logprobs},
            "finish_reason": self._finish,
        }
        return {**self._head, "object": "chat.completion", "choices": [choice], "usage": self._usage}


def _gravity(finish: str) -> int:
    """How much a reason for ending takes from a reply: a later chunk does not make good what an earlier one said."""
    return {"stop": 0, "length": 1, "content_filter": 3}.get(finish, 2)


def _object(whole: bytes) -> dict[str, Any]:
    try:
        data = orjson.loads(whole)
    except orjson.JSONDecodeError as error:
        raise ReplyTrouble(UnknownReason.STREAM_CUT, "neither a stream nor whole JSON", again=True) from error
    if not isinstance(data, dict):
        raise _wrong("neither a stream nor a JSON object", again=False)
    if _is_error(data):
        raise _error(data, whole)
    return data


def _is_error(data: dict[str, Any]) -> bool:
    """OpenAI and vLLM send {"error": ...}, older vLLM {"object": "error"}, DashScope also a bare code and message."""
    bare = "choices" not in data and "code" in data and "message" in data
    return bool(data.get("error")) or data.get("object") == "error" or bare


def _error(data: dict[str, Any], raw: bytes) -> ReplyTrouble:
    inner = data["error"] if data.get("error") else data
    message = shown(inner.get("message", inner) if isinstance(inner, dict) else inner)
    code = inner.get("code") if isinstance(inner, dict) else None
    again = True
    if isinstance(code, str) and not _NUMBER.fullmatch(code):
        again = not _BLAMES_CALL.search(code)
    elif isinstance(code, str | int | float):
        again = float(code) in (408, 429) or float(code) >= 500
    detail = f"an error inside the stream: {message}"
    return ReplyTrouble(UnknownReason.STREAM_ERROR, detail, again=again, body=raw)


def _wrong(detail: str, *, again: bool) -> ReplyTrouble:
    return ReplyTrouble(UnknownReason.STREAM_ERROR, detail, again=again)


def _is_json(data: bytes) -> bool:
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        return False
    return True


def _start(data: bytes) -> str:
    return data[:60].decode("utf-8", "replace")
