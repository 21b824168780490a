"""Finds JSON anywhere in a text, and tells whole values from cut and broken ones."""

import dataclasses
import re
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
    """A value that the text's end cuts; ``elements`` are the whole ones of an array."""

    start: int
    elements: tuple[Value, ...]


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
                found.append(Cut(start, tuple(error.elements)))
            place = max(place, error.end if error.elements else place)
        except BrokenError as error:
            if error.meant:
                found.append(Broken(start))
            if isinstance(error, DeepError):
                place = error.place
    return found
