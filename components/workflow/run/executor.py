"""Runs plans: each program in a sandbox of its own, its calls through a door to a broker of its own."""

import asyncio
import os
import socket
from collections.abc import Callable, Mapping
from typing import Final

from components.core.errors import ServiceError
from components.core.text import is_text
from components.sandbox.limits import Limits
from components.sandbox.outcome import JSON, Failure, FailureKind, Outcome
from components.sandbox.sandbox import Sandbox
from components.workflow.contract.outcome import Plan
from components.workflow.contract.signature import Signature
from components.workflow.preload import preload
from components.workflow.run import inside
from components.workflow.run.door import Broker, Door, Ending
from components.workflow.run.execution import Execution, FailReason, Status
from components.workflow.types import Budget, Problem

LIMITS: Final = Limits(
    cpu_seconds=10,
    wall_seconds=1800.0,
    memory_bytes=512 << 20,
    file_bytes=1 << 20,
    output_bytes=1 << 16,
    value_bytes=1 << 18,
    shut_files=True,
)
"""Of the program's process. Wall time is mostly the executor model's; ``own_seconds`` bounds the rest."""
OWN_SECONDS: Final = 60.0
_CONFIG: Final[Mapping[str, JSON]] = {"model": "executor"}
_FAILED: Final = {
    FailureKind.TIMEOUT: FailReason.TIME_LIMIT,
    FailureKind.MEMORY: FailReason.MEMORY_LIMIT,
    FailureKind.CRASH: FailReason.ENDED,
    FailureKind.IMPORT_ERROR: FailReason.IMPORT_ERROR,
    FailureKind.EXCEPTION: FailReason.EXCEPTION,
    FailureKind.BAD_RESULT: FailReason.BAD_RETURN,
    FailureKind.TOO_LARGE: FailReason.OUTPUT_LIMIT,
}
"""Ends that a program brings about; ``KILLED`` is none."""

BrokerOf = Callable[[Problem, Budget], Broker]


class Executor:
    """Runs workflows that nobody vouches for.

    Args:
        brokers: makes the broker of one execution.
        signatures: of the operators that there are, by name; the program gets stand-ins for these.
        limits: of a program's process.
        own_seconds: of wall time with no call of an operator under way, over one execution.
        concurrency: executions at once, which mostly wait for the model; None for four a core.
        level: kind of isolation; None for the strongest that this machine permits.
    """

    def __init__(
        self,
        brokers: BrokerOf,
        signatures: Mapping[str, Signature],
        *,
        limits: Limits = LIMITS,
        own_seconds: float = OWN_SECONDS,
        concurrency: int | None = None,
        level: str | None = None,
    ) -> None:
        at_once = concurrency or 4 * len(os.sched_getaffinity(0))
        self._brokers = brokers
        self._operators: dict[str, JSON] = {
            name: [given.name for given in each.inputs] for name, each in signatures.items()
        }
        self._own_seconds = own_seconds
        self._wall_seconds = limits.wall_seconds
        prelude = preload((inside,), "execute", "import asyncio")
        self._sandbox = Sandbox(limits, concurrency=at_once, prelude=prelude, level=level)
        self._slots = asyncio.Semaphore(at_once)

    async def run(self, plan: Plan, problem: Problem, budget: Budget) -> Execution:
        """Run a workflow on a problem.

        Args:
            plan: what validation gave.
            problem: its text and its entry point are all that the program gets.
            budget: of its calls.
        """
        arguments: list[JSON] = [problem.text]
        if plan.takes_entry_point:
            arguments.append(problem.entry_point)
        task: dict[str, JSON] = {
            "operators": self._operators,
            "name": "workflow",
            "dataset": problem.dataset,
            "config": dict(_CONFIG),
            "arguments": arguments,
        }
        async with self._slots:
            begun = asyncio.get_running_loop().time()
            broker = self._brokers(problem, budget)
            ours, theirs = socket.socketpair()
            door = Door(ours, broker, budget, self._own_seconds)
            serving = asyncio.create_task(door.serve())
            ending: Ending | tuple[str, float]
            try:
                outcome = await self._sandbox.run("", "execute", [plan.source, task], peer=theirs, leashed=True)
                ending = door.ending or _ending(outcome, door, self._wall_seconds)
            except ServiceError as error:
                ending = Ending(Status.ABSTAINED, "sandbox", error.what)
            finally:
                serving.cancel()
                await asyncio.gather(serving, return_exceptions=True)
                await door.close()
            seconds = asyncio.get_running_loop().time() - begun
        cost, trace = broker.cost, tuple(broker.trace)
        if isinstance(ending, Ending):
            return Execution(ending.status, None, ending.reason, ending.detail, cost, None, trace, seconds)
        answer, claimed = ending
        return Execution(Status.ANSWERED, answer, None, "", cost, claimed, trace, seconds)

    async def close(self) -> None:
        """End the processes."""
        await self._sandbox.close()


def _ending(outcome: Outcome, door: Door, wall_seconds: float) -> Ending | tuple[str, float]:
    """What the program's process came to: an answer with the cost that it claims, or why there is none."""
    if isinstance(outcome, Failure):
        if outcome.kind is FailureKind.TIMEOUT and door.longest_wait() >= wall_seconds / 2:
            waited = f"a call of an operator was under way for {door.longest_wait():.0f} s"
            return Ending(Status.ABSTAINED, "executor_stalled", waited)
        reason = _FAILED.get(outcome.kind)
        if reason is None:
            return Ending(Status.ABSTAINED, "sandbox", outcome.detail)
        return Ending(Status.FAILED, str(reason), outcome.detail)
    found = outcome.value
    if not isinstance(found, dict):
        return Ending(Status.FAILED, str(FailReason.BAD_RETURN), "no pair (answer, cost) was returned")
    answer, cost, wrong = found.get("answer"), found.get("cost"), found.get("wrong")
    if isinstance(wrong, str):
        return Ending(Status.FAILED, str(FailReason.BAD_RETURN), wrong[:300])
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        return Ending(Status.FAILED, str(FailReason.BAD_RETURN), "the answer is no text and no number")
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 <= cost < float("inf"):
        return Ending(Status.FAILED, str(FailReason.BAD_RETURN), "the cost is no number from 0 on")
    try:
        text = answer if isinstance(answer, str) else str(answer)
        claimed = float(cost)
    except (ValueError, OverflowError):
        return Ending(Status.FAILED, str(FailReason.BAD_RETURN), "a number of too many digits")
    if not is_text(text):
        return Ending(Status.FAILED, str(FailReason.BAD_RETURN), "the answer is no text that UTF-8 can write")
    if not door.outputs:
        return Ending(Status.FAILED, str(FailReason.NO_CALL), "no operator gave it anything")
    return text, claimed
