"""Equal questions that are under way at once are asked once."""

import asyncio
import dataclasses
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

Key = TypeVar("Key")
Result = TypeVar("Result")


@dataclasses.dataclass(slots=True)
class _Flight(Generic[Result]):
    task: asyncio.Task[Result]
    callers: int = 0


class Flights(Generic[Key, Result]):
    """One task a key; whoever comes while it runs gets its result. For one event loop.

    A caller who is cancelled leaves the others waiting; the task ends with its last caller.
    """

    def __init__(self) -> None:
        self._flights: dict[Key, _Flight[Result]] = {}

    async def run(self, key: Key, make: Callable[[], Coroutine[Any, Any, Result]]) -> tuple[Result, bool]:
        """The result for ``key``, and whether this caller's ``make`` was what ran."""
        flight = self._flights.get(key)
        first = flight is None
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(make()))
            flight.task.add_done_callback(lambda _: self._forget(key, flight))
        flight.callers += 1
        try:
            return await asyncio.shield(flight.task), first
        finally:
            flight.callers -= 1
            if not flight.callers and not flight.task.done():
                flight.task.cancel()
                self._forget(key, flight)

    def _forget(self, key: Key, flight: _Flight[Result] | None) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
