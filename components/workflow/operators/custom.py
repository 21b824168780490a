"""The model with an instruction of the workflow's own."""

from components.sandbox.outcome import JSON
from components.workflow.operators.base.field import Arguments, Field, Kind
from components.workflow.operators.base.operator import Operator


class Custom(Operator):
    """Asks the model whatever the workflow wants."""

    about = "Asks the model with your instruction, followed by the input. The reply is returned as it is."
    inputs = (
        Field("input", Kind.TEXT, "what the instruction is about, such as the problem"),
        Field("instruction", Kind.TEXT, "what the model is to do with it, in your own words"),
    )
    outputs = (Field("response", Kind.TEXT, "the model's reply"),)

    async def run(self, given: Arguments) -> dict[str, JSON]:
        values = {name: given.text(name) for name in ("input", "instruction")}
        return {"response": await self.desk.ask(self.prompt(values))}
