"""Mends a solution after a review."""

from components.sandbox.outcome import JSON
from components.workflow.operators.base.field import Arguments, Field, Kind
from components.workflow.operators.base.operator import Operator
from components.workflow.operators.base.reading import tagged


class Revise(Operator):
    """A new solution in view of feedback."""

    about = "The model writes a solution anew in view of feedback, such as that of Review."
    inputs = (
        Field("problem", Kind.TEXT, "what was asked"),
        Field("solution", Kind.TEXT, "the solution that was found wanting"),
        Field("feedback", Kind.TEXT, "what is wrong with it"),
    )
    outputs = (Field("solution", Kind.TEXT, "the new solution, whole"),)

    async def run(self, given: Arguments) -> dict[str, JSON]:
        values = {name: given.text(name) for name in ("problem", "solution", "feedback")}
        return {**tagged(await self.desk.ask(self.prompt(values)), ("solution",))}
