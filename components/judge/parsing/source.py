"""A text that is read for JSON from many places, and what is known of it already.

Whoever judges hostile text must not pay for it with the square of its length. Values that were read whole are not read
again, the end of a comment is looked up, and every reading draws from one allowance: a text in which so much begins and
nothing ends that it is used up is not read any further.
"""

import bisect
import re
from typing import Final, Generic, NamedTuple, TypeVar

_SPACE: Final = re.compile(r"(?:[\s\u200b\u200c\u200d\u2060\ufeff]++|//[^\n]*+|#[^\n]*+)*+")
_COMMENT_END: Final = re.compile(r"\*/")

_STEPS_EACH: Final = 3
_STEPS: Final = 8192
_MOST_STEPS: Final = 1 << 20
"""Steps for each character, for any text, and for the longest one. Keys with verdicts take half a step for each
character, so that six readings of all of them are paid for; and what is whole is read once."""

_AT_ONCE: Final = 32
"""Characters that the regular expressions take for the price of a step."""

Read = TypeVar("Read")


class SpentError(Exception):
    """The allowance for reading the text is used up."""


class Known(NamedTuple, Generic[Read]):
    """A value that was read whole.

    Attributes:
        value: itself.
        end: where it ends.
        height: levels below its own.
        meant: whether it holds a key and a colon.
    """

    value: Read
    end: int
    height: int
    meant: bool


class Source(Generic[Read]):
    """One text and its readings.

    Args:
        text: the text.
        steps: the allowance; by the length of the text unless given.

    Attributes:
        known: whole values by the places where they begin.
        left: steps that are left.
    """

    def __init__(self, text: str, steps: int | None = None) -> None:
        self.text = text
        self.known: dict[int, Known[Read]] = {}
        self.left = min(_STEPS + _STEPS_EACH * len(text), _MOST_STEPS) if steps is None else steps
        self._comment_ends: list[int] | None = None

    def step(self, characters: int = 0, work: int = 0) -> None:
        """Pay for one step, the characters passed with it, and further work.

        Raises:
            SpentError: nothing is left.
        """
        self.left -= 1 + characters // _AT_ONCE + work
        if self.left < 0:
            raise SpentError

    def skip(self, place: int) -> int:
        """The first place from ``place`` on that is neither white space nor comment.

        Raises:
            SpentError: see :meth:`step`.
        """
        begin = place
        while True:
            space = _SPACE.match(self.text, place)
            place = space.end() if space else place
            end = self._comment(place)
            if end is None:
                self.step(place - begin)
                return place
            place = end

    def _comment(self, place: int) -> int | None:
        """Where the block comment ends that begins at ``place``; None if none does, or it never ends."""
        if not self.text.startswith("/*", place):
            return None
        if self._comment_ends is None:
            self._comment_ends = [found.end() for found in _COMMENT_END.finditer(self.text)]
        which = bisect.bisect_left(self._comment_ends, place + 4)
        return self._comment_ends[which] if which < len(self._comment_ends) else None
