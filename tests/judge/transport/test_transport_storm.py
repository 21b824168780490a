"""A server that permits a rate and refuses the rest with 429 for a while: what we make of it, in virtual time.

Before and after the storm the server takes all that 64 permits carry, 160 calls a second at 0.4 s each.
"""

import asyncio
import dataclasses
import math
from collections.abc import Callable

import pytest
from scripted_wire import Came, Says, ScriptedWire, transport
from virtual_time import now, run

from components.judge.transport import Reply

BEGIN, END = 10.0, 50.0
PLENTY = 64 / 0.4


@dataclasses.dataclass
class Limited:
    """Takes ``rate`` calls a second during the storm, counted as a token bucket or over fixed windows."""

    rate: float
    burst: float
    window: float | None
    header: Callable[[float], dict[str, str]]
    level: float = 0.0
    at: float = BEGIN
    taken: dict[int, int] = dataclasses.field(default_factory=dict)
    good: list[float] = dataclasses.field(default_factory=list)
    refused: int = 0

    def __call__(self, came: Came) -> Says:
        wait = self.wait(came.time) if BEGIN <= came.time < END else 0.0
        if wait > 0.0:
            self.refused += 1
            return Says(429, 0.02, self.header(wait))
        self.good.append(came.time)
        # The length of an answer differs from call to call, and comes from the call's number alone.
        return Says(200, 0.2 + 0.4 * (came.number * 2654435761 % 1000) / 999)

    def wait(self, time: float) -> float:
        if self.window is not None:
            slot = int((time - BEGIN) / self.window)
            if self.taken.get(slot, 0) >= self.rate * self.window:
                return BEGIN + (slot + 1) * self.window - time
            self.taken[slot] = self.taken.get(slot, 0) + 1
            return 0.0
        self.level = min(self.burst, self.level + (time - self.at) * self.rate)
        self.at = time
        if self.level < 1.0:
            return (1.0 - self.level) / self.rate
        self.level -= 1.0
        return 0.0


def silent(_: float) -> dict[str, str]:
    return {}


def whole_seconds(wait: float) -> dict[str, str]:
    return {"Retry-After": str(math.ceil(wait))}


def milliseconds(wait: float) -> dict[str, str]:
    return {"retry-after-ms": str(math.ceil(1000.0 * wait))}


STORMS = {
    "bucket, silent": (40.0, 40.0, None, silent),
    "bucket, whole seconds": (40.0, 80.0, None, whole_seconds),
    "bucket, milliseconds": (40.0, 20.0, None, milliseconds),
    "slow bucket, silent": (5.0, 10.0, None, silent),
    "near the rate that is asked, silent": (130.0, 65.0, None, silent),
    "window of 10 s, silent": (40.0, 0.0, 10.0, silent),
    "window of 10 s, whole seconds": (40.0, 0.0, 10.0, whole_seconds),
}


@pytest.mark.parametrize("name", STORMS)
def test_a_storm(name: str) -> None:
    rate, burst, window, header = STORMS[name]
    server = Limited(rate, burst, window, header)
    wire = ScriptedWire(server)

    async def ask() -> tuple[int, list[float]]:
        calls = transport(wire, concurrency=64, timeout=60.0)
        numbers = iter(range(10**6))
        wrong, ends = 0, []

        async def caller() -> None:
            nonlocal wrong
            while now() < END + 16.0:
                number = next(numbers)
                got = await calls.post("/v1", {"number": number})
                wrong += not isinstance(got, Reply) or got.data != {"number": number}
                ends.append(now())

        await asyncio.gather(*(caller() for _ in range(256)))
        return wrong, ends

    wrong, ends = run(ask())
    assert wrong == 0
    permitted = rate * (END - BEGIN)
    used = sum(BEGIN <= time < END for time in server.good)
    print(f"{name}: used {used / permitted:.3f} of the permitted rate, refused {server.refused}")
    assert used >= 0.9 * permitted
    # Within five seconds of the end the rate is what it was before.
    after = sum(END + 5.0 <= time < END + 15.0 for time in ends) / 10.0
    before = sum(4.0 <= time < 9.0 for time in ends) / 5.0
    print(f"{name}: {before:.0f} a second before, {after:.0f} after")
    assert before >= 0.9 * PLENTY
    assert after >= 0.9 * before
