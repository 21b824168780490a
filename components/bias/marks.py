"""A mark on a scale, asked of a chat judge: the pointwise protocol."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from components.bias.mark_reading import read_mark
from components.bias.types import Form
from components.judge.calls import Ask
from components.judge.failures import Failure
from components.judge.protocols.asking import UNREADABLE, Question
from components.judge.protocols.base import Sampling, version_of
from components.judge.protocols.chat_template import load_chat
from components.judge.protocols.quotation import fence, one_line, shown
from components.judge.verdict import UnknownReason

NAME: Final = "pointwise"
FIELDS: Final = frozenset({"question", "response", "criteria", "scale", "marks"})
FOLDER: Final = Path(__file__).with_name("prompts")
_VERSION: Final = 1


class Marks:
    """Asks for a mark; once more where the reply cannot be read.

    Args:
        sampling: of the replies.
    """

    def __init__(self, sampling: Sampling) -> None:
        template = load_chat(NAME, FIELDS, FOLDER)
        self._question = Question(template, sampling)
        self.version = version_of(NAME, _VERSION, template.digest)

    async def mark(self, form: Form, question: str, ask: Ask) -> int | Failure:
        """The mark's place on ``form.scale``, from 0.

        Args:
            form: what is judged.
            question: the request as shown, with the reference where there is one.
            ask: puts the calls.
        """
        got = await self._once(form, question, ask, again=False)
        if isinstance(got, Failure) and got.reason in UNREADABLE:
            return await self._once(form, question, ask, again=True)
        return got

    async def _once(self, form: Form, question: str, ask: Ask, *, again: bool) -> int | Failure:
        values = {
            "question": fence("QUESTION", question),
            "response": fence("RESPONSE", form.response, question),
            "criteria": "\n".join(f"- {one_line(text)}" for text in form.criteria),
            "scale": explained(form),
            "marks": ", ".join(form.scale),
        }
        answer = await self._question.put(ask, values, again=again, schema=_schema(form.scale))
        if isinstance(answer, Failure):
            return answer
        cut = answer.finish == "length"
        place = read_mark(answer.text, form.scale, cut=cut, quoted=(shown(question), shown(form.response)))
        if isinstance(place, UnknownReason):
            answer.drop()
            raw = answer.text.encode("utf-8", "replace")
            return Failure(place, f"the reply came and is {place.value}", raw, answer.attempts)
        return place


def explained(form: Form) -> str:
    """The scale's lines, in the order of ``form.listing``; the lowest and the highest mark say what they mean."""
    lowest, highest = form.scale[0], form.scale[-1]
    meaning = {lowest: f"{lowest} is the worst mark", highest: f"{highest} is the best mark"}
    ordered = form.scale if form.listing == "up" else form.scale[::-1]
    return "\n".join(meaning.get(mark, mark) for mark in ordered)


def _schema(scale: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"explanation": {"type": "string"}, "mark": {"type": "string", "enum": list(scale)}},
        "required": ["explanation", "mark"],
        "additionalProperties": False,
    }
