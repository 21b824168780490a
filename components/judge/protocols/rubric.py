"""The rubric in one call: all criteria at once, and again only those that the reply left open.

What is still open is asked for in batches of half the size and at last one by one, with a reminder of the form and the
JSON schema where the server can hold a reply to one. Verdicts that came stay. What asking again cannot mend (a refusal,
a judge that is down, a budget that is used up) is not asked again.
"""

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from components.judge.calls import Answer, Ask, Call
from components.judge.failures import Failure
from components.judge.parsing.reply import Reading, read_reply
from components.judge.protocols.base import Opinion, Sampling, version_of
from components.judge.protocols.chat_template import ChatTemplate
from components.judge.protocols.quotation import fence, one_line
from components.judge.verdict import Sample, UnknownReason, VerdictStatus

NAME: Final = "rubric"
FIELDS: Final = frozenset({"question", "response", "criteria", "numbers"})
_VERSION: Final = 1

UNREADABLE: Final = frozenset(
    {
        UnknownReason.UNPARSEABLE,
        UnknownReason.MISSING,
        UnknownReason.CONTRADICTORY,
        UnknownReason.TRUNCATED,
        UnknownReason.EMPTY_REPLY,
        UnknownReason.NO_FINISH,
    }
)
"""Failures of a reply, which the next one may not have."""

_SMALLER: Final = frozenset({UnknownReason.TOO_LONG})
"""What a shorter list of criteria may mend."""

Purpose = Literal["ask", "again", "single"]


class Rubric:
    """See the module.

    Args:
        template: with the fields of ``FIELDS``.
        sampling: of the replies.
    """

    def __init__(self, template: ChatTemplate, sampling: Sampling) -> None:
        self._template = template
        self._sampling = sampling
        self.version = version_of(NAME, _VERSION, template.digest)

    async def opinions(self, sample: Sample, ask: Ask) -> list[Opinion]:
        """See :class:`components.judge.protocols.base.ChatProtocol`."""
        numbers = list(range(1, len(sample.criteria) + 1))
        known = await self._round(sample, ask, [numbers], "ask")
        for purpose in ("again", "single"):
            open_ = [number for number in numbers if _may_be_mended(known[number], len(numbers))]
            if not open_:
                break
            if purpose == "again" and len(open_) == 1:
                continue
            size = 1 if purpose == "single" else -(-len(open_) // 2)
            batches = [open_[start : start + size] for start in range(0, len(open_), size)]
            found = await self._round(sample, ask, batches, purpose)
            known |= {number: _after(known[number], opinion) for number, opinion in found.items()}
        return [known[number] for number in numbers]

    async def _round(
        self, sample: Sample, ask: Ask, batches: Sequence[Sequence[int]], purpose: Purpose
    ) -> dict[int, Opinion]:
        found: dict[int, Opinion] = {}
        for part in await asyncio.gather(*(self._batch(sample, ask, batch, purpose) for batch in batches)):
            found |= part
        return found

    async def _batch(self, sample: Sample, ask: Ask, batch: Sequence[int], purpose: Purpose) -> dict[int, Opinion]:
        again = purpose != "ask"
        values = {
            "question": fence("QUESTION", sample.question),
            "response": fence("RESPONSE", sample.response, sample.question),
            "criteria": "\n".join(f"c{number}: {one_line(sample.criteria[number - 1].text)}" for number in batch),
            "numbers": ", ".join(f"c{number}" for number in batch),
        }
        call = Call(
            self._template.messages(values, again=again),
            max_tokens=self._sampling.max_tokens,
            temperature=self._sampling.temperature,
            schema=_schema(batch) if again else None,
            purpose=purpose,
        )
        answer = await ask(call)
        if isinstance(answer, Failure):
            return {number: Opinion.failed(answer) for number in batch}
        readings = read_reply(answer.text, batch, cut=answer.finish == "length", quoted=sample.response)
        return {number: opinion_of(readings[number], answer, f"criterion {number}") for number in batch}


def opinion_of(reading: Reading, answer: Answer, what: str) -> Opinion:
    """What a reply says about one criterion, as an opinion; ``what``: the criterion, for people."""
    trouble = None
    if reading.reason is not None:
        raw = answer.text.encode("utf-8", "replace")
        trouble = Failure(reading.reason, f"{what}: the reply came and is {reading.reason.value}", raw, answer.attempts)
    return Opinion(
        reading.status,
        reading.reason,
        explanation=reading.explanation,
        attempts=answer.attempts,
        raw_id=answer.raw_id,
        trouble=trouble,
    )


def _may_be_mended(opinion: Opinion, asked: int) -> bool:
    return opinion.reason in UNREADABLE or (asked > 1 and opinion.reason in _SMALLER)


def _after(before: Opinion, now: Opinion) -> Opinion:
    """The later opinion with the calls of both."""
    return dataclasses.replace(now, attempts=before.attempts + now.attempts)


def _schema(batch: Sequence[int]) -> Mapping[str, Any]:
    label = {"type": "string", "enum": [VerdictStatus.MET.value, VerdictStatus.UNMET.value]}
    names = [f"c{number}" for number in batch]
    return {
        "type": "object",
        "properties": dict.fromkeys(names, label),
        "required": names,
        "additionalProperties": False,
    }
