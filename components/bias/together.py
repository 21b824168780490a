"""Coroutines that run side by side, and end together when one of them fails."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from components.core.errors import GavelError

T = TypeVar("T")


async def together(*calls: Coroutine[Any, Any, T]) -> list[T]:
    """Results in order. When one fails, the others are cancelled and waited for.

    Raises:
        GavelError: of several the first: they say the same of the same judge.
        BaseExceptionGroup: all failures, where one of them is none of these: a fault of the program is never hidden.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in calls]
    except BaseExceptionGroup as failures:
        found, others = failures.split(GavelError)
        if found is None or others is not None:
            raise
        error = _first(found)
    else:
        return [task.result() for task in tasks]
    raise error


def _first(errors: BaseExceptionGroup[GavelError]) -> GavelError:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
