"""One HTTP call at a time, never repeated: for looking at an endpoint, where a repetition would hide what it does."""

import dataclasses
from typing import Any, Self

import aiohttp
import orjson

from components.judge.carrier import Reader
from components.judge.failures import Failure, ReplyTrouble
from components.judge.verdict import UnknownReason


@dataclasses.dataclass(frozen=True, slots=True)
class WireReply:
    """See :class:`components.judge.carrier.Reply`."""

    data: dict[str, Any]
    body: bytes
    attempts: int = 1
    key: int = 0
    endpoint: int = 0

    def used(self, tokens: int) -> None:
        """No bucket here."""


class Wire:
    """A carrier that tries once and says what came.

    Args:
        endpoint: base URL without ``/v1``.
        key: bearer token, or None.
        timeout: seconds of one call.
    """

    def __init__(self, endpoint: str, *, key: str | None, timeout: float) -> None:
        self._endpoint = endpoint.rstrip("/")
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        self._timeout = timeout
        self._session = aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=timeout))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def post(
        self,
        path: str,
        body: bytes,
        *,
        tokens: int = 0,
        read: Reader | None = None,
        deadline: float | None = None,
    ) -> WireReply | Failure:
        """See :class:`components.judge.carrier.Carrier`."""
        return await self._call("POST", path, body, read)

    async def get(self, path: str) -> WireReply | Failure:
        """GET ``path``."""
        return await self._call("GET", path, None, None)

    async def _call(self, method: str, path: str, body: bytes | None, read: Reader | None) -> WireReply | Failure:
        url = self._endpoint + path

        def failed(reason: UnknownReason, detail: str, raw: bytes | None = None) -> Failure:
            return Failure(reason, f"{url}: {detail}", raw, 1)

        try:
            async with self._session.request(method, url, data=body) as response:
                if response.status == 200 and read is not None:
                    data = await read(response.content.iter_any())
                    return WireReply(data, orjson.dumps(data))
                raw = await response.read()
                status = response.status
        except ReplyTrouble as trouble:
            return failed(trouble.reason, trouble.detail, trouble.body)
        except TimeoutError:
            return failed(UnknownReason.TIMEOUT, f"no reply in {self._timeout:.0f} s")
        except (aiohttp.InvalidURL, ValueError) as error:
            return failed(UnknownReason.REJECTED, f"not a URL: {error}")
        except (aiohttp.ClientError, OSError) as error:
            return failed(UnknownReason.JUDGE_DOWN, f"{type(error).__name__} {error}")
        if status != 200:
            text = " ".join(raw[:400].decode("utf-8", "replace").split())
            reason = UnknownReason.JUDGE_DOWN if status in (408, 429) or status >= 500 else UnknownReason.REJECTED
            return failed(reason, f"status {status}: {text}", raw)
        try:
            data = orjson.loads(raw)
        except orjson.JSONDecodeError:
            return failed(UnknownReason.UNPARSEABLE, "status 200 but no JSON", raw)
        if not isinstance(data, dict) or data.get("error"):
            return failed(UnknownReason.UNPARSEABLE, f"status 200 but {str(data)[:200]}", raw)
        return WireReply(data, raw)
