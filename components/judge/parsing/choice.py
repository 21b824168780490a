"""Which of two responses a judge prefers, in its last JSON object that says so."""

from typing import Final, Literal

from components.judge.parsing.labels import listed, normal
from components.judge.parsing.reasoning import drop_reasoning
from components.judge.parsing.refusal import is_refusal
from components.judge.parsing.scan import Cut, Whole, scan
from components.judge.parsing.values import Number, Object, Value
from components.judge.verdict import UnknownReason

Choice = Literal["first", "second", "tie"]

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
        quoted: the responses; an object that stands in one of them word for word is the judge's quotation.
    """
    spoken = drop_reasoning(reply)
    text = spoken.text
    if not text.strip():
        empty = not reply.strip() or not (spoken.unfinished or cut)
        return UnknownReason.EMPTY_REPLY if empty else UnknownReason.TRUNCATED
    said: list[Choice | UnknownReason] = []
    last_is_cut = False
    for piece in scan(text):
        last_is_cut = isinstance(piece, Cut)
        if not isinstance(piece, Whole) or _quoted(text[piece.start : piece.end], quoted):
            continue
        if (choice := _choice(piece.value)) is not None:
            said.append(choice)
    if last_is_cut or (cut and not said):
        return UnknownReason.TRUNCATED
    if said:
        return said[-1]
    return UnknownReason.REFUSED if is_refusal(text) else UnknownReason.UNPARSEABLE


def _choice(value: Value) -> Choice | UnknownReason | None:
    """None where the value does not speak of a preference at all."""
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
    return _LABELS.get(normal(text)) if isinstance(text, str) else None


def _quoted(text: str, quoted: tuple[str, ...]) -> bool:
    bare = "".join(text.split())
    return any(bare in "".join(each.split()) for each in quoted)
