"""Lines for whoever waits for a model that takes its time."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

from components.core.progress import clock_text

EVERY: Final = 10.0
"""Seconds between two lines."""


@contextlib.asynccontextmanager
async def waiting(what: str, most: float, *, every: float = EVERY) -> AsyncIterator[None]:
    """Say what is waited for, and again and again how long it has taken.

    Args:
        what: is under way.
        most: seconds that it may take.
        every: seconds between two lines.
    """
    print(f"{what} (at most {clock_text(most)}) ...", flush=True)
    task = asyncio.create_task(_tell(what, most, every))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _tell(what: str, most: float, every: float) -> None:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    while True:
        await asyncio.sleep(every)
        print(f"{what}: {clock_text(loop.time() - begun)} of at most {clock_text(most)}", flush=True)
