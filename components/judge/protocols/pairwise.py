"""Pairwise preference in both orders, so that a judge's taste for a position cannot decide.

As a protocol of rewards, a criterion's text is the rival response, and being met means being preferred to it.
"""

import asyncio
import dataclasses
from typing import Final

from components.judge.calls import Ask
from components.judge.failures import Failure
from components.judge.parsing.choice import Choice, read_choice
from components.judge.protocols.asking import UNREADABLE, Question
from components.judge.protocols.base import Opinion, Sampling, version_of
from components.judge.protocols.chat_template import ChatTemplate
from components.judge.protocols.quotation import fence, shown
from components.judge.verdict import Sample, UnknownReason, VerdictStatus

NAME: Final = "pairwise"
FIELDS: Final = frozenset({"question", "first", "second"})
_VERSION: Final = 1
_SHARES: Final = {"first": 1.0, "tie": 0.5, "second": 0.0}
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "explanation": {"type": "string"},
        "better": {"type": "string", "enum": ["first", "second", "tie"]},
    },
    "required": ["explanation", "better"],
    "additionalProperties": False,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Preference:
    """A judge's choice between responses ``a`` and ``b``.

    Attributes:
        a_first: what it chose with ``a`` in the first place; a failure if it did not choose.
        b_first: the same with ``b`` in the first place, also in terms of places.
        attempts: calls made.
        raw_id: SHA-256 of the reply to ``a_first``, if one came.
    """

    a_first: Choice | Failure
    b_first: Choice | Failure
    attempts: int
    raw_id: str | None = None

    @property
    def share(self) -> float | None:
        """Of ``a``: 1, 0.75, 0.5, 0.25 or 0; None when a choice is missing or each order has another winner."""
        if isinstance(self.a_first, Failure) or isinstance(self.b_first, Failure) or self.follows_position:
            return None
        return (_SHARES[self.a_first] + 1.0 - _SHARES[self.b_first]) / 2.0

    @property
    def follows_position(self) -> bool:
        """Whether both choices name the same place, which is another response each time."""
        return self.a_first == self.b_first and self.a_first != "tie"


class Pairwise:
    """See the module.

    Args:
        template: with the fields of ``FIELDS``.
        sampling: of the replies.
    """

    def __init__(self, template: ChatTemplate, sampling: Sampling) -> None:
        self._question = Question(template, sampling)
        self.version = version_of(NAME, _VERSION, template.digest)

    async def prefer(self, question: str, a: str, b: str, ask: Ask) -> Preference:
        """Ask in both orders, at once."""
        (first, calls, raw), (second, more, _) = await asyncio.gather(
            self._choose(question, a, b, ask), self._choose(question, b, a, ask)
        )
        return Preference(first, second, calls + more, raw)

    async def opinions(self, sample: Sample, ask: Ask) -> list[Opinion]:
        """See :class:`components.judge.protocols.base.ChatProtocol`. The probability is :attr:`Preference.share`;
        a judge that follows the position has contradicted itself."""
        found = await asyncio.gather(
            *(self.prefer(sample.question, sample.response, each.text, ask) for each in sample.criteria)
        )
        return [_opinion(preference) for preference in found]

    async def _choose(
        self, question: str, first: str, second: str, ask: Ask
    ) -> tuple[Choice | Failure, int, str | None]:
        chosen, calls, raw = await self._once(question, first, second, ask, again=False)
        if isinstance(chosen, Failure) and chosen.reason in UNREADABLE:
            chosen, more, raw = await self._once(question, first, second, ask, again=True)
            calls += more
        return chosen, calls, raw

    async def _once(
        self, question: str, first: str, second: str, ask: Ask, *, again: bool
    ) -> tuple[Choice | Failure, int, str | None]:
        values = {
            "question": fence("QUESTION", question),
            "first": fence("FIRST RESPONSE", first, question, second),
            "second": fence("SECOND RESPONSE", second, question, first),
        }
        answer = await self._question.put(ask, values, again=again, schema=_SCHEMA)
        if isinstance(answer, Failure):
            return answer, answer.attempts, None
        chosen = read_choice(
            answer.text, cut=answer.finish == "length", quoted=(shown(question), shown(first), shown(second))
        )
        if isinstance(chosen, UnknownReason):
            answer.drop()
            raw = answer.text.encode("utf-8", "replace")
            failure = Failure(chosen, f"the reply came and is {chosen.value}", raw, answer.attempts)
            return failure, answer.attempts, answer.raw_id
        return chosen, answer.attempts, answer.raw_id


def _opinion(preference: Preference) -> Opinion:
    trouble = next((each for each in (preference.a_first, preference.b_first) if isinstance(each, Failure)), None)
    if trouble is None and preference.follows_position:
        place = preference.a_first
        trouble = Failure(UnknownReason.CONTRADICTORY, f"the judge prefers whichever response stands {place}")
    if trouble is not None:
        return dataclasses.replace(Opinion.failed(trouble), attempts=preference.attempts)
    share = preference.share
    status = VerdictStatus.MET if share is not None and share > 0.5 else VerdictStatus.UNMET
    return Opinion(status, None, share, attempts=preference.attempts, raw_id=preference.raw_id)
