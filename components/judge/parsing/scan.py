"""Finds JSON anywhere in a text, and tells whole values from cut and broken ones."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Final

from components.judge.parsing.source import Source, SpentError
from components.judge.parsing.values import BrokenError, DeepError, OpenError, Value, read_value

_BEGINNING: Final = re.compile(r"\[|\{(?!\s*+[{\[])")
"""Where a value may begin: an object has no key that is one."""
_ARRAY_OF_OBJECTS: Final = re.compile(r"\[\s*(?:\{|$)")
_DECORATION: Final = re.compile(r"(?:[\s`*_~#>,;.\ufeff\u200b]|json)*", re.IGNORECASE)
_LOOSE: Final = re.compile(r"[\"'”]\s*:\s*(?:[\"'“\[{\d]|(?:true|false|null)\b)", re.IGNORECASE)
_MOST_COMPARED: Final = 1 << 28
"""Steps, at worst, for which a reply is searched for in a quoted text."""
_SHORT: Final = 100
"""Characters from which on Python's search takes steps in the sum of both lengths, not in their product."""


@dataclasses.dataclass(frozen=True, slots=True)
class Whole:
    """A balanced value at ``text[start:end]``."""

    start: int
    end: int
    value: Value


@dataclasses.dataclass(frozen=True, slots=True)
class Cut:
    """A value that the text's end cuts; ``elements`` are the whole ones of an array, with the places of their ends."""

    start: int
    elements: tuple[Value, ...]
    ends: tuple[int, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Broken:
    """Something that began like JSON and is none: at ``place`` it was no more, with ``levels`` of it open."""

    start: int
    place: int
    levels: int


def scan(text: str, steps: int | None = None) -> list[Whole | Cut | Broken]:
    """Everything that begins like JSON, in order.

    A whole value is not looked into. What stands inside a cut or broken one is found in its turn, behind it. A text
    that nests and breaks so often that the allowance for reading it is used up ends with something broken, so that
    nothing before it is taken for its last word.

    Args:
        text: the text.
        steps: the allowance; see :class:`components.judge.parsing.source.Source`.
    """
    found: list[Whole | Cut | Broken] = []
    source = Source[Value](text, steps)
    place = 0
    while bracket := _BEGINNING.search(text, place):
        start = bracket.start()
        place = start + 1
        try:
            value, place = read_value(source, start)
            found.append(Whole(start, place, value))
        except OpenError as error:
            if text[start] == "{" or _ARRAY_OF_OBJECTS.match(text, start):
                found.append(Cut(start, tuple(error.elements), tuple(error.ends)))
            place = error.ends[-1] if error.ends else place
        except BrokenError as error:
            if error.meant:
                found.append(Broken(start, error.place, error.levels))
            if isinstance(error, DeepError):
                place = error.place
        except SpentError:
            return [*found, Broken(start, len(text), 1)]
    return found


def copies(text: str, pieces: Sequence[Whole | Cut | Broken], *quoted: str) -> set[int]:
    """Starts of the pieces that stand word for word in a quoted text, a cut one by any of its elements; white space
    does not matter. Where pieces and text are so many that it cannot be told in a bounded time, all do."""
    sources = ["".join(each.split()) for each in quoted]
    length = sum(map(len, sources))
    found, left = set(), _MOST_COMPARED
    for piece in pieces:
        if isinstance(piece, Broken):
            continue
        ends = [piece.end] if isinstance(piece, Whole) else piece.ends
        starts = [piece.start, *(end for end in ends[:-1])]
        parts = ["".join(text[start:end].split()).strip("[,") for start, end in zip(starts, ends, strict=False)]
        left -= sum(length * min(len(part), _SHORT) for part in parts)
        if left < 0:
            return {each.start for each in pieces if not isinstance(each, Broken)}
        if any(part in source for part in parts if part for source in sources):
            found.add(piece.start)
    return found


def stands_alone(text: str, said: Sequence[Whole]) -> bool:
    """Whether there is nothing but decoration around and between the values."""
    return _DECORATION.fullmatch(_around(text, 0, said)) is not None


def goes_on(text: str, last: Whole, pieces: Sequence[Whole | Cut | Broken]) -> bool:
    """Whether keys with values stand behind the last value, in no object: the value was meant to go on."""
    behind = [piece for piece in pieces if isinstance(piece, Whole) and piece.start > last.start]
    return _LOOSE.search(_around(text, last.end, behind)) is not None


def _around(text: str, place: int, values: Sequence[Whole]) -> str:
    parts = []
    for value in values:
        parts.append(text[place : value.start])
        place = value.end
    return " ".join([*parts, text[place:]])


def enclosing(text: str, pieces: Sequence[Whole | Cut | Broken], inner: Whole) -> list[Cut | Broken]:
    """The pieces before ``inner`` that it is a part of: cut ones, and broken ones with more brackets open than closed
    in front of it. Where a broken one could be read, brackets inside its strings are none."""
    found: list[Cut | Broken] = []
    at, open_ = inner.start, 0
    for piece in sorted((p for p in pieces if isinstance(p, Broken)), key=lambda p: -p.place):
        if piece.place < at:
            between = text[piece.place : at]
            open_ += sum(map(between.count, "{[")) - sum(map(between.count, "}]"))
            at = piece.place
        if piece.start < inner.start and (piece.place >= inner.start or piece.levels + open_ > 0):
            found.append(piece)
    found.extend(piece for piece in pieces if isinstance(piece, Cut) and piece.start < inner.start)
    return sorted(found, key=lambda piece: piece.start)
