"""Finds JSON anywhere in a text, and tells whole values from cut and broken ones."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Final

from components.judge.parsing.values import BrokenError, DeepError, OpenError, Value, read_value

_BRACKET: Final = re.compile(r"[\[{]")
_ARRAY_OF_OBJECTS: Final = re.compile(r"\[\s*(?:\{|$)")
_DECORATION: Final = re.compile(r"(?:[\s`*_~#>,;.\ufeff\u200b]|json)*", re.IGNORECASE)
_LOOSE: Final = re.compile(r"[\"'”]\s*:\s*(?:[\"'“\[{\d]|(?:true|false|null)\b)", re.IGNORECASE)
_MOST_OPEN: Final = 64
"""Cut values that are looked into; each costs a walk to the text's end."""


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
    """Something that began like JSON and is none."""

    start: int


def scan(text: str) -> list[Whole | Cut | Broken]:
    """Everything that begins like JSON, in order.

    A whole value is not looked into. What stands inside a cut or broken one is found in its turn, behind it.
    """
    found: list[Whole | Cut | Broken] = []
    place = cuts = 0
    while (bracket := _BRACKET.search(text, place)) and cuts < _MOST_OPEN:
        start = bracket.start()
        place = start + 1
        try:
            value, place = read_value(text, start)
            found.append(Whole(start, place, value))
        except OpenError as error:
            cuts += 1
            if text[start] == "{" or _ARRAY_OF_OBJECTS.match(text, start):
                found.append(Cut(start, tuple(error.elements), tuple(error.ends)))
            place = error.ends[-1] if error.ends else place
        except BrokenError as error:
            if error.meant:
                found.append(Broken(start))
            if isinstance(error, DeepError):
                place = error.place
    return found


def copies(text: str, pieces: Sequence[Whole | Cut | Broken], *quoted: str) -> set[int]:
    """Starts of the pieces that stand word for word in a quoted text, a cut one by any of its elements; white space
    does not matter."""
    sources = ["".join(each.split()) for each in quoted]
    found = set()
    for piece in pieces:
        if isinstance(piece, Broken):
            continue
        ends = [piece.end] if isinstance(piece, Whole) else piece.ends
        starts = [piece.start, *(end for end in ends[:-1])]
        parts = ("".join(text[start:end].split()).strip("[,") for start, end in zip(starts, ends, strict=False))
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


def encloses(text: str, outer: Broken, inner: Whole) -> bool:
    """Whether more brackets open than close between the two."""
    between = text[outer.start : inner.start]
    return between.count("{") + between.count("[") > between.count("}") + between.count("]")
