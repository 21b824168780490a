"""Exact match and token F1 as SQuAD 2.0 defines them (Rajpurkar et al. 2018; normalisation of the official script)."""

import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import Final

_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")


def normalise(text: str) -> str:
    """Lower case, without ASCII punctuation, without the articles a, an and the, with single spaces.

    In this order: ``A.`` is an article, and ``it's`` becomes one word.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact(answer: str, gold: str) -> bool:
    """Whether the two are the same after normalisation."""
    return normalise(answer) == normalise(gold)


def f1(answer: str, gold: str) -> float:
    """F1 over the multisets of tokens, in [0, 1]; where either has none, 1 if neither has any and else 0."""
    said, wanted = normalise(answer).split(), normalise(gold).split()
    if not said or not wanted:
        return float(said == wanted)
    shared = (Counter(said) & Counter(wanted)).total()
    if shared == 0:
        return 0.0
    precision, recall = shared / len(said), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def golds_of(answers: Sequence[str]) -> tuple[str, ...]:
    """The gold answers that count: those of which normalisation leaves something, or the empty one where none is left.

    The empty answer is the gold of a question that cannot be answered.
    """
    return tuple(answer for answer in answers if normalise(answer)) or ("",)


def score(answer: str, answers: Sequence[str]) -> tuple[bool, float]:
    """Exact match and F1, each the best over the gold answers; no gold answers: the question cannot be answered."""
    golds = golds_of(answers)
    return any(exact(answer, gold) for gold in golds), max(f1(answer, gold) for gold in golds)
