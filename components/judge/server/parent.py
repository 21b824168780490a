"""The server must not outlive the command that started it."""

import asyncio

from components.core.services.process import ProcessId


async def wait_until_gone(parent: str, every: float = 1.0) -> None:
    """Return once the process ``PID:START`` has ended, or its number belongs to another process.

    Raises:
        ServiceError: ``parent`` is not of that form.
    """
    watched = ProcessId.parse(parent)
    gone = asyncio.Event()
    while not gone.is_set():
        if not watched.alive():
            gone.set()
        else:
            await asyncio.sleep(every)
