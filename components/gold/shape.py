"""Whether a response is a piece of prose of the length asked for, and no heap of words."""

from collections.abc import Sequence

from components.gold.stock import stock
from components.gold.text import FUNCTION_WORDS, normalise, words
from components.gold.wordlists import Hit

WINDOW = 24
"""Words over which repetition is looked for: in a longer text words come back by nature."""

MIN_DISTINCT = 0.5
"""Least share of different words in a window."""

MAX_RUN = 2
"""Most times that one word may stand in a row."""

MAX_LISTED = 3
"""Most words of the hidden list that may follow each other with nothing but commas, articles and "and" between."""

MAX_KEYWORD_SHARE = 0.5
"""Largest share of a response's words that may be words of the hidden list."""

_LINKS = stock("list_links")


def shape_faults(text: str, hits: Sequence[Hit], *, min_words: int, max_words: int) -> list[str]:
    """What is wrong with a response's shape; empty when nothing is.

    Args:
        text: the response.
        hits: where words of the hidden list were found in it.
        min_words: fewest words allowed.
        max_words: most words allowed.

    Returns:
        Any of ``too_short``, ``too_long``, ``repetition``, ``word_list``, ``no_sentence``.
    """
    found = words(text)
    faults = []
    if len(found) < min_words:
        faults.append("too_short")
    if len(found) > max_words:
        faults.append("too_long")
    if _repeats(found):
        faults.append("repetition")
    if _longest_list(normalise(text), hits) > MAX_LISTED or len(hits) > MAX_KEYWORD_SHARE * len(found):
        faults.append("word_list")
    if found and not FUNCTION_WORDS.intersection(found):
        faults.append("no_sentence")
    return faults


def _repeats(found: Sequence[str]) -> bool:
    run = longest = 0
    for number, word in enumerate(found):
        run = run + 1 if number and word == found[number - 1] else 1
        longest = max(longest, run)
    if longest > MAX_RUN:
        return True
    for start in range(max(1, len(found) - WINDOW + 1)):
        window = found[start : start + WINDOW]
        if len(window) > 3 and len(set(window)) < MIN_DISTINCT * len(window):
            return True
    return False


def _longest_list(text: str, hits: Sequence[Hit]) -> int:
    longest = run = 0
    for number, hit in enumerate(hits):
        linked = number > 0 and set(words(text[hits[number - 1].end : hit.start])) <= _LINKS
        run = run + 1 if linked and not _stops(text[hits[number - 1].end : hit.start]) else 1
        longest = max(longest, run)
    return longest


def _stops(between: str) -> bool:
    return any(mark in between for mark in ".!?")
