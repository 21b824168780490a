"""The eight texts of the loose criterion, and which of them a check has to look at."""

import enum
from collections.abc import Iterator
from functools import cached_property

from components.score.ifeval.text import Text


class Tendency(enum.Enum):
    """What leaving out a line or the stars can do to a check's outcome."""

    EITHER = enum.auto()
    """Anything."""
    WANTS_MORE = enum.auto()
    """Leaving out lines can only spoil it."""
    WANTS_ALL = enum.auto()
    """Leaving out lines or stars can only spoil it."""
    WANTS_LESS = enum.auto()
    """Leaving out lines can only mend it."""


class Variants:
    """A response, and what is left without its first line, its last line or both, each also without stars."""

    def __init__(self, response: str) -> None:
        self.whole = Text(response)

    def beside_whole(self, tendency: Tendency) -> Iterator[Text]:
        """The variants, other than the response itself, that can follow what the response does not.

        Equal texts come once, blank ones never: they follow nothing. Where a check can only lose by missing lines, the
        longest variant decides for all; where it can only win, the shortest does, unless it is blank.
        """
        if tendency is Tendency.WANTS_ALL:
            return iter(())
        if tendency is Tendency.WANTS_MORE:
            return iter([self._plain] if self._plain is not None and self._plain.stripped else [])
        if tendency is Tendency.WANTS_LESS and all(text.stripped for text in self._shortest):
            return iter(self._shortest)
        return iter(self._others)

    @cached_property
    def _cut(self) -> list[str]:
        _, separator, rest = self.whole.raw.partition("\n")
        if not separator:
            return ["", "", ""]
        inner = rest.rpartition("\n")[0]
        start = self.whole.raw.rpartition("\n")[0]
        return [rest.strip(), start.strip(), inner.strip()]

    @cached_property
    def _plain(self) -> Text | None:
        return Text(self.whole.raw.replace("*", "")) if "*" in self.whole.raw else None

    @cached_property
    def _shortest(self) -> list[Text]:
        inner = self._cut[-1]
        return [Text(text) for text in dict.fromkeys((inner, inner.replace("*", "")))]

    @cached_property
    def _others(self) -> list[Text]:
        texts = [*self._cut]
        if self._plain is not None:
            texts += [self._plain.raw, *(text.replace("*", "") for text in self._cut)]
        return [Text(text) for text in dict.fromkeys(texts) if text.strip() and text != self.whole.raw]
