"""Equal opportunity: whether what is right has the same chance with a factor as without it.

A bias as a difference of true-positive rates (Hardt et al. 2016, arXiv 1610.02413), which quality cannot explain, since
all that is compared is right. For a judge's own writing it is the measure of arXiv 2410.21819.
"""

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

    The interval is made of those of the two shares (Newcombe 1998, method 10; Zou and Donner 2008), each clustered by
    text. Where both have texts in common, it is too wide rather than too narrow.

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
    low = value - ((one.value - one.low) ** 2 + (other.high - other.value) ** 2) ** 0.5
    high = value + ((one.high - one.value) ** 2 + (other.value - other.low) ** 2) ** 0.5
    return Estimate.of(value, low, high, n=n, clusters=texts, unknown=unknown)
