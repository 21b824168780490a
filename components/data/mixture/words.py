"""Runs of words as numbers, for whole batches of texts at once."""

import hashlib
import itertools
import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)


def normalised(text: str) -> str:
    """What the texts of exact duplicates have in common: letters' case and white space do not count. Signs do, since
    ``x+1`` and ``x-1`` are two problems."""
    return " ".join(text.casefold().split())


def outlined(text: str) -> str:
    """As :func:`normalised`, and of a text too short for runs of words without what only dresses it: articles and the
    like, braces, dollars, white space, and punctuation that no digit follows."""
    if len(text) > _SHORT_CHARS or len(text.split()) >= _SHORT_WORDS:
        return normalised(text)
    words = [word for word in _DRESS.sub("", text.casefold()).split() if word not in _FILLERS]
    return "".join(words) or normalised(text)


_SHORT_CHARS: Final = 160
_SHORT_WORDS: Final = 13
_FILLERS: Final = frozenset({"a", "an", "the", "given", "python"})
_DRESS: Final = re.compile(r"[{}$\\\"']|[.,;:?](?!\d)")


def number_of(*parts: str) -> int:
    """64 bits of :func:`digest_of`: two of a million rows meet by chance once in 37 million sets."""
    return int.from_bytes(digest_of(*parts)[:8], "little")


def digest_of(*parts: str) -> bytes:
    """32 bytes of BLAKE2b of some texts; none of them can run into the next, since their lengths count too."""
    text = "\x1f".join([*map(str, map(len, parts)), *parts])
    return hashlib.blake2b(text.encode(), digest_size=32).digest()


def ngrams(texts: Sequence[str], length: int) -> tuple[Hashes, npt.NDArray[np.int64]]:
    """Every run of ``length`` words of each text.

    Words are runs of letters and digits, in lower case. A text of fewer words has no run.

    Args:
        texts: of one batch.
        length: words in a run, at least 1.

    Returns:
        A 64-bit number for each run, and the index of the text that it is from.
    """
    words = [_plain(text).split() for text in texts]
    counts = np.fromiter(map(len, words), np.int64, len(words))
    codes = np.fromiter(map(_NUMBERS.__getitem__, itertools.chain.from_iterable(words)), np.uint64, int(counts.sum()))
    owner = np.repeat(np.arange(len(texts)), counts)
    total = len(codes) - length + 1
    if total <= 0:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    runs = np.zeros(total, np.uint64)
    for place in range(length):
        runs *= _FACTOR
        runs += codes[place : place + total]
    # A run that begins in one text and ends in the next is none.
    inside = owner[:total] == owner[length - 1 :]
    return _mixed(runs[inside]), owner[:total][inside]


def _plain(text: str) -> str:
    """Lower case, with a space for all that is neither letter nor digit."""
    lower = text.lower()
    return lower.translate(_ASCII) if lower.isascii() else _OTHER.sub(" ", lower)


_ASCII: Final = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))
_OTHER: Final = re.compile(r"[\W_]+")


class _Numbers(dict[str, int]):
    """A number for each word; the words met lately are remembered."""

    def __missing__(self, word: str) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        number = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
        self[word] = number
        return number


_REMEMBERED: Final = 1 << 16
_NUMBERS: Final = _Numbers()


def _mixed(values: Hashes) -> Hashes:
    """Spreads the bits, since the upper ones choose the bucket; the last steps of SplitMix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
