"""The n-grams of a text that langdetect draws from, gathered word by word.

langdetect walks over a text's characters one by one. What it finds in a word depends on that word alone and on whether
a space follows, so each word is walked over once in a process.
"""

from collections.abc import Callable, Container
from itertools import chain

LONGEST_GRAM = 3
MOST_WORDS = 1 << 16


class _Normalised(dict[int, str]):
    """Character -> what langdetect puts in its place, as a table for str.translate that fills itself."""

    def __init__(self, normalise: Callable[[str], str]) -> None:
        super().__init__()
        self._normalise = normalise

    def __missing__(self, code: int) -> str:
        self[code] = found = self._normalise(chr(code))
        return found


class Alphabet:
    """What n-grams there are.

    Args:
        normalise: a character -> the one that stands for it; a space parts words.
        known: the n-grams that count.
    """

    def __init__(self, normalise: Callable[[str], str], known: Container[str]) -> None:
        self._table = _Normalised(normalise)
        self._known = known
        self._words: dict[str, list[str]] = {}

    def ngrams(self, text: str) -> list[str]:
        """The known n-grams of up to three characters, in the order of their ends and then of their lengths."""
        words = text.translate(self._table).split(" ")
        last = words.pop()
        found = list(chain.from_iterable(self._of_word(f"{word} ") for word in words if word))
        return found + self._of_word(last) if last else found

    def _of_word(self, word: str) -> list[str]:
        if word not in self._words:
            if len(self._words) >= MOST_WORDS:
                self._words.clear()
            self._words[word] = list(self._walk(word))
        return self._words[word]

    def _walk(self, word: str) -> list[str]:
        found = []
        gram, previous, capitals = " ", " ", False
        for character in word:
            gram = (gram + character)[-LONGEST_GRAM:]
            # Words in capitals say little of a language: from the second capital on nothing counts.
            capitals = character.isupper() and (capitals or previous.isupper())
            previous = character
            if not capitals:
                ends = (gram[-length:] for length in range(1, len(gram) + 1))
                found += [end for end in ends if end != " " and end in self._known]
        return found
