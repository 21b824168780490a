"""What of all that was kept counts: the best of each domain, each workflow once, and no problem of a test."""

from collections.abc import Iterable, Sequence

import numpy as np

from components.workflow.buffer.database import Rank
from components.workflow.buffer.entry import Entry, Forbidden, Vector

_DIGITS = 9
"""Of a cosine that count: what is closer is a tie, which the order of entries decides on every machine alike."""


def best(ranked: Iterable[Rank], capacity: int, forbidden: Forbidden) -> list[Rank]:
    """The entries that count.

    Args:
        ranked: of one domain, the best first.
        capacity: how many at most.
        forbidden: what is passed over.
    """
    found: dict[str, Rank] = {}
    for rank in ranked:
        if len(found) == capacity:
            break
        if rank.workflow_hash not in found and not forbidden.holds(rank.problem_id, rank.problem_hash):
            found[rank.workflow_hash] = rank
    return list(found.values())


def nearest(entries: Sequence[Entry], vectors: Sequence[Vector], query: Vector, k: int) -> list[tuple[Entry, float]]:
    """The entries with the largest cosines, and these; of one problem only its best entry.

    Args:
        entries: the best first.
        vectors: of length 1, one an entry.
        query: of length 1.
        k: how many at most.
    """
    if not entries:
        return []
    # A sum of float32 differs between processors in digits that decide ties.
    cosines = np.stack(vectors).astype(np.float64) @ query.astype(np.float64)
    rounded = [round(float(value), _DIGITS) for value in cosines]
    found: list[tuple[Entry, float]] = []
    seen: set[str] = set()
    for place in sorted(range(len(entries)), key=lambda place: (-rounded[place], place)):
        if len(found) == k:
            break
        if entries[place].problem_hash not in seen:
            seen.add(entries[place].problem_hash)
            found.append((entries[place], rounded[place]))
    return found
