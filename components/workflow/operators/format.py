"""Brings a solution into the shortest form of its answer."""

from components.sandbox.outcome import JSON
from components.workflow.operators.base.field import Arguments, Field, Kind
from components.workflow.operators.base.operator import Operator
from components.workflow.operators.base.reading import tagged


class Format(Operator):
    """The answer alone."""

    about = "The model takes the final answer out of a solution and states it as briefly as it can be stated."
    inputs = (
        Field("problem", Kind.TEXT, "what was asked"),
        Field("solution", Kind.TEXT, "a solution with its answer somewhere in it"),
    )
    outputs = (Field("solution", Kind.TEXT, "the answer alone"),)

    async def run(self, given: Arguments) -> dict[str, JSON]:
        values = {name: given.text(name) for name in ("problem", "solution")}
        return {**tagged(await self.desk.ask(self.prompt(values)), ("solution",))}
