"""detectable_content: placeholders and postscripts."""

from dataclasses import dataclass
from typing import Self

from components.score.ifeval.arguments import Arguments
from components.score.ifeval.checks.base import Check
from components.score.ifeval.patterns import Pattern
from components.score.ifeval.text import Text
from components.score.ifeval.variants import Tendency

_POSTSCRIPTS = {"P.S.": r"p\.\s?s\.", "P.P.S": r"p\.\s?p\.\s?s"}


@dataclass(frozen=True, slots=True)
class NumberPlaceholders(Check):
    """At least so many spans in square brackets, none across lines; an empty one counts."""

    least: int

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """The number."""
        return cls(given.count("num_placeholders"))

    def follows(self, text: Text) -> bool:
        """Brackets that are opened twice and closed once make one span."""
        return text.raw.count("]") >= self.least and _placeholders(text.raw) >= self.least

    @property
    def tendency(self) -> Tendency:
        """Spans lie within lines, and stars in them do not matter."""
        return Tendency.WANTS_ALL


@dataclass(frozen=True, slots=True)
class Postscript(Check):
    """The marker stands anywhere, in any case; the two usual ones also with a space within."""

    marker: Pattern
    usual: bool

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """The marker; one that is not usual is a regular expression, as published."""
        marker = given.pattern("postscript_marker")
        if marker in _POSTSCRIPTS:
            return cls(Pattern("", _POSTSCRIPTS[marker]), usual=True)
        return cls(Pattern(marker.lower()), usual=False)

    def follows(self, text: Text) -> bool:
        """Searched in the text in small letters."""
        return self.marker.occurs(text.lower)

    @property
    def tendency(self) -> Tendency:
        """The usual markers cannot appear by leaving out lines; of others nothing is known."""
        return Tendency.WANTS_MORE if self.usual else Tendency.EITHER


def _placeholders(text: str) -> int:
    r"""How often ``\[.*?\]`` is found."""
    found = 0
    for line in text.split("\n"):
        start = line.find("[")
        while start >= 0 and (end := line.find("]", start + 1)) >= 0:
            found += 1
            start = line.find("[", end + 1)
    return found
