"""Equal opportunity: whether what is right has the same chance with a factor as without it.

A bias as a difference of true-positive rates (Hardt et al. 2016, arXiv 1610.02413), which quality cannot explain, since
all that is compared is right. For a judge's own writing it is the measure of arXiv 2410.21819.
"""

import math
from collections import defaultdict
from collections.abc import Sequence

from components.bias.clusters import CONFIDENCE, estimate
from components.bias.decisions import share
from components.bias.estimate import Estimate

Rated = tuple[float, str]
"""1 where a right response was accepted, 0 where not, one half for a tie; and its text or prompt."""


def paired(rows: Sequence[tuple[float, float, str]], unknown: int = 0, *, confidence: float = CONFIDENCE) -> Estimate:
    """With the factor less without it, over the same texts.

    Args:
        rows: accepted with the factor, accepted without it, and the text.
        unknown: items left out because one of the two is unknown.
        confidence: coverage of the interval, in (0, 1).
    """
    found = estimate(
        [one - other for one, other, _ in rows],
        [text for _, _, text in rows],
        scale=(-1.0, 1.0),
        confidence=confidence,
    )
    why = "no item is known both ways" if found.value is None else "fewer than two texts"
    return Estimate.of(
        found.value, found.low, found.high, n=found.items, clusters=found.texts, unknown=unknown, why=why
    )


def apart(
    having: Sequence[Rated], lacking: Sequence[Rated], unknown: int = 0, *, confidence: float = CONFIDENCE
) -> Estimate:
    """Of responses that have the factor, less of others that lack it.

    The interval is made of those of the two shares, each clustered by text, and of the correlation of their errors over
    the texts that both have in common (Newcombe 1998, method 10; Zou 2007, doi 10.1037/1082-989X.12.4.399).

    Args:
        having: right responses with the factor.
        lacking: right responses without it.
        unknown: right responses left out because it is unknown whether they are accepted.
        confidence: coverage of the interval, in (0, 1).
    """
    n, texts = len(having) + len(lacking), len({text for _, text in (*having, *lacking)})
    one, other = (share(rows, 0, confidence, "none") for rows in (having, lacking))
    if one.value is None or other.value is None:
        lack = "with" if one.value is None else "without"
        why = f"no right response {lack} the factor is known"
        return Estimate.of(None, n=n, clusters=texts, unknown=unknown, why=why)
    value = one.value - other.value
    if one.low is None or one.high is None or other.low is None or other.high is None:
        why = "one of the two groups has one text or prompt alone"
        return Estimate.of(value, n=n, clusters=texts, unknown=unknown, why=why)
    alike = _correlation(having, lacking)
    low = value - _joined(one.value - one.low, other.high - other.value, alike)
    high = value + _joined(one.high - one.value, other.value - other.low, alike)
    return Estimate.of(value, low, high, n=n, clusters=texts, unknown=unknown)


def _joined(one: float, other: float, alike: float) -> float:
    """Length of two errors together; the root of a rounding error below 0 is 0."""
    return math.sqrt(max(0.0, one**2 + other**2 - 2.0 * alike * one * other))


def _correlation(one: Sequence[Rated], other: Sequence[Rated]) -> float:
    """Of the errors of two shares, from the deviations of each text's sum from what the share lets expect; 0 where the
    two have no text in common, or one of them does not vary."""
    parts: list[dict[str, float]] = []
    for rows in (one, other):
        mean, sums = sum(value for value, _ in rows) / len(rows), defaultdict[str, float](float)
        for value, text in rows:
            sums[text] += value - mean
        parts.append(sums)
    spread = math.prod(sum(part**2 for part in sums.values()) for sums in parts)
    if spread <= 0.0:
        return 0.0
    return sum(part * parts[1].get(text, 0.0) for text, part in parts[0].items()) / math.sqrt(spread)
