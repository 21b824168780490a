"""Thinks step by step, then answers."""

from components.sandbox.outcome import JSON
from components.workflow.operators.base.field import Arguments, Field, Kind
from components.workflow.operators.base.operator import Operator
from components.workflow.operators.base.reading import tagged


class AnswerGenerate(Operator):
    """Steps and a final answer, apart from each other."""

    about = "The model works through the input step by step and gives a final answer apart from the steps."
    inputs = (Field("input", Kind.TEXT, "the problem, with whatever the model should know about it"),)
    outputs = (
        Field("thought", Kind.TEXT, "the steps"),
        Field("answer", Kind.TEXT, "the final answer alone"),
    )

    async def run(self, given: Arguments) -> dict[str, JSON]:
        reply = await self.desk.ask(self.prompt({"input": given.text("input")}))
        return {**tagged(reply, ("thought", "answer"))}
