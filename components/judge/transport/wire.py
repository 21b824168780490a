"""One HTTP call over a session that all calls share."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Protocol

import aiohttp
import yarl
from multidict import CIMultiDict

from components.judge.failures import ReplyTrouble
from components.judge.transport.reading import Classify, read_reply
from components.judge.transport.reply import Good, Signal, Trouble
from components.judge.verdict import UnknownReason

ReadStream = Callable[[AsyncIterator[bytes]], Awaitable[dict[str, Any]]]
"""Reads a streamed reply of status 200 to its end and gives what it says; raises ReplyTrouble."""


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
    """

    def __init__(self, endpoints: Sequence[str], keys: Sequence[str | None], classify: Classify | None) -> None:
        self._endpoints = endpoints
        common = {"Content-Type": "application/json"}
        self._headers = [CIMultiDict({**common, "Authorization": f"Bearer {key}"} if key else common) for key in keys]
        self._classify = classify
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
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("User-Agent",),
            )
        url = self._endpoints[endpoint] + path
        streaming = False
        try:
            async with self._session.request(
                method,
                self._url(endpoint, path, url),
                data=payload,
                headers=self._headers[key],
                timeout=self._timeout(limit),
                allow_redirects=False,
            ) as response:
                # A server may answer a wish for a stream with a plain object.
                streaming = read is not None and response.status == 200 and response.content_type != "application/json"
                if read is not None and streaming:
                    return await _read_stream(url, response, read)
                body = await response.read()
                return read_reply(url, response.status, response.headers, body, self._classify)
        except TimeoutError:
            return Trouble(UnknownReason.TIMEOUT, f"{url}: no reply in {limit:.1f} s", Signal.SLOW, again=True)
        except aiohttp.ClientConnectorError as error:
            return Trouble(UnknownReason.JUDGE_DOWN, f"{url}: {error}", Signal.UNREACHED, again=True, counts=False)
        except (aiohttp.InvalidURL, ValueError) as error:
            return Trouble(UnknownReason.REJECTED, f"{url}: not a URL: {error}", Signal.ALIVE, again=False)
        except (aiohttp.ClientError, OSError) as error:
            detail = f"{url}: the reply broke off: {type(error).__name__} {error}"
            reason = UnknownReason.STREAM_CUT if streaming else UnknownReason.JUDGE_DOWN
            return Trouble(reason, detail, Signal.BROKEN, again=True)

    async def close(self) -> None:
        """Close the session; calling it twice is harmless."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _url(self, endpoint: int, path: str, text: str) -> yarl.URL:
        """Parsed once."""
        url = self._urls.get((endpoint, path))
        if url is None:
            url = self._urls[endpoint, path] = yarl.URL(text)
        return url

    def _timeout(self, limit: float) -> aiohttp.ClientTimeout:
        found = self._timeouts.get(limit)
        if found is None:
            found = aiohttp.ClientTimeout(total=limit)
            if len(self._timeouts) < 8:
                self._timeouts[limit] = found
        return found


async def _read_stream(url: str, response: aiohttp.ClientResponse, read: ReadStream) -> Good | Trouble:
    chunks: list[bytes] = []

    async def pieces() -> AsyncIterator[bytes]:
        async for piece in response.content.iter_any():
            chunks.append(piece)
            yield piece

    try:
        data = await read(pieces())
    except ReplyTrouble as trouble:
        detail = f"{url}: {trouble.detail}"
        return Trouble(trouble.reason, detail, Signal.ALIVE, again=trouble.again, body=trouble.body or b"".join(chunks))
    return Good(data, b"".join(chunks))
