"""The elements of a large JSON array, one by one, without the whole file in memory."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Final, Protocol

from components.core.errors import ContractError

_CHUNK: Final = 1 << 22
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()
_NUMBER_END: Final = 2
"""Characters that must follow a value before it is known to be whole: a number at the end of a chunk may go on."""
_UNFINISHED: Final = 16
"""Characters before the end of what was read where a mistake may only be a word, number or escape that goes on."""
_OPEN_TEXT: Final = "Unterminated string"
LONGEST: Final = 64 << 20
"""Characters of one element: a mistake can make one of the whole rest of a file."""


class _Bytes(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Elements:
    """A cursor over a stream of JSON text.

    Args:
        stream: bytes in UTF-8.
        where: the file, for errors.
    """

    def __init__(self, stream: _Bytes, where: str) -> None:
        self._stream = stream
        self._where = where
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0
        self._line = 1
        self._ended = False

    @property
    def line(self) -> int:
        """The line, from 1, where the cursor stands."""
        return self._line + self._text.count("\n", 0, self._at)

    def peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def take(self, wanted: str) -> None:
        """Go past one character.

        Raises:
            ContractError: another stands there.
        """
        found = self.peek()
        if found != wanted:
            raise self._broken(
                f"expected {wanted!r}, found {found!r}" if found else f"it ends where {wanted!r} belongs"
            )
        self._at += 1

    def value(self) -> str:
        """The text of the next value.

        Raises:
            ContractError: none stands there.
        """
        if not self.peek():
            raise self._broken("it ends in the middle")
        while True:
            try:
                _, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError as error:
                raise self._broken("nested too deep") from error
            except json.JSONDecodeError as error:
                if self._is_final(error) or not self._more(len(self._text) - self._at):
                    raise self._broken(error.msg, error.pos) from error
                continue
            if end + _NUMBER_END > len(self._text) and not self._ended:
                self._more()
                continue
            text = self._text[self._at : end]
            self._at = end
            return text

    def array(self) -> Iterator[tuple[int, str]]:
        """Line and text of each element of the array that begins here.

        Raises:
            ContractError: it is no array, or broken.
        """
        self.take("[")
        if self.peek() == "]":
            self.take("]")
            return
        while True:
            self.peek()
            line = self.line
            yield line, self.value()
            if self.peek() == "]":
                self.take("]")
                return
            self.take(",")

    def _is_final(self, error: json.JSONDecodeError) -> bool:
        """Whether nothing that follows can mend it: else a mistake in the first element would have the whole file read
        into memory before it is told."""
        if len(self._text) - self._at > LONGEST:
            return True
        return not error.msg.startswith(_OPEN_TEXT) and error.pos < len(self._text) - _UNFINISHED

    def _more(self, least: int = 0) -> bool:
        """Read on; as much as there is of a value that is not whole, so that a long one is not looked at too often."""
        if self._ended:
            return False
        data = self._stream.read(max(_CHUNK, least))
        self._ended = not data
        try:
            text = self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError as error:
            raise self._broken(f"not UTF-8: {error.reason}") from error
        self._line += self._text.count("\n", 0, self._at)
        self._text = self._text[self._at :] + text
        self._at = 0
        return not self._ended or bool(text)

    def _broken(self, what: str, at: int | None = None) -> ContractError:
        line = self.line if at is None else self._line + self._text.count("\n", 0, at)
        return ContractError(
            f"not JSON: {what}", where=f"{self._where}, line {line}", remedy="download or write the file again"
        )
