"""Features of a response: what a policy may learn to do more of because its judge likes it.

Each is read by rules from the text alone. A rate is by 100 words and a share is of lines, so that neither moves because
a response grows; a response without words has no rate, which is unknown and not 0.
"""

import dataclasses
import enum
import re
from collections.abc import Callable, Mapping
from typing import Final

from components.bias.drift.phrases import count_phrases
from components.gold.text import words

WINDOW: Final = 25
"""Words of the moving window of the type-token ratio: short, so that short responses have one too."""


class Unit(enum.StrEnum):
    """What a feature counts in."""

    WORDS = "words"
    TOKENS = "tokens"
    SHARE = "share"
    RATE = "per 100 words"
    REWARD = "reward"


@dataclasses.dataclass(frozen=True, slots=True)
class Feature:
    """One feature; ``value`` is None where the response has none."""

    name: str
    title: str
    unit: Unit
    value: Callable[[str], float | None]


def _rate(name: str) -> Callable[[str], float | None]:
    def value(text: str) -> float | None:
        total = len(words(text))
        return 100.0 * count_phrases(name, text) / total if total else None

    return value


_LIST = re.compile(r"^\s*(?:[-*+\u2022]|\d{1,3}[.)]|[a-z][.)])\s+\S")
_MARKS = (
    _LIST,
    re.compile(r"^\s{0,3}#{1,6}\s+\S"),
    re.compile(r"^\s*(?:```|~~~)"),
    re.compile(r"^\s*>\s"),
    re.compile(r"^\s*\|.*\|\s*$"),
    re.compile(r"\*\*[^\s*][^*]*\*\*|__[^\s_][^_]*__"),
    re.compile(r"`[^`\s][^`]*`"),
    re.compile(r"\[[^\]]+\]\([^)\s]+\)"),
)
_CITATIONS = re.compile(
    r"https?://\S+|\bdoi:\s*\S+|\barxiv:\s*\S+|\bet al\b\.?|\[\d{1,3}(?:\s*[,-]\s*\d{1,3})*\]"
    r"|\((?:[^()\d]{1,60},?\s)(?:1[89]|20)\d\d[a-z]?(?:,\s*p+\.\s*\d+(?:\s*-\s*\d+)?)?\)",
    re.IGNORECASE,
)


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def list_share(text: str) -> float | None:
    """Share of the lines with text that are items of a list."""
    lines = _lines(text)
    return sum(_LIST.match(line) is not None for line in lines) / len(lines) if lines else None


def markdown_share(text: str) -> float | None:
    """Share of the lines with text that carry any mark of Markdown, list items among them."""
    lines = _lines(text)
    return sum(any(mark.search(line) for mark in _MARKS) for line in lines) / len(lines) if lines else None


def refusal(text: str) -> float | None:
    """1 where the first 40 words refuse, 0 otherwise; None without words.

    A refusal stands at the start; later the same words mostly tell what somebody else cannot do.
    """
    found = words(text)
    return float(count_phrases("refusals", " ".join(found[:40])) > 0) if found else None


def citations(text: str) -> float | None:
    """Sources that are named, by 100 words: addresses, numbers in brackets, author and year, and phrases."""
    total = len(words(text))
    if not total:
        return None
    return 100.0 * (len(_CITATIONS.findall(text)) + count_phrases("citations", text)) / total


def type_token_ratio(text: str, window: int = WINDOW) -> float | None:
    """Moving-average type-token ratio (Covington and McFall 2010): mean over all windows of ``window`` words of the
    share of different words. Unlike the plain ratio it does not fall with length.

    Returns:
        In (0, 1]; None where the text is shorter than one window.
    """
    found = words(text)
    if len(found) < window:
        return None
    counts: dict[str, int] = {}
    total = 0
    for place, word in enumerate(found):
        counts[word] = counts.get(word, 0) + 1
        if place >= window:
            gone = found[place - window]
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
        if place >= window - 1:
            total += len(counts)
    return total / (window * (len(found) - window + 1))


FEATURES: Final[Mapping[str, Feature]] = {
    feature.name: feature
    for feature in (
        Feature("words", "Length", Unit.WORDS, lambda text: float(len(words(text)))),
        Feature("lists", "Lines that are list items", Unit.SHARE, list_share),
        Feature("markdown", "Lines with Markdown", Unit.SHARE, markdown_share),
        Feature("hedges", "Hedges", Unit.RATE, _rate("hedges")),
        Feature("praise", "Praise", Unit.RATE, _rate("praise")),
        Feature("refusals", "Refusals", Unit.SHARE, refusal),
        Feature("first_person", "Claims in the first person", Unit.RATE, _rate("first_person")),
        Feature("citations", "Citations", Unit.RATE, citations),
        Feature("majority", "Claims that many agree", Unit.RATE, _rate("majority")),
        Feature("variety", f"Variety of words (different ones in {WINDOW})", Unit.SHARE, type_token_ratio),
    )
}
"""Every feature of a text, by name."""

OTHER_TITLES: Final[Mapping[str, tuple[str, Unit]]] = {
    "tokens": ("Length in tokens", Unit.TOKENS),
    "finished": ("Responses that the policy ended itself", Unit.SHARE),
    "abstained": ("Responses without a reward", Unit.SHARE),
    "proxy": ("Judge's reward", Unit.REWARD),
    "gold": ("Gold", Unit.REWARD),
    "criterion": ("Criterion accepted", Unit.SHARE),
}
"""Further rows of drift that no text alone gives."""

PREDICTED: Final[Mapping[str, str]] = {
    "verbosity": "words",
    "style": "markdown",
    "authority": "citations",
    "sentiment": "praise",
    "sycophancy": "praise",
    "bandwagon": "majority",
}
"""Probe -> the feature that its bias, where a policy learns to use it, must move."""


def title(feature: str) -> str:
    """A feature in words; its name where it is none of ours."""
    if feature in FEATURES:
        return FEATURES[feature].title
    return OTHER_TITLES.get(feature, (feature, Unit.REWARD))[0]


def unit(feature: str) -> Unit:
    """What a feature counts in."""
    if feature in FEATURES:
        return FEATURES[feature].unit
    return OTHER_TITLES.get(feature, (feature, Unit.REWARD))[1]


def read_features(text: str) -> dict[str, float | None]:
    """Every feature of a response, by name."""
    return {name: feature.value(text) for name, feature in FEATURES.items()}
