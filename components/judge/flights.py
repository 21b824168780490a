"""Equal questions that are under way at once are asked once."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

Key = TypeVar("Key")
Result = TypeVar("Result")


class _Flight(Generic[Result]):
    """A task and those who wait for it, each by a future of its own: whoever is cancelled cancels nothing else."""

    __slots__ = ("task", "waiters")

    def __init__(self, task: "asyncio.Task[Result]") -> None:
        self.task = task
        self.waiters: list[asyncio.Future[None]] = []

    def land(self, _: object) -> None:
        for waiter in self.waiters:
            if not waiter.done():
                waiter.set_result(None)


class Flights(Generic[Key, Result]):
    """One task a key; whoever comes while it runs gets its result. For one event loop.

    A caller who is cancelled leaves the others waiting; the task ends with its last caller.
    """

    def __init__(self) -> None:
        self._flights: dict[Key, _Flight[Result]] = {}

    async def run(self, key: Key, make: Callable[[], Coroutine[Any, Any, Result]]) -> tuple[Result, bool]:
        """The result for ``key``, and whether this caller's ``make`` was what ran."""
        loop = asyncio.get_running_loop()
        flight = self._flights.get(key)
        first = flight is None or flight.task.done()
        if flight is None or first:
            flight = self._flights[key] = _Flight(loop.create_task(make()))
            flight.task.add_done_callback(flight.land)
        waiter: asyncio.Future[None] = loop.create_future()
        flight.waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            flight.waiters.remove(waiter)
            if not flight.waiters and not flight.task.done():
                flight.task.cancel()
            if not flight.waiters:
                self._forget(key, flight)
            raise
        self._forget(key, flight)
        return flight.task.result(), first

    def _forget(self, key: Key, flight: _Flight[Result]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
