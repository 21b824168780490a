"""Changes of a text by rules: paraphrase, restatement, insertion. Equal draws give equal texts."""

import functools
import itertools
import random
import re
from collections.abc import Sequence
from typing import Final

from components.bias.wording import lines, pairs

_ENDS: Final = re.compile(r"(?<=[.!?])\s+(?=[\"'(]?[A-Z0-9])")
_LOWERED: Final = frozenset(word for line in lines("small_words") for word in line.split())
_JOINED: Final = re.compile(r"\. (The|It|This|That|They|If|When|A|An|In|As|These|Both|Most|Some|Its|Their|For) ")
_CHANCE: Final = 0.7
"""Share of the places that one paraphrase changes, so that two paraphrases of a text differ."""


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph."""
    return [part for part in _ENDS.split(text.strip()) if part]


def paraphrase(text: str, draw: random.Random) -> str:
    """The same in other words: phrases give way to phrases of the same meaning, and one full stop to a semicolon."""

    def swap(match: re.Match[str]) -> str:
        found = match[0]
        if draw.random() >= _CHANCE:
            return found
        new = _swaps()[found.lower()]
        return new[0].upper() + new[1:] if found[0].isupper() else new

    changed = _swapping().sub(swap, text)
    places = list(_JOINED.finditer(changed))
    if places and (changed == text or draw.random() < _CHANCE):
        at = places[draw.randrange(len(places))]
        changed = f"{changed[: at.start()]}; {at[1].lower()} {changed[at.end() :]}"
    return changed if changed != text else _swapping().sub(lambda match: _swaps()[match[0].lower()], text)


def restated(text: str, draw: random.Random, *, share: float, gathered: bool = False) -> str:
    """The text with sentences said again in other words, and nothing new.

    Args:
        text: a paragraph.
        draw: decides which sentences and the words.
        share: of the sentences that are said again, in (0, 1].
        gathered: whether what is said again stands at the end, not behind each sentence.
    """
    parts = sentences(text)
    chosen = set(draw.sample(range(len(parts)), max(1, round(share * len(parts)))))
    openers = shuffled(lines("restatements"), draw)
    again = {
        place: f"{openers[place % len(openers)]} {lowered(paraphrase(parts[place], draw))}" for place in sorted(chosen)
    }
    if gathered:
        return " ".join([*parts, *again.values()])
    return " ".join(f"{part} {again[place]}" if place in again else part for place, part in enumerate(parts))


def lowered(sentence: str) -> str:
    """The sentence as it stands behind an opener: a first word that is no name in lower case."""
    head, _, rest = sentence.partition(" ")
    return f"{head.lower()} {rest}" if head.lower() in _LOWERED else sentence


def inserted(text: str, addition: str, place: str) -> str:
    """The text with an addition ``before``, ``behind``, or ``amid`` its sentences."""
    if place == "before":
        return f"{addition} {text}"
    if place == "behind":
        return f"{text} {addition}"
    parts = sentences(text)
    middle = max(1, len(parts) // 2)
    return " ".join([*parts[:middle], addition, *parts[middle:]])


def filler(like: str, draw: random.Random) -> str:
    """Sentences that add nothing, of as many words as ``like`` has, as nearly as one to three of them come: what a
    placebo adds in its place, so that the length is no factor."""
    wanted = len(like.split())
    pool = shuffled(lines("fillers"), draw)
    sets = (chosen for size in (1, 2, 3) for chosen in itertools.combinations(pool, size))
    # The first of the nearest, in an order that was drawn.
    return " ".join(min(sets, key=lambda chosen: abs(sum(len(line.split()) for line in chosen) - wanted)))


def shuffled(lines_: Sequence[str], draw: random.Random) -> list[str]:
    """In a drawn order."""
    return draw.sample(list(lines_), len(lines_))


@functools.cache
def _swaps() -> dict[str, str]:
    return {found: new for found, new in pairs("swaps", ">")}  # noqa: C416


@functools.cache
def _swapping() -> re.Pattern[str]:
    longest_first = sorted(_swaps(), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE)
