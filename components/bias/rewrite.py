"""Texts in the words of a named model, asked through the engine: for probes that take what models wrote.

A rewriting that does not come, cannot be read, changes nothing, or is of another length than the text is none: it is
dropped, and counted with the reason. No text stands in for it.
"""

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

from components.bias.marks import FOLDER
from components.judge.calls import Ask
from components.judge.chat import Chat
from components.judge.failures import Failure
from components.judge.parsing.named import read_named
from components.judge.parsing.values import Value
from components.judge.protocols.asking import UNREADABLE, Question
from components.judge.protocols.base import Sampling, version_of
from components.judge.protocols.chat_template import load_chat
from components.judge.protocols.quotation import fence
from components.judge.verdict import UnknownReason

LENGTHS: Final[Mapping[str, tuple[float, float]]] = {"rewrite": (0.75, 1.33), "refine": (0.5, 2.0)}
"""Prompt -> words of what is written as a share of the text's. Outside of it the length changes, which is a factor of
its own; a refinement may do more."""
OTHER_LENGTH: Final = "other_length"
UNCHANGED: Final = "unchanged"
_FIELDS: Final = frozenset({"text"})
_VERSION: Final = 2
_SCHEMA: Final = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Rewriting:
    """What became of one text.

    Attributes:
        text: in the model's words; None where there is none.
        reason: why there is none (an ``UnknownReason``, ``other_length`` or ``unchanged``); empty where there is one.
    """

    text: str | None
    reason: str = ""


async def rewritings(texts: Sequence[str], chat: Chat, prompt: str = "rewrite", draw: str = "") -> list[Rewriting]:
    """Each text in the words of the model behind ``chat``, in order.

    Args:
        texts: what is rewritten.
        chat: the model; see :func:`components.judge.build.build_chat`.
        prompt: ``rewrite``, which keeps meaning, mistakes and length; ``refine``, which revises.
        draw: tells one asking from another, so that kept replies are not taken for new ones.

    Raises:
        JudgeError: the ledger cannot be written.
    """
    template = load_chat(prompt, _FIELDS, FOLDER)
    question = Question(template, Sampling(chat.spec.max_answer_tokens, chat.spec.temperature))
    ask = chat.asker(version_of(prompt, _VERSION, template.digest), draw)
    return list(await asyncio.gather(*(_rewriting(text, question, ask, LENGTHS[prompt]) for text in texts)))


async def _rewriting(given: str, question: Question, ask: Ask, lengths: tuple[float, float]) -> Rewriting:
    got = await _once(given, question, ask, again=False)
    if isinstance(got, UnknownReason) and got in UNREADABLE:
        got = await _once(given, question, ask, again=True)
    if isinstance(got, UnknownReason):
        return Rewriting(None, got.value)
    text = got.strip()
    if text.split() == given.split():
        return Rewriting(None, UNCHANGED)
    share = len(text.split()) / max(1, len(given.split()))
    return Rewriting(text) if lengths[0] <= share <= lengths[1] else Rewriting(None, OTHER_LENGTH)


async def _once(given: str, question: Question, ask: Ask, *, again: bool) -> str | UnknownReason:
    answer = await question.put(ask, {"text": fence("TEXT", given)}, again=again, schema=_SCHEMA)
    if isinstance(answer, Failure):
        return answer.reason
    # UnknownReason is a text too, so that the rewritten one is carried in a tuple.
    got = read_named(answer.text, {"text"}, _held, cut=answer.finish == "length")
    if isinstance(got, UnknownReason):
        answer.drop()
        return got
    return got[0]


def _held(value: Value) -> tuple[str] | None:
    return (value,) if isinstance(value, str) and value.strip() else None
