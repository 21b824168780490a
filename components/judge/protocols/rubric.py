"""The rubric in one call: all criteria at once, and again only those that the reply left open.

What is still open is asked for in batches of half the size and at last one by one, with a reminder of the form and the
JSON schema where the server can hold a reply to one. No question is put twice. Verdicts that came stay. What asking
again cannot mend (a refusal, a judge that is down, a budget that is used up) is not asked again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from components.judge.calls import Ask
from components.judge.failures import Failure
from components.judge.parsing.reply import read_reply
from components.judge.protocols.asking import UNREADABLE, Question, after, opinion_of, told, unread
from components.judge.protocols.base import Opinion, Sampling, version_of
from components.judge.protocols.chat_template import ChatTemplate
from components.judge.protocols.quotation import fence, one_line
from components.judge.verdict import Sample, UnknownReason, VerdictStatus

NAME: Final = "rubric"
FIELDS: Final = frozenset({"question", "response", "criteria", "numbers"})
_VERSION: Final = 1

_SMALLER: Final = frozenset({UnknownReason.TOO_LONG})
"""What a shorter list of criteria may mend."""


class Rubric:
    """See the module.

    Args:
        template: with the fields of ``FIELDS``.
        sampling: of the replies.
    """

    def __init__(self, template: ChatTemplate, sampling: Sampling) -> None:
        self._question = Question(template, sampling)
        self.version = version_of(NAME, _VERSION, template.digest)

    async def opinions(self, sample: Sample, ask: Ask) -> list[Opinion]:
        """See :class:`components.judge.protocols.base.ChatProtocol`."""
        numbers = range(1, len(sample.criteria) + 1)
        known = await self._batch(sample, ask, numbers, again=False)
        alone: set[int] = set()
        for halves in (True, False):
            open_ = [n for n in numbers if n not in alone and _may_be_mended(known[n], len(numbers))]
            size = -(-len(open_) // 2) if halves else 1
            batches = [open_[start : start + size] for start in range(0, len(open_), max(1, size))]
            alone |= {batch[0] for batch in batches if len(batch) == 1}
            for found in await asyncio.gather(*(self._batch(sample, ask, batch, again=True) for batch in batches)):
                known |= {number: after(known[number], opinion) for number, opinion in found.items()}
        return [known[number] for number in numbers]

    async def _batch(self, sample: Sample, ask: Ask, batch: Sequence[int], *, again: bool) -> dict[int, Opinion]:
        values = {
            "question": fence("QUESTION", sample.question),
            "response": fence("RESPONSE", sample.response, sample.question),
            "criteria": "\n".join(f"c{number}: {one_line(sample.criteria[number - 1].text)}" for number in batch),
            "numbers": ", ".join(f"c{number}" for number in batch),
        }
        purpose = "single" if len(batch) == 1 else "again"
        answer = await self._question.put(ask, values, again=again, schema=_schema(batch), purpose=purpose)
        if isinstance(answer, Failure):
            return {number: Opinion.failed(answer) for number in batch}
        readings = read_reply(answer.text, batch, cut=answer.finish == "length", quoted=told(sample))
        if all(unread(reading.reason) for reading in readings.values()):
            answer.drop()
        return {number: opinion_of(readings[number], answer, f"criterion {number}") for number in batch}


def _may_be_mended(opinion: Opinion, asked: int) -> bool:
    return opinion.reason in UNREADABLE or (asked > 1 and opinion.reason in _SMALLER)


def _schema(batch: Sequence[int]) -> Mapping[str, Any]:
    label = {"type": "string", "enum": [VerdictStatus.MET.value, VerdictStatus.UNMET.value]}
    names = [f"c{number}" for number in batch]
    return {
        "type": "object",
        "properties": dict.fromkeys(names, label),
        "required": names,
        "additionalProperties": False,
    }
