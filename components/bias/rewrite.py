"""Paraphrases by a named model, where rules cannot make them: the placebo of items that the user mounts.

A paraphrase that does not come, cannot be read, or is of another length than the text is none: the item is dropped, and
counted with the reason. No text stands in for it.
"""

import asyncio
import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Final

from components.bias.marks import FOLDER
from components.bias.types import Form, Item, Role
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

NAME: Final = "rewrite"
LENGTHS: Final = (0.75, 1.33)
"""Words of a paraphrase as a share of the text's; outside of it the length changes, which is a factor of its own."""
OTHER_LENGTH: Final = "other_length"
UNCHANGED: Final = "unchanged"
_FIELDS: Final = frozenset({"text"})
_VERSION: Final = 1
_SCHEMA: Final = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Rewritten:
    """Items with the model's paraphrase of the changed form's response as their placebo.

    Attributes:
        items: those whose paraphrase came, in order.
        dropped: how many have none, by reason (an ``UnknownReason``, ``other_length`` or ``unchanged``).
    """

    items: tuple[Item, ...]
    dropped: Counter[str]


async def with_placebos(items: Sequence[Item], chat: Chat, of: Role = Role.BASE) -> Rewritten:
    """Give each item a placebo: the response of one of its forms, paraphrased by the model behind ``chat``.

    Args:
        items: of any probe; a placebo that one has is replaced.
        chat: the model; see :func:`components.judge.build.build_chat`.
        of: whose response is paraphrased.

    Raises:
        JudgeError: the ledger cannot be written.
    """
    template = load_chat(NAME, _FIELDS, FOLDER)
    question = Question(template, Sampling(chat.spec.max_answer_tokens, chat.spec.temperature))
    ask = chat.asker(version_of(NAME, _VERSION, template.digest))
    found = await asyncio.gather(*(_paraphrase(item.forms[of], question, ask) for item in items))
    kept, dropped = [], Counter[str]()
    for item, got in zip(items, found, strict=True):
        if isinstance(got, Form):
            kept.append(dataclasses.replace(item, forms={**item.forms, Role.PLACEBO: got}))
        else:
            dropped[got] += 1
    return Rewritten(tuple(kept), dropped)


async def _paraphrase(form: Form, question: Question, ask: Ask) -> Form | str:
    got = await _once(form, question, ask, again=False)
    if isinstance(got, UnknownReason) and got in UNREADABLE:
        got = await _once(form, question, ask, again=True)
    if isinstance(got, UnknownReason):
        return got.value
    text = got.strip()
    if " ".join(text.split()) == " ".join(form.response.split()):
        return UNCHANGED
    share = len(text.split()) / max(1, len(form.response.split()))
    return dataclasses.replace(form, response=text) if LENGTHS[0] <= share <= LENGTHS[1] else OTHER_LENGTH


async def _once(form: Form, question: Question, ask: Ask, *, again: bool) -> str | UnknownReason:
    answer = await question.put(ask, {"text": fence("TEXT", form.response)}, again=again, schema=_SCHEMA)
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
