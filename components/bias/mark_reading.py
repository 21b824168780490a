"""The mark that a judge gives, in its last JSON object that holds one."""

from collections.abc import Sequence
from typing import Final

from components.judge.parsing.labels import is_negated, normal
from components.judge.parsing.named import read_named
from components.judge.parsing.values import Number, Value
from components.judge.verdict import UnknownReason

_KEYS: Final = frozenset(
    {"mark", "score", "rating", "grade", "points", "verdict", "answer", "result", "finalmark", "finalscore"}
)


def read_mark(
    reply: str, scale: Sequence[str], *, cut: bool = False, quoted: tuple[str, ...] = ()
) -> int | UnknownReason:
    """The place of the mark on the scale, from 0, or why none can be told.

    Only a mark of the scale counts: 4.5 on a scale of whole numbers is none, and neither is "4 or 5".

    Args:
        reply: the judge's text.
        scale: lowest to highest mark, all different.
        cut: the server says that it stopped for length.
        quoted: question and response, as the judge saw them.
    """
    places = {normal(mark): place for place, mark in enumerate(scale)}

    def place_of(content: Value) -> int | None:
        text = content.text if isinstance(content, Number) else content
        return places.get(normal(text)) if isinstance(text, str) and not is_negated(text) else None

    return read_named(reply, _KEYS, place_of, cut=cut, quoted=quoted)
