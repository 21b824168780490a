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
    pairs: Sequence[Pair | None],
    scale: tuple[float, float],
    confidence: float,
    *,
    drift: bool = False,
) -> Iterator[Mitigation]:
    """The comparison; nothing where there is nothing to compare.

    Args:
        name: of the remedy.
        axis: probe, or feature of drift.
        judge: whose.
        what: the two sides, in words.
        pairs: without and with the remedy, and text or seed; None where one of the two is unknown.
        scale: least and largest value.
        confidence: coverage of the intervals.
        drift: whether it is a policy's drift, and the pairs are runs.
    """
    if not pairs:
        return
    known = [pair for pair in pairs if pair is not None]
    unknown = len(pairs) - len(known)
    if not known:
        gone = Estimate.missing("nothing is known both with the remedy and without it", unknown=unknown)
        yield Mitigation(
            name=name, axis=axis, judge=judge, what=what, drift=drift, plain=gone, mitigated=gone, reduction=gone
        )
        return
    found = compared(known, scale, confidence=confidence)
    why = "one seed: chance between runs cannot be told from the remedy" if drift else TEXT
    yield Mitigation(
        name=name,
        axis=axis,
        judge=judge,
        what=what,
        drift=drift,
        plain=of_mean(found.plain, why, unknown),
        mitigated=of_mean(found.remedied, why, unknown),
        reduction=of_mean(found.smaller, why, unknown),
    )


def of_mean(found: clusters.Estimate, why: str = TEXT, unknown: int = 0) -> Estimate:
    """As a result holds it; ``why`` is told where there is no interval."""
    return Estimate.of(
        found.value, found.low, found.high, n=found.items, clusters=found.texts, unknown=unknown, why=why
    )
