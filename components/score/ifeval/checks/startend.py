"""startend: how a response begins and ends."""

from dataclasses import dataclass
from typing import Self

from components.score.ifeval.arguments import Arguments
from components.score.ifeval.checks.base import Check, Plain
from components.score.ifeval.text import Text


@dataclass(frozen=True, slots=True)
class EndChecker(Check):
    """Ends with a phrase, in any case; quotation marks behind it are passed over."""

    phrase: str

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """The phrase."""
        return cls(given.text("end_phrase").lower())

    def follows(self, text: Text) -> bool:
        """White space between phrase and quotation mark is not passed over."""
        return text.stripped.strip('"').lower().endswith(self.phrase)


class Quotation(Plain):
    """The first and the last character are double quotation marks."""

    def follows(self, text: Text) -> bool:
        """Straight ones."""
        return len(text.stripped) > 1 and text.stripped[0] == text.stripped[-1] == '"'
