"""Which of two responses a judge prefers, in its last JSON object that says so."""

from typing import Final, Literal

from components.judge.parsing.labels import is_negated, listed, normal
from components.judge.parsing.reasoning import drop_reasoning
from components.judge.parsing.refusal import is_refusal
from components.judge.parsing.scan import Cut, Whole, copies, enclosing, goes_on, scan, stands_alone
from components.judge.parsing.values import Number, Object, Value
from components.judge.verdict import UnknownReason

Choice = Literal["first", "second", "tie"]

_CLOSERS: Final = " \t\r\n]}`\"'*,;.~_"
_KEYS: Final = frozenset(
    listed("better|best|preferred|preference|winner|choice|verdict|answer|result|decision|judgement|judgment")
)
_FIRST: Final = "first|the first|first response|the first response|response 1|response one|1|1st|response first"
_SECOND: Final = "second|the second|second response|the second response|response 2|response two|2|2nd|response second"
_TIE: Final = "tie|tied|draw|equal|equally good|both|neither|none|no preference|same"
_LABELS: Final[dict[str, Choice]] = {
    **dict.fromkeys(listed(_FIRST), "first"),
    **dict.fromkeys(listed(_SECOND), "second"),
    **dict.fromkeys(listed(_TIE), "tie"),
}


def read_choice(reply: str, *, cut: bool = False, quoted: tuple[str, ...] = ()) -> Choice | UnknownReason:
    """The preference, or why none can be told.

    Args:
        reply: the judge's text.
        cut: the server says that it stopped for length.
        quoted: the responses, as the judge saw them. An object that stands in one of them word for word is the judge's
            quotation as long as the judge has given others; where there are no others, they must agree, and be all
            that the reply consists of.
    """
    spoken = drop_reasoning(reply)
    text = spoken.text
    if not text.strip():
        empty = not reply.strip() or not (spoken.unfinished or cut)
        return UnknownReason.EMPTY_REPLY if empty else UnknownReason.TRUNCATED
    chosen = _last(text, cut or spoken.unfinished, quoted)
    return UnknownReason.REFUSED if chosen is UnknownReason.UNPARSEABLE and is_refusal(text) else chosen


def _last(text: str, cut: bool, quoted: tuple[str, ...]) -> Choice | UnknownReason:
    """What the last object says, unless it, or what is around it, is cut or broken."""
    found = scan(text)
    said = {p.start: choice for p in found if isinstance(p, Whole) and (choice := _choice(p.value)) is not None}
    copied = copies(text, found, *quoted)
    own = said.keys() - copied
    if not own and len(set(said.values())) > 1:
        return UnknownReason.CONTRADICTORY
    pieces = [p for p in found if not isinstance(p, Whole) or p.start in (own or said)]
    last = pieces[-1] if pieces else None
    if not isinstance(last, Whole):
        return UnknownReason.TRUNCATED if cut or isinstance(last, Cut) else UnknownReason.UNPARSEABLE
    alone = own or stands_alone(text, [p for p in pieces if isinstance(p, Whole)])
    if goes_on(text, last, found) or not alone:
        return UnknownReason.TRUNCATED if cut else UnknownReason.UNPARSEABLE
    outer = enclosing(text, pieces[:-1], last)
    if cut and (last.start in copied or text[last.end :].strip(_CLOSERS)):
        return UnknownReason.TRUNCATED
    if outer:
        return UnknownReason.TRUNCATED if isinstance(outer[0], Cut) else UnknownReason.UNPARSEABLE
    if any(said[place] != said[last.start] for place in said.keys() & copied if place > last.start):
        return UnknownReason.CONTRADICTORY
    return said[last.start]


def _choice(value: Value) -> Choice | UnknownReason | None:
    """None where the value does not speak of a preference at all."""
    if isinstance(value, list) and len(value) == 1:
        return _choice(value[0])
    if not isinstance(value, Object):
        return None
    labels = [content for key, content in value.pairs if normal(key).replace(" ", "") in _KEYS]
    if not labels:
        return None
    read = {_label(content) for content in labels}
    if len(read) > 1:
        return UnknownReason.UNPARSEABLE if None in read else UnknownReason.CONTRADICTORY
    return read.pop() or UnknownReason.UNPARSEABLE


def _label(content: Value) -> Choice | None:
    text = content.text if isinstance(content, Number) else content
    return _LABELS.get(normal(text)) if isinstance(text, str) and not is_negated(text) else None
