"""Runs programs that an executor model wrote, in sandboxes of this machine."""

import dataclasses
from typing import Final

from components.core.errors import ServiceError
from components.sandbox.limits import Limits
from components.sandbox.outcome import Failure, FailureKind, Outcome
from components.sandbox.sandbox import Sandbox
from components.tasks.code import CodeOutcome, CodeRunner
from components.tasks.gold import CodeGold
from components.workflow.errors import AbstainError

LIMITS: Final = Limits(
    cpu_seconds=15,
    wall_seconds=30.0,
    memory_bytes=1 << 30,
    file_bytes=1 << 20,
    output_bytes=1 << 16,
    value_bytes=1 << 14,
    shut_files=True,
)
"""Of a program of Programmer: 30 s as in AFlow, of which at most half on the processor."""

_CALL: Final = "gavel_solved"
_ASKS: Final = f"""

def {_CALL}():
    value = solve()
    return None if value is None or hasattr(value, "__await__") else str(value)
"""


class Programs:
    """Where untrusted programs run.

    Args:
        limits: of a program that computes an answer; programs under test have those of :class:`CodeRunner`.
        concurrency: programs of each kind at once; None for as many as this process has cores.
    """

    def __init__(self, limits: Limits = LIMITS, *, concurrency: int | None = None) -> None:
        self._sandbox = Sandbox(dataclasses.replace(limits, shut_files=True), concurrency=concurrency)
        self._runner = CodeRunner(concurrency=concurrency)

    async def solve(self, program: str) -> Outcome:
        """What ``solve()`` of a program returns, as a text; None if it returns nothing.

        Raises:
            AbstainError: the sandbox failed.
        """
        try:
            outcome = await self._sandbox.run(program + _ASKS, _CALL)
        except ServiceError as error:
            raise AbstainError("sandbox", error.what) from error
        if isinstance(outcome, Failure) and outcome.kind is FailureKind.KILLED:
            # No program can bring this about by itself.
            raise AbstainError("sandbox", f"the program's process: {outcome.detail}")
        return outcome

    async def test(self, gold: CodeGold, solution: str) -> CodeOutcome:
        """Whether a program passes tests.

        Raises:
            AbstainError: the sandbox failed, or the tests themselves cannot be run.
        """
        outcome = await self._runner.run(gold, solution)
        if outcome.passed is None:
            raise AbstainError(outcome.reason, outcome.detail)
        return outcome

    async def close(self) -> None:
        """End the processes."""
        await self._sandbox.close()
        await self._runner.close()
