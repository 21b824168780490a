"""A response, or a variant of it, with what several checks want to know about it, found out once."""

import re
from functools import cached_property

from components.score.ifeval import capitals, sentences

_WORD = re.compile(r"\w+")


class Text:
    """One text. Everything but ``raw`` is worked out when it is first asked for."""

    def __init__(self, raw: str) -> None:
        self.raw = raw

    @cached_property
    def stripped(self) -> str:
        """Without white space at both ends; empty for a text that follows nothing."""
        return self.raw.strip()

    @cached_property
    def lower(self) -> str:
        """In lower case."""
        return self.raw.lower()

    @cached_property
    def words(self) -> int:
        """How many runs of letters, digits and underscores it has."""
        return len(_WORD.findall(self.raw))

    @cached_property
    def sentences(self) -> list[str]:
        """Its sentences by NLTK's Punkt tokenizer."""
        return sentences.split(self.raw)

    @cached_property
    def most_sentences(self) -> int:
        """No more sentences than this: each but the last ends at a stop."""
        return 1 + self.raw.count(".") + self.raw.count("!") + self.raw.count("?")

    @cached_property
    def capital_words(self) -> int:
        """How many of its words are in capitals throughout."""
        return sum(map(capitals.count, self.sentences))
