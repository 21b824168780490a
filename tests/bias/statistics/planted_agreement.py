"""Judges, gold, repetitions and wins whose true statistics are known in closed form, with items of one text alike.

A response passes where a normal draw lies below a threshold that its text shifts by a normal draw of its own, so that a
share is ``Phi(threshold / sqrt(1 + spread^2))`` over texts, and responses of one text are correlated.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

Draw = np.random.Generator
Names = list[str]
_PHI = np.vectorize(NormalDist().cdf, otypes=[float])


def share(threshold: float, *spreads: float) -> float:
    """Over texts, of what passes at a threshold that normal draws of these spreads shift."""
    return float(_PHI(threshold / np.sqrt(1.0 + sum(spread**2 for spread in spreads))))


def kappa_of(both: float, one: float, other: float, neither: float) -> float:
    """Cohen's, of the four shares of a table."""
    chance = (both + one) * (both + other) + (one + neither) * (other + neither)
    return (both + neither - chance) / (1.0 - chance)


@dataclass(frozen=True)
class Judged:
    """A judge of single responses.

    Attributes:
        texts: texts or prompts.
        each: right and wrong responses of each text in pairs; of held-out prompts, samples of each.
        right: threshold of being right; None for pairs of a right and a wrong response.
        marks: thresholds between the marks, in rising order; none for a judge that marks without steps.
        apart: how much further up a right response's mark is drawn than a wrong one's.
        middle: where the middle between both is drawn.
        spread: of what texts add to the marks.
        right_spread: of what texts add to the threshold of being right.
    """

    texts: int
    each: int
    right: float | None
    marks: tuple[float, ...]
    apart: float
    middle: float = 0.0
    spread: float = 0.7
    right_spread: float = 0.8

    def drawn(self, draw: Draw) -> tuple[np.ndarray, np.ndarray, Names]:
        """Value in [0, 1], whether it is right, and the text, of each response."""
        shape = (self.texts, self.each)
        if self.right is None:
            right = np.broadcast_to(np.array([True, False]), (*shape, 2)).reshape(self.texts, -1)
        else:
            lines = self.right + draw.normal(0.0, self.right_spread, (self.texts, 1))
            right = draw.normal(size=shape) < lines
        own = draw.normal(0.0, self.spread, (self.texts, 1)) + draw.normal(size=right.shape)
        seen = self.middle + np.where(right, self.apart, -self.apart) / 2.0 + own
        value = np.searchsorted(self.marks, seen) / len(self.marks) if self.marks else _PHI(seen)
        names = np.repeat([f"t{text}" for text in range(self.texts)], right.shape[1])
        return np.asarray(value, dtype=float).ravel(), right.ravel(), names.tolist()

    def passing(self, *, right: bool, threshold: float) -> float:
        """Share of the right, or of the wrong responses, whose mark is drawn above a threshold."""
        return share(self.middle + (self.apart if right else -self.apart) / 2.0 - threshold, self.spread)

    def rates(self) -> tuple[float, float, float]:
        """Share that is right, and of the right and the wrong ones the shares that are accepted.

        More than one half is what lies above the middle threshold, of which there is an odd number, or above 0.
        """
        half = self.marks[len(self.marks) // 2] if self.marks else 0.0
        right = 0.5 if self.right is None else share(self.right, self.right_spread)
        return right, self.passing(right=True, threshold=half), self.passing(right=False, threshold=half)

    def kappa(self) -> float:
        right, true, false = self.rates()
        return kappa_of(right * true, (1 - right) * false, right * (1 - true), (1 - right) * (1 - false))

    def accuracy(self) -> float:
        right, true, false = self.rates()
        return right * true + (1 - right) * (1 - false)

    def area(self) -> float:
        """Chance that a right response of one text gets more than a wrong one of another, a tie being half."""
        if not self.marks:
            return float(_PHI(self.apart / np.sqrt(2.0 * (1.0 + self.spread**2))))
        above = [
            np.array([1.0, *(self.passing(right=right, threshold=mark) for mark in self.marks), 0.0])
            for right in (True, False)
        ]
        good, bad = (-np.diff(line) for line in above)
        return float((good * (np.cumsum(bad) - bad / 2.0)).sum())


@dataclass(frozen=True)
class Pairs:
    """A judge of pairs of a better and a worse response, in both orders.

    Attributes:
        threshold: of choosing the better one.
        place: how much better the first place does.
        tied: share of ties.
    """

    texts: int
    each: int
    threshold: float
    place: float
    tied: float = 0.1
    spread: float = 0.6
    item_spread: float = 0.4

    def drawn(self, draw: Draw) -> np.ndarray:
        """Shape (texts, items, orders): 1 where the better one is chosen, 0 where not, one half for a tie; first in the
        order in which the better one stands first."""
        shape = (self.texts, self.each, 1)
        line = draw.normal(0.0, self.spread, (self.texts, 1, 1)) + draw.normal(0.0, self.item_spread, shape)
        both = (self.texts, self.each, 2)
        chosen = draw.normal(size=both) < self.threshold + line + np.array([self.place, -self.place])
        return np.where(draw.random(both) < self.tied, 0.5, chosen)

    def kappa(self) -> float:
        """The better one stands first in every second choice, so that chance is one half whatever the judge says."""
        right = [share(self.threshold + side, self.spread, self.item_spread) for side in (self.place, -self.place)]
        return sum(right) - 1.0


@dataclass(frozen=True)
class Repeats:
    """Askings whose marks are ``Binomial(levels, p) / levels``; a question's p is drawn from a beta distribution, by
    ``likeness`` as its text's, else anew."""

    texts: int
    each: int
    repeats: int
    shape: tuple[float, float]
    levels: int
    likeness: float = 0.6

    def drawn(self, draw: Draw) -> np.ndarray:
        """Shape (texts, questions, repeats), marks in [0, 1]."""
        size = (self.texts, self.each)
        own, texts = draw.beta(*self.shape, size), draw.beta(*self.shape, (self.texts, 1))
        chance = np.where(draw.random(size) < self.likeness, texts, own)
        return draw.binomial(self.levels, chance[:, :, None], (*size, self.repeats)) / self.levels

    def alpha(self) -> float:
        """With squared differences it is the share of the variance that lies between questions."""
        a, b = self.shape
        mean = a / (a + b)
        between = mean * (1 - mean) / (a + b + 1)
        return between / (between + (mean * (1 - mean) - between) / self.levels)

    def flips(self) -> float:
        """Chance that two askings differ; of yes/no alone."""
        a, b = self.shape
        return 2.0 * a * b / ((a + b) * (a + b + 1))


@dataclass(frozen=True)
class Wins:
    """Wins of two policies under two judges, of all on the same prompts; both judges see the same responses.

    Attributes:
        lines: by how much (i of i, j of i, j of j, i of j) prefer the trained policy's response.
        tied: distance from 0 within which nothing is preferred.
    """

    prompts: int
    runs: int
    lines: tuple[float, float, float, float]
    tied: float = 0.2
    spread: float = 0.6

    def drawn(self, draw: Draw) -> np.ndarray:
        """Shape (prompts, runs, 4): 1, 0, or one half."""
        prompt = draw.normal(0.0, self.spread, (self.prompts, 1, 1))
        response = draw.normal(0.0, self.spread, (self.prompts, self.runs, 2))[:, :, [0, 0, 1, 1]]
        seen = np.array(self.lines) + prompt + response + draw.normal(size=(self.prompts, self.runs, 4))
        return np.where(seen > self.tied, 1.0, np.where(seen < -self.tied, 0.0, 0.5))

    def leakage(self) -> float:
        both = (self.spread, self.spread)
        rates = [(share(line - self.tied, *both) + share(line + self.tied, *both)) / 2 for line in self.lines]
        return (rates[0] / (rates[0] + rates[1]) + rates[2] / (rates[2] + rates[3])) - 1.0
