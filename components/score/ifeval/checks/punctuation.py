"""punctuation: what must not occur."""

from components.score.ifeval.checks.base import Plain
from components.score.ifeval.text import Text
from components.score.ifeval.variants import Tendency


class NoComma(Plain):
    """No comma at all; commas of other scripts are none."""

    def follows(self, text: Text) -> bool:
        """U+002C alone."""
        return "," not in text.raw

    @property
    def tendency(self) -> Tendency:
        """A comma goes with its line."""
        return Tendency.WANTS_LESS
