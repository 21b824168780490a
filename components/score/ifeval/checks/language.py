"""language: what the whole response is written in."""

from dataclasses import dataclass
from typing import Self

from components.score.ifeval.arguments import Arguments
from components.score.ifeval.checks.base import Check
from components.score.ifeval.languages import detect
from components.score.ifeval.text import Text


@dataclass(frozen=True, slots=True)
class ResponseLanguage(Check):
    """Written in a language; a text whose language cannot be told counts as followed, as published."""

    language: str

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """The language's code."""
        return cls(given.text("language"))

    def follows(self, text: Text) -> bool:
        """By langdetect."""
        return detect(text.raw) in (self.language, None)

    def unsure(self, text: Text) -> bool:
        """No language found."""
        return detect(text.raw) is None
