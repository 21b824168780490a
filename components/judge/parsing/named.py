"""What a reply says under one of a few names, in its last JSON object that says anything under them."""

from collections.abc import Callable, Collection
from typing import Final, TypeVar

from components.judge.parsing.labels import normal
from components.judge.parsing.reasoning import drop_reasoning
from components.judge.parsing.refusal import is_refusal
from components.judge.parsing.scan import Cut, Whole, copies, enclosing, goes_on, scan, stands_alone
from components.judge.parsing.values import Object, Value
from components.judge.verdict import UnknownReason

_CLOSERS: Final = " \t\r\n]}`\"'*,;.~_"

Said = TypeVar("Said")


def read_named(
    reply: str,
    keys: Collection[str],
    read: Callable[[Value], Said | None],
    *,
    cut: bool = False,
    quoted: tuple[str, ...] = (),
) -> Said | UnknownReason:
    """What stands under the keys, or why it cannot be told.

    Args:
        reply: the judge's text.
        keys: the names, in lower case and without spaces.
        read: what the content of a name says; None where it says nothing that counts. What it gives can be hashed.
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
    said = _last(text, cut or spoken.unfinished, quoted, lambda value: _said(value, keys, read))
    return UnknownReason.REFUSED if said is UnknownReason.UNPARSEABLE and is_refusal(text) else said


def _last(
    text: str, cut: bool, quoted: tuple[str, ...], of: Callable[[Value], Said | UnknownReason | None]
) -> Said | UnknownReason:
    """What the last object says, unless it, or what is around it, is cut or broken."""
    found = scan(text)
    said = {p.start: each for p in found if isinstance(p, Whole) and (each := of(p.value)) is not None}
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


def _said(value: Value, keys: Collection[str], read: Callable[[Value], Said | None]) -> Said | UnknownReason | None:
    """None where the value has none of the names at all."""
    if isinstance(value, list) and len(value) == 1:
        return _said(value[0], keys, read)
    if not isinstance(value, Object):
        return None
    labels = [content for key, content in value.pairs if normal(key).replace(" ", "") in keys]
    if not labels:
        return None
    got = {read(content) for content in labels}
    if len(got) > 1:
        return UnknownReason.UNPARSEABLE if None in got else UnknownReason.CONTRADICTORY
    one = got.pop()
    return UnknownReason.UNPARSEABLE if one is None else one
