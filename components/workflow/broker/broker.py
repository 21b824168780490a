"""Answers the calls of one execution: which operator, with which arguments, within which budget."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from components.sandbox.outcome import JSON
from components.workflow.broker.desk import MeteredDesk
from components.workflow.broker.executor import ExecutorModel
from components.workflow.broker.meter import Meter
from components.workflow.broker.shown import shown, size
from components.workflow.errors import AbstainError, BudgetError, OperatorError, OperatorReason
from components.workflow.operators import REGISTRY
from components.workflow.operators.base.operator import Operator
from components.workflow.types import Budget, Call, Cost, Problem

Enhance = Callable[[str, Problem], str | None]
"""Layer 2: the text that prompts of an operator begin with on a problem; None for none. Whoever makes it binds the
executor model's name (:attr:`ExecutorModel.name`)."""

_AT_ONCE: Final = 8
"""Questions of one execution that are under way at once: more would crowd out other executions."""
_MOST: Final = 16
"""Arguments of one call in the trace."""


class Broker:
    """The only way from one execution's code to the model. For one event loop.

    Args:
        executor: model and sandboxes; the caller closes it.
        budget: limits of this execution.
        problem: what the workflow is to solve.
        enhance: see :data:`Enhance`; None applies nothing.
        registry: the operators that there are.
    """

    def __init__(
        self,
        executor: ExecutorModel,
        budget: Budget,
        problem: Problem,
        enhance: Enhance | None = None,
        *,
        registry: Mapping[str, type[Operator]] = REGISTRY,
    ) -> None:
        self._executor = executor
        self._problem = problem
        self._enhance = enhance
        self._registry = registry
        self._meter = Meter(budget, priced=executor.priced)
        self._draws: Counter[tuple[str, str]] = Counter()
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._calls: list[Call | None] = []

    @property
    def trace(self) -> tuple[Call, ...]:
        """The calls that are over, in the order in which they began."""
        return tuple(call for call in self._calls if call is not None)

    @property
    def cost(self) -> Cost:
        """Of the execution so far."""
        return self._meter.cost

    async def call(self, operator: str, arguments: Mapping[str, JSON]) -> Mapping[str, JSON]:
        """One call of an operator.

        Args:
            operator: its name, as untrusted code says it.
            arguments: by name, likewise; any JSON.

        Raises:
            OperatorError: the workflow's doing, or a reply of the model that cannot be read; the workflow may catch it.
            BudgetError: the execution went over its budget; it has failed, and each further call raises this again.
            AbstainError: something failed that no workflow can help; each further call raises this again.
            JudgeError: the ledger cannot be written.
        """
        self._meter.check()
        place = len(self._calls)
        self._calls.append(None)
        desk, outputs = None, None
        error: str | None = "not finished"
        try:
            self._meter.operator()
            self._meter.carry(size(arguments))
            kind = self._kind(operator)
            desk = self._desk(kind)
            made = await kind(desk)(**arguments)
            self._meter.carry(size(made))
            outputs, error = made, None
        except (BudgetError, AbstainError) as ended:
            self._meter.end(ended)
            error = f"{ended.where}: {ended.what}"
            raise
        except OperatorError as refused:
            error = f"{refused.reason.value}: {refused.what}"
            raise
        finally:
            self._calls[place] = self._told(operator, arguments, outputs, error, desk)
        return made

    def _kind(self, operator: str) -> type[Operator]:
        kind = self._registry.get(operator)
        if kind is None:
            what = f"there is no operator {shown(operator)}; there are {', '.join(self._registry)}"
            raise OperatorError(OperatorReason.UNKNOWN_OPERATOR, what)
        return kind

    def _desk(self, kind: type[Operator]) -> MeteredDesk:
        text = None if self._enhance is None else self._enhance(kind.name, self._problem)
        enhancement = text.strip() or None if text is not None else None
        return MeteredDesk(
            kind.version, self._problem, self._executor, self._meter, enhancement, self._draws, self._turns
        )

    def _told(
        self,
        operator: str,
        arguments: Mapping[str, JSON],
        outputs: Mapping[str, JSON] | None,
        error: str | None,
        desk: MeteredDesk | None,
    ) -> Call:
        name = str(shown(operator))
        given = {str(shown(key)): shown(value) for key, value in itertools.islice(arguments.items(), _MOST)}
        if desk is None:
            return Call(name, given, outputs, error, Cost(0, 0, 0, 0.0, 0.0 if self._executor.priced else None), None)
        return Call(name, given, outputs, error, desk.cost, desk.enhancement if desk.applied else None)
