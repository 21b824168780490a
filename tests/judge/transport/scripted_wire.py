"""A wire whose server is a function, and replies that repeat the number of their call."""

import asyncio
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from virtual_time import now

from components.judge.failures import Failure
from components.judge.transport import Limits, Reply, Transport
from components.judge.transport.reading import read_reply
from components.judge.transport.reply import Good, Signal, Trouble
from components.judge.transport.wire import ReadStream
from components.judge.verdict import UnknownReason


@dataclasses.dataclass(frozen=True)
class Came:
    """One call as the server sees it."""

    time: float
    endpoint: int
    key: int
    number: int


@dataclasses.dataclass(frozen=True)
class Says:
    """What the server says to it: a status after ``seconds``; None for a connection that nobody takes."""

    status: int | None = 200
    seconds: float = 0.1
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)


Server = Callable[[Came], Says]


class ScriptedWire:
    """Keeps what came, and how many calls were under way at once."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.came: list[Came] = []
        self.under_way = 0
        self.most = 0
        self.closed = 0

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
        number = -1 if payload is None else orjson.loads(payload)["number"]
        came = Came(now(), endpoint, key, number)
        self.came.append(came)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            says = self.server(came)
            if says.seconds > limit:
                await asyncio.sleep(limit)
                return Trouble(UnknownReason.TIMEOUT, "no reply", Signal.SLOW, again=True)
            await asyncio.sleep(says.seconds)
        finally:
            self.under_way -= 1
        if says.status is None:
            return Trouble(UnknownReason.JUDGE_DOWN, "not taken", Signal.UNREACHED, again=True, counts=False)
        data: Any = {"number": number} if says.status == 200 else {"error": {"message": "no"}}
        return read_reply("http://judge", says.status, says.headers, orjson.dumps(data), None)

    async def close(self) -> None:
        self.closed += 1


def transport(
    wire: ScriptedWire,
    *,
    endpoints: int = 1,
    keys: int = 0,
    timeout: float = 10.0,
    attempts: int = 3,
    **limits: Any,
) -> Transport:
    """A transport over ``wire`` in the running loop's time."""
    return Transport(
        [f"http://judge-{number}" for number in range(endpoints)],
        keys=[f"key-{number}" for number in range(keys)],
        timeout=timeout,
        attempts=attempts,
        limits=Limits(**{"concurrency": 8, **limits}),
        clock=now,
        wire=wire,
    )


async def ask_all(wire: ScriptedWire, count: int, **settings: Any) -> list[Reply | Failure]:
    """What becomes of that many calls put at once, in their order."""
    calls = transport(wire, **settings)
    try:
        return list(await asyncio.gather(*(calls.post("/v1", {"number": number}) for number in range(count))))
    finally:
        await calls.close()
