"""What protocols that ask in words share: how a question is put, when it is put again, what becomes of the reply."""

import dataclasses
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from components.judge.calls import Answer, Ask, Call
from components.judge.failures import Failure
from components.judge.parsing.reply import Reading
from components.judge.protocols.base import Opinion, Sampling
from components.judge.protocols.chat_template import ChatTemplate
from components.judge.protocols.quotation import shown
from components.judge.verdict import Sample, UnknownReason

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


@dataclasses.dataclass(frozen=True, slots=True)
class Question:
    """Puts the questions of one protocol.

    Attributes:
        template: of the prompt, with a reminder for the second time.
        sampling: of the replies.
    """

    template: ChatTemplate
    sampling: Sampling

    async def put(
        self,
        ask: Ask,
        values: Mapping[str, str],
        *,
        again: bool,
        schema: Mapping[str, Any] | None = None,
        purpose: str = "again",
    ) -> Answer | Failure:
        """Ask once.

        Args:
            ask: puts the call.
            values: of the template's fields.
            again: whether an earlier reply could not be read: the reminder and the schema go along.
            schema: of the reply, where it is JSON.
            purpose: of a call that asks again, for the ledger.
        """
        return await ask(
            Call(
                self.template.messages(values, again=again),
                max_tokens=self.sampling.max_tokens,
                temperature=self.sampling.temperature,
                schema=schema if again else None,
                purpose=purpose if again else "ask",
            )
        )


async def twice(once: Callable[[bool], Awaitable[Opinion]]) -> Opinion:
    """The opinion of ``once(False)``; where its reply could not be read, of ``once(True)`` with the calls of both."""
    first = await once(False)
    return first if first.reason not in UNREADABLE else after(first, await once(True))


def told(sample: Sample) -> str:
    """What a judge may quote of what it was shown."""
    return "\0".join(shown(text) for text in (sample.question, sample.response, *(c.text for c in sample.criteria)))


def unread(reason: UnknownReason | None) -> bool:
    """Whether a reply of this outcome said nothing; that a judge cannot tell is something."""
    return reason is not None and reason is not UnknownReason.UNDECIDED


def after(before: Opinion, now: Opinion) -> Opinion:
    """The later opinion with the calls of both, and the earlier reply's id where no other reply came."""
    return dataclasses.replace(now, attempts=before.attempts + now.attempts, raw_id=now.raw_id or before.raw_id)


def heard(reading: Reading, answer: Answer, what: str) -> Opinion:
    """What a reply says about the one thing that was asked; one that says nothing is not kept."""
    if unread(reading.reason):
        answer.drop()
    return opinion_of(reading, answer, what)


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
