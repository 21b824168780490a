"""One call a criterion, answered by one token and read by its log-probabilities.

P(met) = p(yes) / (p(yes) + p(no)), each summed over the spellings that a tokenizer has for it. Where both together have
less than ``min_mass``, the judge wanted to say something else, and the verdict is unknown.
"""

import asyncio
import math
from collections.abc import Sequence
from typing import Final

from components.judge.calls import Answer, Ask, Call
from components.judge.failures import Failure
from components.judge.protocols.base import Opinion, Sampling, version_of
from components.judge.protocols.chat_template import ChatTemplate
from components.judge.protocols.quotation import fence, one_line
from components.judge.verdict import Criterion, Sample, UnknownReason, VerdictStatus

NAME: Final = "rubric_token"
FIELDS: Final = frozenset({"question", "response", "criterion"})
ALTERNATIVES: Final = 20
"""Likeliest tokens that are asked for; the most that OpenAI and vLLM (by default) give."""
_VERSION: Final = 2
_MARKS: Final = "\u0120\u2581 \t\r\n\"'`*.,:;!"
"""What a token may have around its word; the first two are the space of byte-level and SentencePiece tokenizers."""
_ROUNDING: Final = 1e-3
"""Servers round log-probabilities, so that masses add up to a little more than 1."""


class YesNo:
    """See the module.

    Args:
        template: with the fields of ``FIELDS``.
        sampling: only the temperature of the reply's one token, which does not enter its log-probabilities.
        min_mass: smallest p(yes) + p(no) for a verdict, in (0, 1].
    """

    def __init__(self, template: ChatTemplate, sampling: Sampling, min_mass: float) -> None:
        self._template = template
        self._sampling = sampling
        self._min_mass = min_mass
        self.version = version_of(NAME, _VERSION, template.digest, min_mass)

    async def opinions(self, sample: Sample, ask: Ask) -> list[Opinion]:
        """See :class:`components.judge.protocols.base.ChatProtocol`."""
        return list(await asyncio.gather(*(self._opinion(sample, each, ask) for each in sample.criteria)))

    async def _opinion(self, sample: Sample, criterion: Criterion, ask: Ask) -> Opinion:
        values = {
            "question": fence("QUESTION", sample.question),
            "response": fence("RESPONSE", sample.response, sample.question),
            "criterion": one_line(criterion.text),
        }
        call = Call(
            self._template.messages(values),
            max_tokens=1,
            temperature=self._sampling.temperature,
            top_logprobs=ALTERNATIVES,
        )
        answer = await ask(call)
        if isinstance(answer, Failure):
            return Opinion.failed(answer)
        return self._read(answer, criterion)

    def _read(self, answer: Answer, criterion: Criterion) -> Opinion:
        if not answer.tokens:
            return _unreadable(answer, "the reply has no log-probabilities; does the server give them in a chat?")
        first = answer.tokens[0]
        if not first.top:
            return _unreadable(
                answer, "the reply's token has no alternatives, so that nothing is known of the other word"
            )
        chances = list(first.top)
        if first.text not in dict(chances):
            # Usually the token itself is among them.
            chances.append((first.text, first.log_prob))
        yes, no = mass_of("yes", chances), mass_of("no", chances)
        if len(first.top) < 2 and not (yes and no):
            return _unreadable(answer, "the reply's token has one alternative, which says nothing of the other word")
        mass = yes + no
        if mass > 1 + _ROUNDING:
            return _unreadable(answer, f"yes and no have {mass:.3f} together, more than 1")
        mass = min(1.0, mass)
        if mass < self._min_mass:
            detail = (
                f"{criterion.text[:60]!r}: yes and no have {mass:.3f} together; the likeliest token is {first.text!r}"
            )
            return _unknown(answer, UnknownReason.LOW_MASS, detail, mass)
        probability = yes / (yes + no)
        status = VerdictStatus.MET if probability > 0.5 else VerdictStatus.UNMET
        return Opinion(status, None, probability, mass, attempts=answer.attempts, raw_id=answer.raw_id)


def mass_of(word: str, chances: Sequence[tuple[str, float]]) -> float:
    """Probability of all spellings of a word.

    Args:
        word: in lower case.
        chances: tokens with their natural log-probabilities; two tokens may have the same text.
    """
    return math.fsum(math.exp(chance) for token, chance in chances if token.strip(_MARKS).lower() == word)


def _unreadable(answer: Answer, detail: str) -> Opinion:
    answer.drop()
    return _unknown(answer, UnknownReason.UNPARSEABLE, detail)


def _unknown(answer: Answer, reason: UnknownReason, detail: str, mass: float | None = None) -> Opinion:
    raw = answer.text.encode("utf-8", "replace")
    trouble = Failure(reason, detail, raw, answer.attempts)
    return Opinion(
        VerdictStatus.UNKNOWN,
        reason,
        mass=mass,
        attempts=answer.attempts,
        raw_id=answer.raw_id,
        trouble=trouble,
    )
