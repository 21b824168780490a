"""What an operator is given for one call: the model, and places where code runs."""

from typing import Protocol

from components.sandbox.outcome import Outcome
from components.tasks.code import CodeOutcome
from components.tasks.gold import CodeGold
from components.workflow.types import Problem


class Desk(Protocol):
    """The trusted side, as one call of an operator sees it. Whatever it does is metered.

    Each method raises BudgetError when the execution has used up its budget, and AbstainError where something fails
    that no workflow can help.
    """

    @property
    def problem(self) -> Problem:
        """What the workflow is to solve."""
        ...

    async def ask(self, prompt: str) -> str:
        """The executor model's reply without its reasoning, never blank. Equal prompts of one execution are asked anew
        each time.

        Raises:
            OperatorError: the prompt is too long, or the reply blank or cut before its first word.
        """
        ...

    async def solve(self, program: str) -> Outcome:
        """What the function ``solve`` of an untrusted program returns, as a text."""
        ...

    async def test(self, gold: CodeGold, solution: str) -> CodeOutcome:
        """What tests say of an untrusted program; never unknown."""
        ...
