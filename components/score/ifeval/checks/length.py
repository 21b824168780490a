"""length_constraints: words, sentences and paragraphs."""

import re
from dataclasses import dataclass
from typing import Self

from components.score.ifeval.arguments import Arguments, Bound
from components.score.ifeval.checks.base import Check
from components.score.ifeval.text import Text
from components.score.ifeval.variants import Tendency

_DIVIDER = re.compile(r"\s?\*\*\*\s?")
_WORD_END = re.compile(r"[.,?!'\"]")


@dataclass(frozen=True, slots=True)
class NumberWords(Check):
    """Number of words; a hyphen or an apostrophe parts them."""

    bound: Bound

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """Relation and number."""
        return cls(given.bound("relation", "num_words"))

    def follows(self, text: Text) -> bool:
        """Runs of letters, digits and underscores."""
        return self.bound.holds(text.words)

    @property
    def tendency(self) -> Tendency:
        """Leaving out stars can join words, not part them."""
        return Tendency.WANTS_LESS if self.bound.relation == "less than" else Tendency.WANTS_ALL


@dataclass(frozen=True, slots=True)
class NumberSentences(Check):
    """Number of sentences by NLTK."""

    bound: Bound

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """Relation and number."""
        return cls(given.bound("relation", "num_sentences"))

    def follows(self, text: Text) -> bool:
        """Where there are too few stops, sentences need not be looked for."""
        if text.most_sentences < self.bound.count:
            return self.bound.relation == "less than"
        return self.bound.holds(len(text.sentences))


@dataclass(frozen=True, slots=True)
class NumberParagraphs(Check):
    """Exactly so many parts between dividers of three stars; an empty one may only be first or last."""

    wanted: int

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """The number."""
        return cls(given.count("num_paragraphs"))

    def follows(self, text: Text) -> bool:
        """Empty ones at the ends are not counted."""
        filled = [bool(part.strip()) for part in _DIVIDER.split(text.raw)]
        return all(filled[1:-1]) and sum(filled) == self.wanted


@dataclass(frozen=True, slots=True)
class NthParagraphFirstWord(Check):
    """So many paragraphs parted by blank lines, and one of them begins with a word.

    As published, blank paragraphs do not count towards the number, but do when the n-th is looked up.
    """

    wanted: int
    place: int
    word: str

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """Number of paragraphs, which of them (from 1 on), and its first word."""
        wanted = given.count("num_paragraphs", least=1)
        place = given.count("nth_paragraph", least=1, most=wanted)
        return cls(wanted, place, given.text("first_word").lower())

    def follows(self, text: Text) -> bool:
        """The word ends at the first stop, comma or quotation mark; quotation marks before it are passed over."""
        paragraphs = [paragraph.strip() for paragraph in text.raw.split("\n\n")]
        if sum(map(bool, paragraphs)) != self.wanted or not paragraphs[self.place - 1]:
            return False
        first = paragraphs[self.place - 1].split()[0].lstrip("'").lstrip('"')
        # Letter by letter: a whole word's small form can differ (Greek sigma).
        return "".join(map(str.lower, _WORD_END.split(first, maxsplit=1)[0])) == self.word
