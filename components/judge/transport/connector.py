"""Connections that are used again only if nothing came on them while nobody had asked."""

from typing import Any

import aiohttp
from aiohttp.connector import Connection


class CleanConnector(aiohttp.TCPConnector):
    """Drops a kept connection on which bytes lie that no call asked for.

    aiohttp (3.14) looks at that when a call ends and not when the next one begins; a second reply that a confused
    server sends in between would be taken for the answer to another call.
    """

    async def _get(self, key: Any, traces: Any) -> Connection | None:
        found = await super()._get(key, traces)
        while found is not None and found.protocol is not None and found.protocol.should_close:
            found.close()
            found = await super()._get(key, traces)
        return found
