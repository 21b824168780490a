"""keywords: words and letters that must or must not occur. Keywords are regular expressions, as published."""

import re
from dataclasses import dataclass
from typing import Self

from components.score.ifeval.arguments import Arguments, Bound
from components.score.ifeval.checks.base import Check
from components.score.ifeval.patterns import Pattern
from components.score.ifeval.text import Text
from components.score.ifeval.variants import Tendency

_ORDINARY = re.compile(r"\w(?:[\w '-]*\w)?", re.ASCII)


class Keyword:
    """A keyword to be found in any case, also within a word.

    Attributes:
        ordinary: it stands for itself alone and holds no line break, so it cannot come about by leaving out lines.
    """

    def __init__(self, pattern: str) -> None:
        self.ordinary = _ORDINARY.fullmatch(pattern) is not None
        self._pattern = Pattern(pattern, flags=re.IGNORECASE)
        self._word = Pattern(pattern, r"\b{}\b", re.IGNORECASE)
        self._lower = pattern.lower()

    def occurs(self, text: Text) -> bool:
        """Whether it is found at all."""
        if self._simply(text):
            return self._lower in text.lower
        return self._pattern.occurs(text.raw)

    def count(self, text: Text) -> int:
        """How often it is found, without overlap."""
        if self._simply(text):
            return text.lower.count(self._lower)
        return self._pattern.count(text.raw)

    def is_word_in(self, text: Text) -> bool:
        """Whether it is found as a word of its own."""
        if self._simply(text) and self._lower not in text.lower:
            return False
        return self._word.occurs(text.raw)

    def _simply(self, text: Text) -> bool:
        # Beyond ASCII, letters that are equal but for case are not those with equal small forms (such as the long s).
        return self.ordinary and text.raw.isascii()


def _tendency(keywords: tuple[Keyword, ...], tendency: Tendency) -> Tendency:
    return tendency if all(keyword.ordinary for keyword in keywords) else Tendency.EITHER


@dataclass(frozen=True, slots=True)
class Existence(Check):
    """Every keyword occurs."""

    keywords: tuple[Keyword, ...]

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """The keywords."""
        return cls(tuple(map(Keyword, given.patterns("keywords"))))

    def follows(self, text: Text) -> bool:
        """Within words, too."""
        return all(keyword.occurs(text) for keyword in self.keywords)

    @property
    def tendency(self) -> Tendency:
        """A star may part a keyword."""
        return _tendency(self.keywords, Tendency.WANTS_MORE)


@dataclass(frozen=True, slots=True)
class ForbiddenWords(Check):
    """No keyword occurs as a word of its own."""

    keywords: tuple[Keyword, ...]

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """The keywords."""
        return cls(tuple(map(Keyword, given.patterns("forbidden_words"))))

    def follows(self, text: Text) -> bool:
        """Within words they may."""
        return not any(keyword.is_word_in(text) for keyword in self.keywords)

    @property
    def tendency(self) -> Tendency:
        """A line's end ends words, so a line fewer makes none."""
        return _tendency(self.keywords, Tendency.WANTS_LESS)


@dataclass(frozen=True, slots=True)
class Frequency(Check):
    """How often a keyword occurs."""

    keyword: Keyword
    bound: Bound

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """Keyword, relation and number."""
        return cls(Keyword(given.pattern("keyword")), given.bound("relation", "frequency"))

    def follows(self, text: Text) -> bool:
        """Within words, too."""
        return self.bound.holds(self.keyword.count(text))

    @property
    def tendency(self) -> Tendency:
        """That of the bound."""
        return _tendency((self.keyword,), self.bound.tendency)


@dataclass(frozen=True, slots=True)
class LetterFrequency(Check):
    """How often a character occurs, in any case. It need not be a letter: two prompts ask for # and for !."""

    letter: str
    bound: Bound

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """Letter, relation and number."""
        return cls(given.character("letter").lower(), given.bound("let_relation", "let_frequency"))

    def follows(self, text: Text) -> bool:
        """Counted in the text in small letters."""
        return self.bound.holds(text.lower.count(self.letter))

    @property
    def tendency(self) -> Tendency:
        """That of the bound; beyond ASCII a small form can depend on what stands beside it."""
        return self.bound.tendency if self.letter.isascii() else Tendency.EITHER
