"""change_case: capitals and small letters. A text whose language cannot be told counts as English, as published."""

from dataclasses import dataclass
from typing import Self

from components.score.ifeval.arguments import Arguments, Bound
from components.score.ifeval.checks.base import Check, Plain
from components.score.ifeval.languages import detect
from components.score.ifeval.text import Text


class EnglishCapital(Plain):
    """All in capitals, and English."""

    def follows(self, text: Text) -> bool:
        """Letters first: the language costs a thousand times as much."""
        return text.raw.isupper() and detect(text.raw) in ("en", None)

    def unsure(self, text: Text) -> bool:
        """No language found in a text in capitals."""
        return detect(text.raw) is None


class EnglishLowercase(Plain):
    """All in small letters, and English."""

    def follows(self, text: Text) -> bool:
        """Letters first, as above."""
        return text.raw.islower() and detect(text.raw) in ("en", None)

    def unsure(self, text: Text) -> bool:
        """No language found in a text in small letters."""
        return detect(text.raw) is None


@dataclass(frozen=True, slots=True)
class CapitalWordFrequency(Check):
    """Number of words in capitals throughout; a word with a hyphen is one, and so is *I*."""

    bound: Bound

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """Relation and number."""
        return cls(given.bound("capital_relation", "capital_frequency"))

    def follows(self, text: Text) -> bool:
        """Counts by NLTK's word tokenizer."""
        return self.bound.holds(text.capital_words)
