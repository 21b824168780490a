"""Self-consistency: the candidate that agrees best with the others."""

from components.sandbox.outcome import JSON
from components.workflow.operators.base.field import Arguments, Field, Kind
from components.workflow.operators.base.operator import Operator
from components.workflow.operators.base.reading import chosen, lettered, tagged


class ScEnsemble(Operator):
    """One vote of the model over lettered candidates."""

    about = "The model compares several candidate solutions, and the one that most of them agree with is returned."
    inputs = (
        Field("solutions", Kind.TEXTS, "the candidates, 1 to 26"),
        Field("problem", Kind.TEXT, "what they are solutions of"),
    )
    outputs = (Field("response", Kind.TEXT, "the chosen candidate, unchanged"),)

    async def run(self, given: Arguments) -> dict[str, JSON]:
        solutions = given.texts("solutions")
        values = {"problem": given.text("problem"), "solutions": lettered(solutions)}
        reply = await self.desk.ask(self.prompt(values))
        fields = tagged(reply, ("letter",), ("thought",))
        return {"response": solutions[chosen(fields["letter"], len(solutions))]}
