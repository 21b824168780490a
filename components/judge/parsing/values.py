"""A JSON reader for what models write instead of JSON.

It takes what has one meaning (single quotes, trailing commas, comments, Python's constants, bare words) and refuses
what has two: a quotation mark that is not escaped ends its string, and what follows is then an error, not a guess.
"""

import dataclasses
import re
from typing import Final

_DEEPEST: Final = 40
_SPACE: Final = re.compile(r"(?:[\s\u200b\u200c\u200d\u2060\ufeff]+|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRINGS: Final = {
    opening: re.compile(rf"{opening}([^{closing}\\]*(?:\\.[^{closing}\\]*)*){closing}", re.DOTALL)
    for opening, closing in (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"))
}
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?=[\s,:\]}]|$)")
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
    """

    def __init__(self, *, meant: bool, place: int) -> None:
        self.meant = meant
        self.place = place
        super().__init__("no JSON")


class DeepError(BrokenError):
    """Nested deeper than 40 levels."""


def read_value(text: str, start: int) -> tuple[Value, int]:
    """The object or array that begins at ``start``, and where it ends.

    Raises:
        OpenError: the text ends before the value does.
        BrokenError: it is no value, or nested deeper than 40 levels.
    """
    reader = _Reader(text, start)
    return reader.value(0), reader.place


class _Reader:
    def __init__(self, text: str, place: int) -> None:
        self.text = text
        self.place = place
        self.meant = False

    def value(self, depth: int) -> Value:
        head = self._peek()
        if head == "{":
            return self._object(depth)
        if head == "[":
            return self._array(depth)
        if head in _STRINGS:
            return self._string(head)
        if number := _NUMBER.match(self.text, self.place):
            self.place = number.end()
            return Number(number[0])
        if word := _WORD.match(self.text, self.place):
            self.place = word.end()
            return _CONSTANTS.get(word[0].lower(), word[0])
        raise BrokenError(meant=self.meant, place=self.place)

    def _object(self, depth: int) -> Object:
        self._enter(depth)
        pairs: list[tuple[str, Value]] = []
        while self._peek() != "}":
            key = self._key()
            if self._peek() != ":":
                raise BrokenError(meant=self.meant, place=self.place)
            self.place += 1
            self.meant = True
            pairs.append((key, self.value(depth + 1)))
            self._separate("}")
        self.place += 1
        return Object(tuple(pairs))

    def _array(self, depth: int) -> list[Value]:
        self._enter(depth)
        elements: list[Value] = []
        ends: list[int] = []
        try:
            while self._peek() != "]":
                elements.append(self.value(depth + 1))
                ends.append(self.place)
                self._separate("]")
        except OpenError as error:
            raise (OpenError(elements, ends) if depth == 0 else error) from None
        self.place += 1
        return elements

    def _key(self) -> str:
        head = self._peek()
        if head in _STRINGS:
            return self._string(head)
        found = _NUMBER.match(self.text, self.place) or _WORD.match(self.text, self.place)
        if found is None:
            raise BrokenError(meant=self.meant, place=self.place)
        self.place = found.end()
        return found[0]

    def _string(self, opening: str) -> str:
        found = _STRINGS[opening].match(self.text, self.place)
        if found is None:
            raise OpenError([], [])
        self.place = found.end()
        # Escaped halves of a character come together; a half on its own is none.
        return _ESCAPE.sub(_unescape, found[1]).encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _separate(self, closing: str) -> None:
        head = self._peek()
        if head == ",":
            self.place += 1
        elif head != closing:
            raise BrokenError(meant=self.meant, place=self.place)

    def _enter(self, depth: int) -> None:
        if depth > _DEEPEST:
            raise DeepError(meant=self.meant, place=self.place)
        self.place += 1

    def _peek(self) -> str:
        space = _SPACE.match(self.text, self.place)
        self.place = space.end() if space else self.place
        if self.place >= len(self.text):
            raise OpenError([], [])
        return self.text[self.place]


def _unescape(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return _CONTROLS.get(match[2], match[2])
