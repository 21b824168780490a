"""Deciles of lengths: the one rule by which failures are told apart by how long the response was."""

import bisect
from collections.abc import Sequence
from typing import Final

DECILES: Final = 10


def decile(ordered: Sequence[int], length: int) -> int:
    """The decile, from 1 to 10, of ``length`` among lengths in ascending order, of which there is at least one; equal
    lengths share the lowest that is theirs, and one beyond the longest is in its decile."""
    place = min(bisect.bisect_left(ordered, length), len(ordered) - 1)
    return 1 + DECILES * place // len(ordered)


def deciles(lengths: Sequence[int]) -> list[int]:
    """The decile of each length among all of them."""
    ordered = sorted(lengths)
    return [decile(ordered, length) for length in lengths]


def shortest(ordered: Sequence[int], number: int) -> int:
    """The least length of decile ``number`` among lengths in ascending order."""
    return ordered[-(-(number - 1) * len(ordered) // DECILES)]
