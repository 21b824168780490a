"""One call a criterion: the shared text stands first in every prompt, so that the server computes it once.

Three protocols are built so: a rubric's criterion with an explanation, a VerIF constraint, and the comparison of an
answer with a reference. They differ in the template and in the form of the reply.
"""

import asyncio
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Final

from components.judge.calls import Ask
from components.judge.failures import Failure
from components.judge.parsing.brackets import read_brackets
from components.judge.parsing.reply import Reading, read_reply
from components.judge.protocols.asking import Question, heard, told, twice
from components.judge.protocols.base import Opinion, Sampling, version_of
from components.judge.protocols.chat_template import ChatTemplate
from components.judge.protocols.quotation import fence, one_line
from components.judge.verdict import Criterion, Sample, VerdictStatus

_VERSION: Final = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Form:
    """What is asked and how the reply is read.

    Attributes:
        name: of the protocol.
        field: the template's field for the criterion's text, beside ``question`` and ``response``.
        show: how that text stands in the prompt.
        read: from the reply, whether it was cut, and what it may quote, to what it says.
        schema: JSON schema of the reply; None where it is no JSON.
    """

    name: str
    field: str
    show: Callable[[str], str]
    read: Callable[[str, bool, str], Reading]
    schema: Mapping[str, Any] | None

    @property
    def fields(self) -> frozenset[str]:
        """Fields of its template."""
        return frozenset({"question", "response", self.field})


def _json(reply: str, cut: bool, quoted: str) -> Reading:
    return read_reply(reply, [1], cut=cut, quoted=quoted)[1]


def _schema(label: str, values: list[str] | None) -> Mapping[str, Any]:
    kind: dict[str, Any] = {"type": "boolean"} if values is None else {"type": "string", "enum": values}
    return {
        "type": "object",
        "properties": {"explanation": {"type": "string"}, label: kind},
        "required": ["explanation", label],
        "additionalProperties": False,
    }


PER_CRITERION: Final = Form(
    "rubric_per_criterion",
    "criterion",
    one_line,
    _json,
    _schema("verdict", [VerdictStatus.MET.value, VerdictStatus.UNMET.value]),
)
VERIF_PER_CONSTRAINT: Final = Form("verif_per_constraint", "criterion", one_line, read_brackets, None)
SEMANTIC_EQUALITY: Final = Form(
    "semantic_equality", "reference", lambda text: fence("REFERENCE", text), _json, _schema("same", None)
)
"""The criterion's text is the reference answer."""


class PerCriterion:
    """See the module.

    Args:
        form: which of the protocols.
        template: with the fields of the form.
        sampling: of the replies.
    """

    def __init__(self, form: Form, template: ChatTemplate, sampling: Sampling) -> None:
        self._form = form
        self._question = Question(template, sampling)
        self.version = version_of(form.name, _VERSION, template.digest)

    async def opinions(self, sample: Sample, ask: Ask) -> list[Opinion]:
        """See :class:`components.judge.protocols.base.ChatProtocol`."""
        return list(await asyncio.gather(*(self._opinion(sample, each, ask) for each in sample.criteria)))

    async def _opinion(self, sample: Sample, criterion: Criterion, ask: Ask) -> Opinion:
        return await twice(lambda again: self._once(sample, criterion, ask, again=again))

    async def _once(self, sample: Sample, criterion: Criterion, ask: Ask, *, again: bool) -> Opinion:
        values = {
            "question": fence("QUESTION", sample.question),
            "response": fence("RESPONSE", sample.response, sample.question),
            self._form.field: self._form.show(criterion.text),
        }
        answer = await self._question.put(ask, values, again=again, schema=self._form.schema, purpose="single")
        if isinstance(answer, Failure):
            return Opinion.failed(answer)
        reading = self._form.read(answer.text, answer.finish == "length", told(sample))
        return heard(reading, answer, repr(criterion.text[:60]))
