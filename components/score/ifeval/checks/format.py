"""detectable_format: what a response looks like."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from components.score.ifeval.arguments import Arguments
from components.score.ifeval.checks.base import Check, Plain
from components.score.ifeval.patterns import Pattern
from components.score.ifeval.text import Text
from components.score.ifeval.variants import Tendency

ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")

# As published these begin with \s*. Blank lines before a bullet change no count, and would be gone through from each.
_STAR_BULLET = re.compile(r"^[^\S\n]*\*[^*].*$", re.MULTILINE)
_DASH_BULLET = re.compile(r"^[^\S\n]*-.*$", re.MULTILINE)
_SINGLE = re.compile(r"\*[^\n*]*\*")
_DOUBLE = re.compile(r"\*\*[^\n*]*\*\*")
_FENCES = ("```json", "```Json", "```JSON", "```")


class ConstrainedResponse(Plain):
    """One of three sentences stands in it, exactly so."""

    def follows(self, text: Text) -> bool:
        """Anything may stand around."""
        return any(answer in text.raw for answer in ANSWERS)

    @property
    def tendency(self) -> Tendency:
        """What is in a part is in the whole; a star may stand within the sentence, though."""
        return Tendency.WANTS_MORE


class JsonFormat(Plain):
    """The whole is JSON, in a code fence or bare."""

    def follows(self, text: Text) -> bool:
        """Each kind of fence is taken off once, in a fixed order."""
        value = text.stripped
        for fence in _FENCES:
            value = value.removeprefix(fence)
        try:
            json.loads(value.removesuffix("```").strip())
        except ValueError:
            return False
        except RecursionError:
            # Brackets a thousand deep: no parser at hand reads it, and the published code crashes.
            return False
        return True


@dataclass(frozen=True, slots=True)
class MultipleSections(Check):
    """At least so many times the section word with a number behind it."""

    heading: Pattern
    least: int
    plain: bool

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """The section word (its name is misspelt in the data) and the number."""
        word = given.pattern("section_spliter")
        return cls(Pattern(word, r"\s?{}\s?\d+\s?"), given.count("num_sections"), word.isalpha())

    def follows(self, text: Text) -> bool:
        """Case matters."""
        return self.heading.splits(text.raw) >= self.least

    @property
    def tendency(self) -> Tendency:
        """A word of letters does not come about by leaving out lines."""
        return Tendency.WANTS_MORE if self.plain else Tendency.EITHER


@dataclass(frozen=True, slots=True)
class NumberBulletLists(Check):
    """Exactly so many lines that begin with one star or with a hyphen; a horizontal rule of hyphens is one of them."""

    wanted: int

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """The number."""
        return cls(given.count("num_bullets"))

    def follows(self, text: Text) -> bool:
        """Blank lines before a bullet belong to it."""
        found = len(_STAR_BULLET.findall(text.raw)) if "*" in text.raw else 0
        found += len(_DASH_BULLET.findall(text.raw)) if "-" in text.raw else 0
        return found == self.wanted


@dataclass(frozen=True, slots=True)
class NumberHighlightedSections(Check):
    """At least so many spans between single or between double stars, blank ones left out.

    A span between double stars is not counted as a single one as well: those two find an empty text between its stars.
    """

    least: int

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """The number."""
        return cls(given.count("num_highlights"))

    def follows(self, text: Text) -> bool:
        """Spans lie within lines."""
        if "*" not in text.raw:
            return self.least == 0
        spans = [span.strip("*") for span in _SINGLE.findall(text.raw)]
        spans += [span[2:-2] for span in _DOUBLE.findall(text.raw)]
        return sum(bool(span.strip()) for span in spans) >= self.least

    @property
    def tendency(self) -> Tendency:
        """Without stars there is none."""
        return Tendency.WANTS_ALL


class Title(Plain):
    """Something that is not blank stands in double angle brackets, on one line."""

    def follows(self, text: Text) -> bool:
        """A line's first and last brackets bound one title."""
        if "<<" not in text.raw:
            return False
        return any(title.lstrip("<").rstrip(">").strip() for title in _titles(text.raw))

    @property
    def tendency(self) -> Tendency:
        """Titles lie within lines; a star may part their brackets, though."""
        return Tendency.WANTS_MORE


def _titles(text: str) -> Iterator[str]:
    r"""What ``<<[^\n]+>>`` finds: of each line what reaches from its first opening brackets to its last closing
    ones, if there is room for a character between."""
    for line in text.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        if start >= 0 and end > start + 2:
            yield line[start : end + 2]
