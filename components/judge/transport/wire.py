"""One HTTP call over a session that all calls share."""

import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final, Protocol

import aiohttp
import orjson
import yarl
from multidict import CIMultiDict

from components.judge.failures import ReplyTrouble
from components.judge.transport.breakage import what_broke
from components.judge.transport.connector import CleanConnector
from components.judge.transport.reading import Classify, read_reply
from components.judge.transport.redaction import Redaction
from components.judge.transport.reply import Good, Signal, Trouble
from components.judge.verdict import UnknownReason

ReadStream = Callable[[AsyncIterator[bytes]], Awaitable[dict[str, Any]]]
"""Reads a streamed reply of status 200 to its end and gives what it says; raises ReplyTrouble."""


_MOST: Final = 32 << 20
_KEPT: Final = 64 << 10
"""Bytes kept of a stream that fails, to be looked at."""
_CONNECT: Final = 10.0
"""Seconds in which a server that is up takes a connection."""


_UNREADABLE: Final = (ValueError, TypeError, OverflowError, RecursionError)
"""What reading foreign bytes may raise, whatever is checked before: a server chooses them."""


class Wire(Protocol):
    """Makes one call; never raises for what the network or the server does."""

    async def send(
        self,
        method: str,
        endpoint: int,
        key: int,
        path: str,
        payload: bytes | None,
        limit: float,
        read: ReadStream | None,
    ) -> Good | Trouble: ...

    async def close(self) -> None: ...


class HttpWire:
    """Calls by aiohttp.

    Args:
        endpoints: base URLs.
        keys: bearer tokens; None for none.
        classify: a provider's own meaning of replies.
        most: bytes of one reply, decompressed; a server that sends more is broken.
    """

    def __init__(
        self,
        endpoints: Sequence[str],
        keys: Sequence[str | None],
        classify: Classify | None,
        *,
        most: int = _MOST,
    ) -> None:
        self._endpoints = endpoints
        common = {"Content-Type": "application/json"}
        self._redaction = Redaction(keys)
        self._headers = [CIMultiDict({**common, "Authorization": f"Bearer {key}"} if key else common) for key in keys]
        self._classify = classify
        self._most = most
        self._session: aiohttp.ClientSession | None = None
        self._urls: dict[tuple[int, str], yarl.URL] = {}
        self._timeouts: dict[float, aiohttp.ClientTimeout] = {}

    async def send(
        self,
        method: str,
        endpoint: int,
        key: int,
        path: str,
        payload: bytes | None,
        limit: float,
        read: ReadStream | None,
    ) -> Good | Trouble:
        """See :class:`Wire`. ``limit``: seconds for the whole call."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=CleanConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("User-Agent",),
            )
        text = self._endpoints[endpoint] + path
        url = self._url(endpoint, path, text)
        if url is None:
            return Trouble(UnknownReason.REJECTED, f"{text}: not a URL", Signal.ALIVE, again=False)
        began = streaming = False
        try:
            async with self._session.request(
                method,
                url,
                data=payload,
                headers=self._headers[key],
                timeout=self._timeout(limit),
                allow_redirects=False,
            ) as response:
                began = True
                # A server may answer a wish for a stream with a plain object.
                streaming = read is not None and response.status == 200 and response.content_type != "application/json"
                if read is not None and streaming:
                    return await _read_stream(text, response, read, self._most, self._redaction)
                body = await _read_body(response, self._most)
                if body is None:
                    return _too_large(text, self._most)
                return _read_whole(text, response, body, self._classify, self._redaction)
        except (aiohttp.ClientError, OSError, *_UNREADABLE) as error:
            alone = len(self._endpoints) == 1
            return what_broke(
                error, text, limit, began=began, streaming=streaming, alone=alone, clean=self._redaction.text
            )

    async def close(self) -> None:
        """Close the session; calling it twice is harmless."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _url(self, endpoint: int, path: str, text: str) -> yarl.URL | None:
        """Parsed once; None if it is none."""
        url = self._urls.get((endpoint, path))
        if url is None:
            try:
                url = self._urls[endpoint, path] = yarl.URL(text)
            except ValueError:
                return None
        return url

    def _timeout(self, limit: float) -> aiohttp.ClientTimeout:
        found = self._timeouts.get(limit)
        if found is None:
            found = aiohttp.ClientTimeout(total=limit, sock_connect=_CONNECT if limit > _CONNECT else None)
            if len(self._timeouts) < 8:
                self._timeouts[limit] = found
        return found


async def _read_body(response: aiohttp.ClientResponse, most: int) -> bytes | None:
    """The whole body; None if it is larger than ``most`` bytes."""
    length = response.content_length
    # A compressed body can be of any size whatever its length is.
    if length is not None and length <= most and "Content-Encoding" not in response.headers:
        return await response.read()
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > most:
            return None
    return bytes(body)


def _read_whole(
    url: str, response: aiohttp.ClientResponse, body: bytes, classify: Classify | None, redaction: Redaction
) -> Good | Trouble:
    headers = CIMultiDict(response.headers) if "Location" in response.headers else response.headers
    if isinstance(headers, CIMultiDict):
        headers["Location"] = redaction.text(headers["Location"])
    got = read_reply(url, response.status, headers, redaction.raw(body), classify)
    return got if isinstance(got, Good) else dataclasses.replace(got, detail=redaction.text(got.detail))


async def _read_stream(
    url: str, response: aiohttp.ClientResponse, read: ReadStream, most: int, redaction: Redaction
) -> Good | Trouble:
    start = bytearray()

    async def counted() -> AsyncIterator[bytes]:
        size = 0
        async for piece in response.content.iter_any():
            size += len(piece)
            if size > most:
                raise ReplyTrouble(UnknownReason.STREAM_ERROR, f"more than {most} bytes in one reply", again=False)
            yield piece

    async def pieces() -> AsyncIterator[bytes]:
        async for piece in redaction.pieces(counted()):
            if len(start) < _KEPT:
                start.extend(piece[: _KEPT - len(start)])
            yield piece

    try:
        data = await read(pieces())
    except ReplyTrouble as trouble:
        signal = Signal.BROKEN if trouble.reason is UnknownReason.STREAM_CUT else Signal.ALIVE
        body = trouble.body or bytes(start)
        detail = redaction.text(f"{url}: {trouble.detail}")
        return Trouble(trouble.reason, detail, signal, again=trouble.again, body=body)
    return Good(*redaction.decoded(data, orjson.dumps(data)))


def _too_large(url: str, most: int) -> Trouble:
    detail = f"{url}: more than {most} bytes in one reply; is it a chat server?"
    return Trouble(UnknownReason.UNPARSEABLE, detail, Signal.ALIVE, again=False)
