"""Verdicts in double brackets, as VerIF asks for them: ``[[1]]`` for met and ``[[0]]`` for unmet."""

import re
from typing import Final

from components.judge.parsing.reasoning import drop_reasoning
from components.judge.parsing.refusal import is_refusal
from components.judge.parsing.reply import Reading
from components.judge.verdict import UnknownReason, VerdictStatus

_WRITTEN: Final = re.compile(r"\[\[\s*([^\[\]]{0,40}?)\s*\]\]")
_LABEL: Final = re.compile(rf"(?<!\[){_WRITTEN.pattern}(?!\])")
_DRESS: Final = " \t\r\n*_`\"'#>\ufeff\u200b"
_STATUS: Final = {"1": VerdictStatus.MET, "0": VerdictStatus.UNMET}


def read_brackets(reply: str, cut: bool = False, quoted: str = "") -> Reading:
    """The verdict of a reply.

    A label that the reply begins with decides. Without one, all labels must agree: a judge that thinks first and ends
    with its label is understood, one that names both is not. Numbers other than 0 and 1 are no verdict; upstream takes
    a bracketed 10 for a reward of 10.

    A label that the response has too may be the judge's quotation. It is taken for the judge's own only at the
    beginning of a reply that has no other, and gives way to one that the response does not have.

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
    found = [label[1] for label in _LABEL.finditer(text)]
    if not found:
        if is_refusal(text):
            return _unknown(UnknownReason.REFUSED)
        return _unknown(UnknownReason.TRUNCATED if cut or spoken.unfinished else UnknownReason.UNPARSEABLE)
    begins = _LABEL.match(text) is not None
    doubtful = {label[1] for label in _WRITTEN.finditer(quoted)}
    if begins and found[0] not in doubtful:
        return _reading(found[0])
    own = [label for label in found if label not in doubtful]
    labels = set(own or found)
    if not own and not begins:
        return _unknown(UnknownReason.UNPARSEABLE)
    if cut:
        # It had not come to its end, where a reply has its label that does not begin with it.
        return _unknown(UnknownReason.TRUNCATED)
    if len(labels) > 1:
        strange = labels - _STATUS.keys()
        return _unknown(UnknownReason.UNPARSEABLE if strange else UnknownReason.CONTRADICTORY)
    return _reading(labels.pop())


def _reading(label: str) -> Reading:
    status = _STATUS.get(label)
    return _unknown(UnknownReason.UNPARSEABLE) if status is None else Reading(status)


def _unknown(reason: UnknownReason) -> Reading:
    return Reading(VerdictStatus.UNKNOWN, reason)
