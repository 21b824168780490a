"""Finds JSON anywhere in a text, and tells whole values from cut and broken ones."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Final

from components.judge.parsing.values import BrokenError, DeepError, OpenError, Value, read_value

_BRACKET: Final = re.compile(r"[\[{]")
_ARRAY_OF_OBJECTS: Final = re.compile(r"\[\s*(?:\{|$)")
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
    """A value that the text's end cuts; ``elements`` are the whole ones of an array, the last one up to ``end``."""

    start: int
    elements: tuple[Value, ...]
    end: int


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
                found.append(Cut(start, tuple(error.elements), error.end))
            place = max(place, error.end if error.elements else place)
        except BrokenError as error:
            if error.meant:
                found.append(Broken(start))
            if isinstance(error, DeepError):
                place = error.place
    return found


def copies(text: str, pieces: Sequence[Whole | Cut | Broken], *quoted: str) -> set[int]:
    """Starts of the pieces that stand word for word in a quoted text; white space does not matter."""
    sources = ["".join(each.split()) for each in quoted]
    words = {p.start: "".join(text[p.start : p.end].split()) for p in pieces if not isinstance(p, Broken)}
    return {start for start, bare in words.items() if bare and any(bare in source for source in sources)}


def encloses(text: str, outer: Broken, inner: Whole) -> bool:
    """Whether more brackets open than close between the two."""
    between = text[outer.start : inner.start]
    return between.count("{") + between.count("[") > between.count("}") + between.count("]")
