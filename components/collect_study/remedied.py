"""One row of what a remedy takes off, from pairs of the same with and without it."""

from collections.abc import Iterator, Sequence
from typing import Final

from components.bias import clusters
from components.bias.estimate import Estimate
from components.bias.findings.remedies import Pair, compared
from components.bias.result_findings import Mitigation

TEXT: Final = "fewer than two texts"


def of_pairs(
    name: str,
    axis: str,
    judge: str,
    what: str,
    pairs: Sequence[Pair],
    scale: tuple[float, float],
    confidence: float,
    *,
    drift: bool = False,
) -> Iterator[Mitigation]:
    """The comparison; nothing where no item is known both ways.

    Args:
        name: of the remedy.
        axis: probe, or feature of drift.
        judge: whose.
        what: the two sides, in words.
        pairs: without and with the remedy, and text or seed.
        scale: least and largest value.
        confidence: coverage of the intervals.
        drift: whether it is a policy's drift, and the pairs are runs.
    """
    if not pairs:
        return
    found = compared(pairs, scale, confidence=confidence)
    why = "one seed: chance between runs cannot be told from the remedy" if drift else TEXT
    yield Mitigation(
        name=name,
        axis=axis,
        judge=judge,
        what=what,
        drift=drift,
        plain=of_mean(found.plain, why),
        mitigated=of_mean(found.remedied, why),
        reduction=of_mean(found.smaller, why),
    )


def of_mean(found: clusters.Estimate, why: str = TEXT) -> Estimate:
    """As a result holds it; ``why`` is told where there is no interval."""
    return Estimate.of(found.value, found.low, found.high, n=found.items, clusters=found.texts, why=why)
