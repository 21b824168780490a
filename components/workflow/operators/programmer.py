"""Answers by a program that is run."""

from components.core.text import is_text
from components.sandbox.outcome import JSON, Value
from components.workflow.errors import OperatorError, OperatorReason
from components.workflow.operators.base.field import Arguments, Field, Kind
from components.workflow.operators.base.operator import Operator
from components.workflow.operators.base.programs import program_in

_TRIES = 3


class Programmer(Operator):
    """A program without arguments, in the sandbox; up to three tries, each told what went wrong with the last one."""

    about = (
        "The model writes a Python function solve() without arguments that computes the answer, and it is run in a "
        "sandbox. Up to three tries."
    )
    inputs = (
        Field("problem", Kind.TEXT, "what is to be computed"),
        Field("analysis", Kind.TEXT, "thoughts about how to compute it", default="None"),
    )
    outputs = (
        Field("code", Kind.TEXT, "the program"),
        Field("output", Kind.TEXT, "what solve() returned, as a text"),
    )
    asks = _TRIES

    async def run(self, given: Arguments) -> dict[str, JSON]:
        values = {"problem": given.text("problem"), "analysis": given.text("analysis")}
        feedback = last = ""
        for _ in range(_TRIES):
            reply = await self.desk.ask(self.prompt({**values, "feedback": feedback}))
            code = program_in(reply, "solve")
            outcome = await self.desk.solve(code)
            if isinstance(outcome, Value) and isinstance(outcome.value, str):
                if is_text(outcome.value):
                    return {"code": code, "output": outcome.value}
                last = "it returned a text that UTF-8 cannot write, with half a surrogate pair"
            else:
                last = "it returned nothing" if isinstance(outcome, Value) else f"{outcome.kind}: {outcome.detail}"
            feedback = f"An earlier program failed.\n\nProgram:\n```python\n{code}\n```\n\nWhat went wrong: {last}"
        raise OperatorError(OperatorReason.PROGRAM_FAILED, f"{_TRIES} programs failed; the last one: {last[:300]}")
