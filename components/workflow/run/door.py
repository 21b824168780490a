"""The one way out of a workflow's sandbox: reads calls from the socket, has the broker do them, writes replies."""

import asyncio
import dataclasses
import socket
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from components.sandbox.outcome import JSON
from components.workflow.errors import AbstainError, BudgetError, OperatorError
from components.workflow.run.execution import FailReason, Status
from components.workflow.run.messages import LONGEST, Asked, ProtocolError, read, written
from components.workflow.types import Budget, Call, Cost

_CHUNK: Final = 1 << 16
_LATE_SECONDS: Final = 0.5


class Broker(Protocol):
    """Does the calls of one execution, and meters them."""

    async def call(self, operator: str, arguments: Mapping[str, JSON]) -> Mapping[str, JSON]:
        """The operator's outputs.

        Raises:
            OperatorError: it gave none; the workflow may go on.
            BudgetError: the execution has used up what it may, and has failed.
            AbstainError: something failed that no workflow can help.
        """
        ...

    @property
    def trace(self) -> Sequence[Call]:
        """The calls that ended."""
        ...

    @property
    def cost(self) -> Cost:
        """Of all calls so far."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Ending:
    """Why an execution is over before its program has answered. Attributes as of an Execution."""

    status: Status
    reason: str
    detail: str


class Door:
    """One execution's calls.

    Args:
        end: our end of the socket, closed when the execution is over: the program's process then ends.
        broker: does the calls.
        budget: no more calls than this are read.
        own_seconds: of time with no call under way, over the whole execution.

    Attributes:
        ending: why it is over; None as long as nothing but the program may end it.
        outputs: calls that gave outputs.
    """

    def __init__(self, end: socket.socket, broker: Broker, budget: Budget, own_seconds: float) -> None:
        self.ending: Ending | None = None
        self.outputs = 0
        self._end = end
        self._broker = broker
        self._budget = budget
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._at_work: dict[int, float] = {}
        self._read = 0
        self._writing = asyncio.Lock()
        self._own = own_seconds
        self._own_left = own_seconds
        self._idle_since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._unexpected: BaseException | None = None
        end.setblocking(False)
        self._idle()

    async def serve(self) -> None:
        """Read calls until either side closes the socket."""
        got = bytearray()
        try:
            while self.ending is None and (data := await self._loop.sock_recv(self._end, _CHUNK)):
                got += data
                while len(got) >= 4 and self.ending is None:
                    size = int.from_bytes(got[:4], "big")
                    if size > LONGEST:
                        raise ProtocolError(f"a message of {size} bytes; at most {LONGEST}")
                    if len(got) < 4 + size:
                        break
                    asked = read(bytes(got[4 : 4 + size]))
                    del got[: 4 + size]
                    self._take(asked)
                    # So that what a call does is done before the next one is read.
                    await asyncio.sleep(0)
        except ProtocolError as error:
            self._over(Status.FAILED, FailReason.PROTOCOL, str(error))
        except OSError:
            # The program's process ended, or the execution is over.
            pass

    async def close(self) -> None:
        """End all calls under way.

        Raises:
            BaseException: what a call raised that is none of its errors: a mistake of ours.
        """
        if self._timer is not None:
            self._timer.cancel()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._end.close()
        if self._unexpected is not None:
            raise self._unexpected

    def longest_wait(self) -> float:
        """Seconds that the oldest call under way has taken; 0 where none is."""
        now = self._loop.time()
        return max((now - begun for begun in self._at_work.values()), default=0.0)

    def _take(self, asked: Asked) -> None:
        self._read += 1
        if self._read > self._budget.calls:
            self._over(Status.FAILED, FailReason.BUDGET, f"more than {self._budget.calls} calls of operators")
            return
        if not self._at_work:
            self._busy()
        self._at_work[self._read] = self._loop.time()
        task = self._loop.create_task(self._do(asked, self._read))
        self._tasks.add(task)
        task.add_done_callback(self._done)

    async def _do(self, asked: Asked, place: int) -> None:
        told = await self._told(asked, place)
        if told is None:
            return
        async with self._writing:
            if self.ending is None:
                try:
                    await self._loop.sock_sendall(self._end, written(asked.number, told))
                except OSError:
                    # The program has ended; its process's end is what counts.
                    pass

    async def _told(self, asked: Asked, place: int) -> dict[str, JSON] | None:
        """The reply to a call; None where the execution is over with it. The program's own time runs on from here: it
        is its own doing how soon it reads the reply."""
        try:
            outputs = await self._broker.call(asked.operator, asked.arguments)
        except OperatorError as error:
            told: dict[str, JSON] = {"error": [error.reason.value, error.what]}
        except BudgetError as error:
            self._over(Status.FAILED, FailReason.BUDGET, f"{error.limit}: {error.what}")
            return None
        except AbstainError as error:
            self._over(Status.ABSTAINED, error.reason, error.what)
            return None
        else:
            self.outputs += 1
            told = {"outputs": dict(outputs)}
        finally:
            del self._at_work[place]
            if not self._at_work and self.ending is None:
                self._idle()
        return {**told, "tokens": self._broker.cost.tokens}

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and self._unexpected is None:
            self._unexpected = error
            self._over(Status.ABSTAINED, "broker", str(error))

    def _idle(self) -> None:
        self._idle_since = self._loop.time()
        self._timer = self._loop.call_later(self._own_left, self._own_used)

    def _busy(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._own_left = max(0.0, self._own_left - (self._loop.time() - self._idle_since))

    def _own_used(self) -> None:
        # What has come by now, while this loop was busy with something else, is read first.
        self._timer = self._loop.call_later(_LATE_SECONDS, self._own_over)

    def _own_over(self) -> None:
        self._over(Status.FAILED, FailReason.TIME_LIMIT, f"{self._own:g} s passed in which no operator was at work")

    def _over(self, status: Status, reason: str, detail: str) -> None:
        """The first of these counts; with the socket the program ends."""
        if self.ending is None:
            self.ending = Ending(status, str(reason), detail)
            try:
                self._end.shutdown(socket.SHUT_RDWR)
            except OSError:
                # The other end was first.
                pass
