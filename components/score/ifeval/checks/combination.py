"""combination: parts of a response in an order."""

from dataclasses import dataclass
from typing import Self

from components.score.ifeval.arguments import Arguments
from components.score.ifeval.checks.base import Check, Plain
from components.score.ifeval.text import Text

BETWEEN_RESPONSES = "*" * 6


@dataclass(frozen=True, slots=True)
class RepeatPrompt(Check):
    """Begins with a text, in any case."""

    start: str

    @classmethod
    def build(cls, given: Arguments) -> Self:
        """The text to repeat."""
        return cls(given.text("prompt_to_repeat").lower())

    def follows(self, text: Text) -> bool:
        """White space before it is passed over."""
        return text.stripped.lower().startswith(self.start)


class TwoResponses(Plain):
    """Two different parts with six stars between; stars before the first or behind the second do no harm."""

    def follows(self, text: Text) -> bool:
        """An empty part in the middle spoils it."""
        if BETWEEN_RESPONSES not in text.raw:
            return False
        parts = [part.strip() for part in text.raw.split(BETWEEN_RESPONSES)]
        filled = [part for part in parts if part]
        return all(parts[1:-1]) and len(filled) == 2 and filled[0] != filled[1]
