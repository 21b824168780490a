"""HotpotQA's metrics: of the answer, of the supporting facts, and of both together (Yang et al. 2018)."""

import dataclasses
from collections import Counter
from collections.abc import Iterable
from typing import Final

from components.tasks.gold import Fact
from components.tasks.squad import normalise

_WHOLE: Final = frozenset({"yes", "no", "noanswer"})
"""Answers of which no part counts."""


@dataclasses.dataclass(frozen=True, slots=True)
class Match:
    """Attributes:
    exact: whether the two are the same.
    precision: share of what was said that is right, in [0, 1].
    recall: share of what is right that was said, in [0, 1].
    """

    exact: bool
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 where both are 0."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total > 0 else 0.0


def answer_match(answer: str, gold: str) -> Match:
    """The answer against the gold one, after SQuAD's normalisation.

    Yes, no and noanswer give no partial credit, on either side. Unlike in SQuAD 2.0, two empty answers share nothing:
    exact, but with an F1 of 0.
    """
    said, wanted = normalise(answer), normalise(gold)
    same = said == wanted
    if not same and (said in _WHOLE or wanted in _WHOLE):
        return Match(False, 0.0, 0.0)
    tokens, targets = said.split(), wanted.split()
    shared = (Counter(tokens) & Counter(targets)).total()
    if shared == 0:
        return Match(same, 0.0, 0.0)
    return Match(same, shared / len(tokens), shared / len(targets))


def facts_match(facts: Iterable[Fact], gold: Iterable[Fact]) -> Match:
    """The supporting facts as sets of (title, number of the sentence); titles are compared as they are."""
    said, wanted = frozenset(facts), frozenset(gold)
    shared = len(said & wanted)
    return Match(said == wanted, shared / len(said) if said else 0.0, shared / len(wanted) if wanted else 0.0)


def joint(answer: Match, facts: Match) -> Match:
    """Both together: the products of precision and of recall, exact where both are."""
    return Match(answer.exact and facts.exact, answer.precision * facts.precision, answer.recall * facts.recall)
