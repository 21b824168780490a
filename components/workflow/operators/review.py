"""Accepts or rejects a solution."""

from components.sandbox.outcome import JSON
from components.workflow.errors import OperatorError, OperatorReason
from components.workflow.operators.base.field import Arguments, Field, Kind
from components.workflow.operators.base.operator import Operator
from components.workflow.operators.base.reading import tagged, truth


class Review(Operator):
    """A verdict of the model, as a boolean, and its reason."""

    about = "The model checks a solution. It rejects it only if it is very sure that it is wrong, and then says why."
    inputs = (
        Field("problem", Kind.TEXT, "what was asked"),
        Field("solution", Kind.TEXT, "the solution to be checked"),
    )
    outputs = (
        Field("review_result", Kind.BOOLEAN, "True if the solution is accepted"),
        Field("feedback", Kind.TEXT, "why it is rejected; may be empty if it is accepted"),
    )

    async def run(self, given: Arguments) -> dict[str, JSON]:
        values = {name: given.text(name) for name in ("problem", "solution")}
        fields = tagged(await self.desk.ask(self.prompt(values)), ("review_result",), ("feedback",))
        accepted = truth(fields["review_result"], "review_result")
        if not accepted and not fields["feedback"]:
            raise OperatorError(OperatorReason.MISSING_FIELD, "the reply rejects the solution and has no <feedback>")
        return {"review_result": accepted, "feedback": fields["feedback"]}
