"""Writes a program under an instruction of the workflow's own."""

from components.sandbox.outcome import JSON
from components.workflow.operators.base.field import Arguments, Field, Kind
from components.workflow.operators.base.operator import Operator
from components.workflow.operators.base.programs import check_name, program_in


class CustomCodeGenerate(Operator):
    """Code alone, with a function of the wanted name."""

    about = "The model writes a Python program that defines the function entry_point, following your instruction."
    inputs = (
        Field("problem", Kind.TEXT, "what the program is to do"),
        Field("entry_point", Kind.TEXT, "name of the function that it must define"),
        Field("instruction", Kind.TEXT, "how it is to be written, in your own words; may be empty"),
    )
    outputs = (Field("response", Kind.TEXT, "the program, code alone"),)

    async def run(self, given: Arguments) -> dict[str, JSON]:
        name = given.text("entry_point")
        check_name(name)
        values = {each: given.text(each) for each in ("problem", "entry_point", "instruction")}
        return {"response": program_in(await self.desk.ask(self.prompt(values)), name)}
