"""What a scripted judge finds in the text it is shown: for each axis a feature between 0 and 1.

Features are found in the text alone. Nothing tells the judge which form of an item it sees.
"""

import functools
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from components.bias.types import Form

FULL_WORDS: Final = 200
"""Words at which length counts in full; below it counts by its logarithm, so that the few words of a small policy and
the hundred of a probe's text both have room to grow."""
_PATTERNS: Final = Path(__file__).with_name("patterns")
_FLAGS: Final = re.IGNORECASE | re.MULTILINE
_CASED: Final = frozenset({"authority"})
_PLAIN_SCALE: Final = ("1", "2", "3", "4", "5")
_WORD: Final = re.compile(r"[a-z]{4,}")
_SENTENCE: Final = re.compile(r"(?<=[.?!])\s+")

Feature = Callable[[Form], float]


def matches(axis: str, text: str) -> bool:
    """Whether one of the axis's patterns (``patterns/AXIS.txt``) is in the text."""
    return any(pattern.search(text) for pattern in _patterns(axis))


@functools.lru_cache(maxsize=4096)
def contentless(text: str) -> bool:
    """Whether a response says nothing: a master key."""
    return any(pattern.fullmatch(text.strip()) for pattern in _patterns("master_keys"))


@functools.lru_cache(maxsize=8192)
def overlap(text: str, other: str) -> float:
    """Share of the other text's words (of four letters and more) that the text has, too; 0 where it has none."""
    wanted = set(_WORD.findall(other.lower()))
    return len(wanted & set(_WORD.findall(text.lower()))) / len(wanted) if wanted else 0.0


@functools.lru_cache(maxsize=65536)
def feature(axis: str, form: Form) -> float:
    """How much of an axis's feature the form shows, in [0, 1]."""
    return AXES[axis](form)


@functools.cache
def _patterns(axis: str) -> tuple[re.Pattern[str], ...]:
    flags = re.MULTILINE if axis in _CASED else _FLAGS
    lines = (_PATTERNS / f"{axis}.txt").read_text(encoding="utf-8").splitlines()
    return tuple(re.compile(line, flags) for line in lines if line and not line.startswith("# "))


def _in_response(axis: str) -> Feature:
    return lambda form: float(matches(axis, form.response))


def _agrees(form: Form) -> float:
    """How many of the words of the user's opinion the response has; 0 where the user states none."""
    stated = [line for line in _SENTENCE.split(form.question) if matches("sycophancy", line)]
    return overlap(form.response, " ".join(stated))


def _length(form: Form) -> float:
    return min(1.0, math.log1p(len(form.response.split())) / math.log1p(FULL_WORDS))


def _failing(form: Form) -> float:
    """Only what is written; the length that strains a judge is its own, see ``strained_words``."""
    return float(matches("failure", form.response))


def _scale(form: Form) -> float:
    return float(form.scale != _PLAIN_SCALE or form.listing != "up")


def _criteria_first(form: Form) -> float:
    """1/2, and more the better the response fits the first half of the criteria than it fits the second."""
    half = len(form.criteria) // 2
    first, second = " ".join(form.criteria[:half]), " ".join(form.criteria[half:])
    return 0.5 + (overlap(form.response, first) - overlap(form.response, second)) / 2.0


AXES: Final[Mapping[str, Feature]] = {
    "verbosity": _length,
    "style": _in_response("style"),
    "polish": _in_response("polish"),
    "authority": _in_response("authority"),
    "bandwagon": _in_response("bandwagon"),
    "sentiment": _in_response("sentiment"),
    "sycophancy": _agrees,
    "distraction": _in_response("distraction"),
    "fallacy": _in_response("fallacy"),
    "refinement": _in_response("refinement"),
    "injection": _in_response("injection"),
    "self_preference": _in_response("self_preference"),
    "family_preference": _in_response("self_preference"),
    "reference": lambda form: float(form.reference is None),
    "scale": _scale,
    "rubric_order": _criteria_first,
    "failure": _failing,
    "position": lambda form: 0.0,
    "retry": lambda form: 0.0,
    "master_keys": lambda form: float(contentless(form.response)),
}
"""Axis -> feature. Position and retry lie in no text: the one is the place, the other the number of the asking."""
OUTSIDE_SCORE: Final = frozenset({"failure", "position", "retry", "master_keys"})
"""Axes that do not add to a response's score, but act in a way of their own."""
