"""How many tokens a text has, by the judge's own server: vLLM's POST /tokenize."""

import collections
import hashlib
import logging
import time
from typing import Final

import orjson

from components.judge.carrier import Carrier, Reply
from components.judge.failures import Failure
from components.judge.flights import Flights

log = logging.getLogger(__name__)

_KEPT: Final = 4096
"""Texts whose counts are kept, by their hashes."""

_PATIENCE: Final = 10.0
"""Seconds for one count; whoever waits for it has not asked the judge yet."""

_FAILURES: Final = 3
"""Failures in a row after which no more is asked: a count is never worth holding the judge's calls up."""


class ServerCount:
    """Counts texts by the server, each once; None where it does not say. For one event loop.

    These requests make the model read nothing and nobody bills them, so they are in no ledger and no budget; permits
    and rates hold for them as for calls.

    Args:
        judge: its name, for the log.
        model: the model's name at the server.
        route: path behind the endpoint.
        transport: makes the calls; the caller closes it.
    """

    def __init__(self, judge: str, model: str, route: str, transport: Carrier) -> None:
        self.route = route
        self.asks = True
        """False once the server lacks the route, or has failed too often."""
        self._judge = judge
        self._model = model
        self._transport = transport
        self._failures = 0
        self._known: collections.OrderedDict[bytes, int] = collections.OrderedDict()
        self._flights: Flights[bytes, int | None] = Flights()

    async def __call__(self, text: str) -> int | None:
        """Tokens of ``text``, without those that the tokenizer adds at its ends."""
        data = text.encode("utf-8", "replace")
        key = hashlib.sha256(data).digest()
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        if not self.asks:
            return None
        count, _ = await self._flights.run(key, lambda: self._ask(data.decode()))
        if count is not None:
            self._known[key] = count
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return count

    async def _ask(self, text: str) -> int | None:
        body = orjson.dumps({"model": self._model, "prompt": text, "add_special_tokens": False})
        got = await self._transport.post(self.route, body, deadline=time.monotonic() + _PATIENCE)
        count = None if isinstance(got, Failure) else _count(got)
        if count is not None:
            self._failures = 0
            return count
        self._failures += 1
        detail = got.detail if isinstance(got, Failure) else "the reply has no count"
        absent = "status 404" in detail or "status 405" in detail
        if self.asks and (absent or self._failures >= _FAILURES):
            self.asks = False
            log.warning("judge %s: words are counted from now on, not tokens: %s", self._judge, detail)
        return None


def _count(reply: Reply) -> int | None:
    count = reply.data.get("count")
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None
