"""What one call of an operator may use, metered."""

import asyncio
from collections import Counter

from components.sandbox.outcome import Outcome
from components.tasks.code import CodeOutcome
from components.tasks.gold import CodeGold
from components.workflow.broker.executor import ExecutorModel
from components.workflow.broker.meter import Meter
from components.workflow.errors import OperatorError, OperatorReason
from components.workflow.types import Cost, Problem

Draws = Counter[tuple[str, str]]
"""How often an execution has put a question: by the operator's version, and the prompt."""


class MeteredDesk:
    """Implements :class:`components.workflow.operators.base.desk.Desk`.

    Args:
        version: of the operator.
        problem: what the workflow is to solve.
        executor: model and sandboxes.
        meter: of the execution.
        enhancement: text of layer 2, which every prompt begins with; None for none.
        draws: of the execution.
        turns: bounds the questions of the execution that are under way at once.

    Attributes:
        problem: see above.
        enhancement: see above.
        cost: of this call so far.
        applied: whether a prompt has borne the enhancement.
    """

    def __init__(
        self,
        version: str,
        problem: Problem,
        executor: ExecutorModel,
        meter: Meter,
        enhancement: str | None,
        draws: Draws,
        turns: asyncio.Semaphore,
    ) -> None:
        self.problem = problem
        self.cost = Cost(0, 0, 0, 0.0, 0.0 if executor.priced else None)
        self.applied = False
        self.enhancement = enhancement
        self._version = version
        self._executor = executor
        self._meter = meter
        self._draws = draws
        self._turns = turns

    async def ask(self, prompt: str) -> str:
        """See the protocol."""
        text = prompt if self.enhancement is None else f"{self.enhancement}\n\n{prompt}"
        if not text.strip():
            # Some servers refuse it, as if the model could not be asked at all.
            raise OperatorError(OperatorReason.ARGUMENTS, "the prompt is empty: say what the model is to do")
        self._meter.question()
        draw = self._draws[self._version, text]
        self._draws[self._version, text] += 1
        async with self._turns:
            self._meter.check()
            self.applied = self.enhancement is not None
            try:
                said = await self._executor.ask(text, protocol=self._version, draw=draw)
            except asyncio.CancelledError:
                # Its workflow went on without the reply, which the server may be writing by now.
                lost = self._executor.given_up(text)
                self.cost += lost
                self._meter.lose(lost)
                raise
        self._spend(said.cost)
        if not isinstance(said.outcome, str):
            raise said.outcome
        return said.outcome

    async def solve(self, program: str) -> Outcome:
        """See the protocol."""
        self._meter.check()
        outcome = await self._executor.programs.solve(program)
        self._spend(Cost(0, 0, 0, outcome.seconds, 0.0))
        return outcome

    async def test(self, gold: CodeGold, solution: str) -> CodeOutcome:
        """See the protocol."""
        self._meter.check()
        outcome = await self._executor.programs.test(gold, solution)
        self._spend(Cost(0, 0, 0, outcome.seconds, 0.0))
        return outcome

    def _spend(self, cost: Cost) -> None:
        self.cost += cost
        self._meter.spend(cost)
