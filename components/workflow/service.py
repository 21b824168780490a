"""Everything that executes workflows in one process: sandboxes, brokers, and the executor model wherever it is now."""

from collections.abc import Callable, Mapping
from typing import Final

from components.core.errors import JudgeError
from components.judge.verdict import UnknownReason
from components.workflow.broker.broker import Broker, Enhance
from components.workflow.broker.executor import ExecutorModel
from components.workflow.contract.outcome import Plan
from components.workflow.contract.signature import Signature
from components.workflow.operators import REGISTRY
from components.workflow.run.execution import Execution, Status
from components.workflow.run.executor import Executor
from components.workflow.signatures import signature
from components.workflow.types import Budget, Problem

SIGNATURES: Final[Mapping[str, Signature]] = {
    name: signature(name, each.inputs, each.outputs) for name, each in REGISTRY.items()
}
"""Of all operators that there are."""
_AWAY: Final = frozenset({UnknownReason.JUDGE_DOWN, UnknownReason.TIMEOUT, UnknownReason.REJECTED})
"""What is heard from an address that nobody, or somebody else, has by now."""


class ExecutorService:
    """Runs workflows. For one event loop.

    An executor model that was restarted may stand at another address: where it is away it is looked for again, and what
    abstained for it is run once more at its new place.

    Args:
        find: its address now; raises JudgeError where none is known.
        build: makes the model at an address.
        enhance: makes layer 2 for a model of that name; None applies nothing.
        concurrency: executions at once; None for four a core.

    Raises:
        JudgeError: it cannot be found or built at first.
    """

    def __init__(
        self,
        find: Callable[[], str],
        build: Callable[[str], ExecutorModel],
        enhance: Callable[[str], Enhance] | None = None,
        *,
        concurrency: int | None = None,
    ) -> None:
        self._find, self._build = find, build
        self._address = find()
        self._model = build(self._address)
        self._former: list[ExecutorModel] = []
        self._enhance = None if enhance is None else enhance(self._model.name)
        self._executor = Executor(self._broker, SIGNATURES, concurrency=concurrency)

    async def run(self, plan: Plan, problem: Problem, budget: Budget) -> Execution:
        """See :meth:`components.workflow.run.executor.Executor.run`."""
        asked = self._model
        found = await self._executor.run(plan, problem, budget)
        if found.status is Status.ABSTAINED and found.reason in _AWAY:
            self._follow()
            if self._model is not asked:
                return await self._executor.run(plan, problem, budget)
        return found

    async def close(self) -> None:
        """End the processes, and release the model's connections. The ledger belongs to the caller."""
        await self._executor.close()
        for model in (*self._former, self._model):
            await model.close()

    def _broker(self, problem: Problem, budget: Budget) -> Broker:
        return Broker(self._model, budget, problem, self._enhance)

    def _follow(self) -> None:
        """Go on at the model's present address, if it is known and another one."""
        try:
            address = self._find()
        except JudgeError:
            # Not there again so far.
            return
        if address != self._address:
            # Executions under way still have the former one.
            self._former.append(self._model)
            self._model, self._address = self._build(address), address
