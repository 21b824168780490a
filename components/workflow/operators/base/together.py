"""Questions that are put at once."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

Result = TypeVar("Result")


async def together(work: Sequence[Coroutine[Any, Any, Result]]) -> list[Result]:
    """The results in the order of ``work``.

    Raises:
        Exception: as the first one to fail does; the others are cancelled, and are over before it is raised.
    """
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
