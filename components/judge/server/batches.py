"""Cuts sorted work into batches of bounded size."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def batches(
    items: Sequence[Item], length: Callable[[Item], int], *, rows: int, tokens: int
) -> Iterator[Sequence[Item]]:
    """Runs of ``items`` of at most ``rows``, and of at most ``tokens`` once padded to the longest; never an empty one.

    Args:
        items: in ascending order of length, so that little is padded.
        length: tokens of an item.
        rows: items of one batch at most.
        tokens: padded tokens of one batch at most; a longer item comes alone.
    """
    start = 0
    for stop in range(1, len(items) + 1):
        if stop == len(items) or stop - start == rows or length(items[stop]) * (stop - start + 1) > tokens:
            yield items[start:stop]
            start = stop
