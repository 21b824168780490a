"""Counts what one execution takes, and ends it at its limits."""

from components.workflow.errors import AbstainError, BudgetError
from components.workflow.types import Budget, Cost


class Meter:
    """The account of one execution. A limit is passed by whoever uses more than it; what came of that is not handed on,
    so that the end of an execution does not depend on which of two calls was faster.

    Args:
        budget: the limits.
        priced: whether the executor model's tokens cost money.

    Attributes:
        cost: so far.
    """

    def __init__(self, budget: Budget, *, priced: bool) -> None:
        self._budget = budget
        self.cost = Cost(0, 0, 0, 0.0, 0.0 if priced else None)
        self._operators = 0
        self._questions = 0
        self._bytes = 0
        self._ended: BudgetError | AbstainError | None = None

    def check(self) -> None:
        """Nothing, as long as the execution goes on.

        Raises:
            BudgetError: it went over its budget.
            AbstainError: it abstained.
        """
        if self._ended is not None:
            raise self._ended

    def end(self, error: BudgetError | AbstainError) -> None:
        """End the execution; whatever it tries from now on raises the first such error."""
        if self._ended is None:
            self._ended = error

    def operator(self) -> None:
        """Count one call of an operator. Raises as :meth:`check` does."""
        self.check()
        self._operators += 1
        self._within("calls", "calls of operators", self._operators, self._budget.calls)

    def question(self) -> None:
        """Count one call of the model, before it is made. Raises as :meth:`check` does."""
        self.check()
        self._questions += 1
        self._within("calls", "calls of the model", self._questions, self._budget.calls)

    def carry(self, size: int) -> None:
        """Count bytes that cross between the workflow and its operators. Raises as :meth:`check` does."""
        self.check()
        self._bytes += size
        self._within("bytes", "bytes", self._bytes, self._budget.bytes)

    def spend(self, cost: Cost) -> None:
        """Add a cost. Raises as :meth:`check` does."""
        self.cost += cost
        self.check()
        self._within("tokens", "tokens", self.cost.tokens, self._budget.tokens)
        self._within("seconds", "seconds", self.cost.seconds, self._budget.seconds)

    def lose(self, cost: Cost) -> None:
        """Add the cost of what came to nothing because its caller gave it up; a limit that it passes shows later."""
        self.cost += cost

    def _within(self, limit: str, unit: str, used: float, allowed: float) -> None:
        if used > allowed:
            self.end(BudgetError(limit, f"{used:.6g} {unit} of {allowed:.6g} allowed"))
            self.check()
