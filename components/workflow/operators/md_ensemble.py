"""A majority of votes over candidates in changing order, so that no place among them is favoured."""

import random
from collections import Counter

from components.core.identity import digest
from components.sandbox.outcome import JSON
from components.workflow.operators.base.field import Arguments, Field, Kind
from components.workflow.operators.base.operator import Operator
from components.workflow.operators.base.reading import chosen, lettered, tagged
from components.workflow.operators.base.together import together


class MdEnsemble(Operator):
    """Several votes of the model; of candidates with equally many, the one that stands first in the list."""

    about = (
        "The model votes several times for the best of the candidates, which it sees in another order each time; the "
        "candidate with most votes is returned."
    )
    inputs = (
        Field("solutions", Kind.TEXTS, "the candidates, 1 to 26"),
        Field("problem", Kind.TEXT, "what they are solutions of"),
        Field("vote_count", Kind.INTEGER, "votes, 1 to 9", default=5, most=9),
    )
    outputs = (Field("solution", Kind.TEXT, "the chosen candidate, unchanged"),)
    asks = "vote_count"

    async def run(self, given: Arguments) -> dict[str, JSON]:
        solutions, problem = given.texts("solutions"), given.text("problem")
        # The order depends on what is voted on alone, so that the same execution has the same prompts again.
        dice = random.Random(digest([solutions, problem]))
        orders = [dice.sample(range(len(solutions)), len(solutions)) for _ in range(given.number("vote_count"))]
        counts = Counter(await together([self._vote(problem, solutions, order) for order in orders]))
        return {"solution": solutions[min(counts, key=lambda index: (-counts[index], index))]}

    async def _vote(self, problem: str, solutions: list[str], order: list[int]) -> int:
        values = {"problem": problem, "solutions": lettered([solutions[index] for index in order])}
        fields = tagged(await self.desk.ask(self.prompt(values)), ("letter",), ("thought",))
        return order[chosen(fields["letter"], len(order))]
