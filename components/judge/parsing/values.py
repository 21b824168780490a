"""A JSON reader for what models write instead of JSON.

It takes what has one meaning (single quotes, trailing commas, comments, Python's constants, bare words) and refuses
what has two: a quotation mark that is not escaped ends its string, and what follows is then an error, not a guess.
"""

import dataclasses
import re
from typing import Final

from components.judge.parsing.source import Known, Source

_DEEPEST: Final = 40
_STRINGS: Final = {
    opening: re.compile(rf"{opening}([^{closing}\\]*+(?:\\.[^{closing}\\]*+)*+){closing}", re.DOTALL)
    for opening, closing in (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"))
}
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?=[\s,:\]}]|$)")
_HEADS: Final = '{}[]":,'
"""What is seen at once to be neither white space nor comment."""
_WORD: Final = re.compile(r"[^\W\d][\w-]*", re.UNICODE)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_CONSTANTS: Final = {"true": True, "false": False, "null": None, "none": None}


@dataclasses.dataclass(frozen=True, slots=True)
class Number:
    """A number as it was written; 1 and 1.0 are different statements."""

    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class Object:
    """An object with all its pairs, also those whose key comes twice."""

    pairs: tuple[tuple[str, "Value"], ...]


Value = Object | list["Value"] | str | Number | bool | None


class OpenError(Exception):
    """The text ended inside the value.

    Args:
        elements: what was whole of the outermost array, if the value is one.
        ends: where each of them ends.
    """

    def __init__(self, elements: list[Value], ends: list[int]) -> None:
        self.elements = elements
        self.ends = ends
        super().__init__("the text ends inside a value")


class BrokenError(Exception):
    """No JSON.

    Args:
        meant: it began like JSON, with a key and a colon.
        place: where the reader gave up.
        levels: objects and arrays that were open there.
    """

    def __init__(self, *, meant: bool, place: int, levels: int) -> None:
        self.meant = meant
        self.place = place
        self.levels = levels
        super().__init__("no JSON")


class DeepError(BrokenError):
    """Nested deeper than 40 levels."""


def read_value(source: Source[Value], start: int) -> tuple[Value, int]:
    """The object or array that begins at ``start``, and where it ends.

    Raises:
        OpenError: the text ends before the value does.
        BrokenError: it is no value, or nested deeper than 40 levels.
        SpentError: so much was read of the text that no more is.
    """
    reader = _Reader(source, start)
    return reader.value(0), reader.place


class _Reader:
    """Reads one value.

    Attributes:
        place: where it reads.
        pairs: keys with a colon so far.
        levels: objects and arrays that are open.
        floor: the deepest of the levels so far, or since the last value began that was read whole.
    """

    def __init__(self, source: Source[Value], place: int) -> None:
        self.source = source
        self.text = source.text
        self.place = place
        self.pairs = self.levels = self.floor = 0

    def value(self, depth: int) -> Value:
        head = self._peek()
        if head in "{[":
            return self._nested(head, depth)
        if head in _STRINGS:
            return self._string(head)
        if number := _NUMBER.match(self.text, self.place):
            self.source.step(number.end() - self.place)
            self.place = number.end()
            return Number(number[0])
        if word := _WORD.match(self.text, self.place):
            self.source.step(word.end() - self.place)
            self.place = word.end()
            return _CONSTANTS.get(word[0].lower(), word[0])
        raise self._broken()

    def _nested(self, head: str, depth: int) -> Value:
        start, pairs, floor = self.place, self.pairs, self.floor
        known = self.source.known.get(start)
        if known is not None and depth + known.height <= _DEEPEST:
            self.place = known.end
            self.pairs += known.meant
            self.floor = max(floor, depth + known.height)
            return known.value
        if depth > _DEEPEST:
            raise DeepError(meant=self.pairs > 0, place=start, levels=self.levels)
        self.place += 1
        self.levels += 1
        self.floor = depth
        found = self._object(depth) if head == "{" else self._array(depth)
        self.place += 1
        self.levels -= 1
        self.source.known[start] = Known(found, self.place, self.floor - depth, self.pairs > pairs)
        self.floor = max(floor, self.floor)
        return found

    def _object(self, depth: int) -> Object:
        pairs: list[tuple[str, Value]] = []
        while self._peek() != "}":
            key = self._key()
            if self._peek() != ":":
                raise self._broken()
            self.place += 1
            self.pairs += 1
            pairs.append((key, self.value(depth + 1)))
            self._separate("}")
        return Object(tuple(pairs))

    def _array(self, depth: int) -> list[Value]:
        elements: list[Value] = []
        ends: list[int] = []
        try:
            while self._peek() != "]":
                elements.append(self.value(depth + 1))
                ends.append(self.place)
                self._separate("]")
        except OpenError as error:
            raise (OpenError(elements, ends) if depth == 0 else error) from None
        return elements

    def _key(self) -> str:
        head = self._peek()
        if head in _STRINGS:
            return self._string(head)
        found = _NUMBER.match(self.text, self.place) or _WORD.match(self.text, self.place)
        if found is None:
            raise self._broken()
        self.source.step(found.end() - self.place)
        self.place = found.end()
        return found[0]

    def _string(self, opening: str) -> str:
        found = _STRINGS[opening].match(self.text, self.place)
        if found is None:
            self.source.step(len(self.text) - self.place)
            raise OpenError([], [])
        inner = found[1]
        self.source.step(len(inner), inner.count("\\"))
        self.place = found.end()
        if "\\" not in inner and inner.isascii():
            return inner
        # Escaped halves of a character come together; a half on its own is none.
        return _ESCAPE.sub(_unescape, inner).encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _separate(self, closing: str) -> None:
        head = self._peek()
        if head == ",":
            self.place += 1
        elif head != closing:
            raise self._broken()

    def _broken(self) -> BrokenError:
        return BrokenError(meant=self.pairs > 0, place=self.place, levels=self.levels)

    def _peek(self) -> str:
        head = self.text[self.place : self.place + 1]
        if head in _HEADS and head:
            self.source.step()
            return head
        self.place = self.source.skip(self.place)
        if self.place >= len(self.text):
            raise OpenError([], [])
        return self.text[self.place]


def _unescape(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return _CONTROLS.get(match[2], match[2])
