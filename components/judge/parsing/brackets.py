"""Verdicts in double brackets, as VerIF asks for them: ``[[1]]`` for met and ``[[0]]`` for unmet."""

import re
from typing import Final

from components.judge.parsing.reasoning import drop_reasoning
from components.judge.parsing.refusal import is_refusal
from components.judge.parsing.reply import Reading
from components.judge.verdict import UnknownReason, VerdictStatus

_WRITTEN: Final = re.compile(r"\[\[\s*+([^\[\]]{0,40}?)\s*+\]\]")
_LABEL: Final = re.compile(rf"(?<!\[){_WRITTEN.pattern}(?!\])")
_DRESS: Final = " \t\r\n*_`\"'#>\ufeff\u200b"
_STATUS: Final = {"1": VerdictStatus.MET, "0": VerdictStatus.UNMET}


def read_brackets(reply: str, cut: bool = False, quoted: str = "") -> Reading:
    """The verdict of a reply.

    A label that the reply begins with decides. Without one, it must end with its label, and all others must agree: a
    judge that thinks first is understood, one that names both is not, and a label in the middle of a sentence is only
    spoken of. Numbers other than 0 and 1 are no verdict; upstream takes a bracketed 10 for a reward of 10.

    A label that the response has too may be the judge's quotation. At the beginning it decides only if the reply names
    no other; elsewhere it gives way to one that the response does not have.

    Args:
        reply: the judge's text.
        cut: the server says that it stopped for length. A label at the beginning is whole all the same.
        quoted: the response under judgement, as the judge saw it.
    """
    spoken = drop_reasoning(reply)
    text = spoken.text.strip(_DRESS)
    if not text:
        empty = not reply.strip() or not (spoken.unfinished or cut)
        return _unknown(UnknownReason.EMPTY_REPLY if empty else UnknownReason.TRUNCATED)
    matches = list(_LABEL.finditer(text))
    if not matches:
        if is_refusal(text):
            return _unknown(UnknownReason.REFUSED)
        return _unknown(UnknownReason.TRUNCATED if cut or spoken.unfinished else UnknownReason.UNPARSEABLE)
    found = [label[1] for label in matches]
    doubtful = {label[1] for label in _WRITTEN.finditer(quoted)}
    if matches[0].start() == 0:
        # What the response has as well may be its repetition: it must be all that the reply says.
        if found[0] not in doubtful:
            return _reading(found[0])
        return _unknown(UnknownReason.TRUNCATED) if cut else _agreed(found)
    if cut:
        # It had not come to its end, where a reply has its label that does not begin with it.
        return _unknown(UnknownReason.TRUNCATED)
    if text[matches[-1].end() :].strip(_DRESS + ".!"):
        # In the middle of a sentence a label may be spoken of.
        return _unknown(UnknownReason.UNPARSEABLE)
    if found[-1] in doubtful:
        own = [label for label in found if label not in doubtful]
        return _agreed(found) if own else _unknown(UnknownReason.UNPARSEABLE)
    return _agreed([label for label in found if label not in doubtful])


def _agreed(labels: list[str]) -> Reading:
    """What labels say that must say one thing."""
    if len(set(labels)) == 1:
        return _reading(labels[0])
    strange = set(labels) - _STATUS.keys()
    return _unknown(UnknownReason.UNPARSEABLE if strange else UnknownReason.CONTRADICTORY)


def _reading(label: str) -> Reading:
    status = _STATUS.get(label)
    return _unknown(UnknownReason.UNPARSEABLE) if status is None else Reading(status)


def _unknown(reason: UnknownReason) -> Reading:
    return Reading(VerdictStatus.UNKNOWN, reason)
