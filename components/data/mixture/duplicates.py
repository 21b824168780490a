"""Rows that say what another row says: the same text, a run of words in common, or the same program."""

import dataclasses
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from components.data.mixture.buckets import Buckets
from components.data.mixture.stage import Index

Flags = npt.NDArray[np.bool_]
MOST_LINKED = 20
"""A run of words that more rows share is a turn of phrase, and makes no group of them."""
NEAR = 0.5
"""Share of a row's runs that must occur in rows before it for it to be a near-duplicate."""


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """What one comparison found.

    Attributes:
        within_train: training rows that repeat one that comes before them; these are left out.
        within_test: test rows that repeat another; these are kept, since an official test is what it is.
        across: training rows that a test part has too; these are left out.
        links: pairs of training rows that are not left out but must share a split, shape (n, 2).
    """

    within_train: Flags
    within_test: Flags
    across: Flags
    links: npt.NDArray[np.int64]


def by_number(numbers: npt.NDArray[np.uint64], index: Index, alive: Flags, order: npt.NDArray[np.int64]) -> Found:
    """Rows with equal numbers.

    Args:
        numbers: one a row; 0 is compared with nothing.
        index: of the rows.
        alive: those that take part.
        order: rank of each row; of equal rows the one with the least stays.
    """
    rows = np.flatnonzero(alive & (numbers != 0))
    rows = rows[np.argsort(order[rows], kind="stable")]
    flags = []
    for part in (rows[~index.test[rows]], rows[index.test[rows]]):
        repeated = np.zeros(len(index), bool)
        repeated[part] = True
        repeated[part[np.unique(numbers[part], return_index=True)[1]]] = False
        flags.append(repeated)
    train = rows[~index.test[rows]]
    across = np.zeros(len(index), bool)
    across[train] = np.isin(numbers[train], numbers[rows[index.test[rows]]])
    return Found(flags[0] & ~across, flags[1], across, np.empty((0, 2), np.int64))


def by_runs(buckets: Buckets, index: Index, alive: Flags, order: npt.NDArray[np.int64], groups_only: Flags) -> Found:
    """Rows with runs of words in common.

    A training row with any run of a test row counts as its duplicate. Within a part a row is a near-duplicate if
    :data:`NEAR` of its runs occur in rows before it; with fewer it only shares their split.

    Args:
        buckets: the runs of all rows.
        index: of the rows.
        alive: those that take part.
        order: rank of each row; of near-duplicates the one with the least stays.
        groups_only: rows that are never left out for being near another in training.
    """
    across, within_test = np.zeros(len(index), bool), np.zeros(len(index), bool)
    tested = alive & index.test
    whole = buckets.settle(len(index))
    for rows, starts in _shared(buckets, alive) if tested.any() else ():
        has_test = np.logical_or.reduceat(index.test[rows], starts)
        meets = np.repeat(has_test, _lengths(starts, len(rows)))
        across[rows[meets & ~index.test[rows]]] = True
    train = alive & ~index.test & ~across
    within_train = _near(buckets, train, order, whole) & ~groups_only
    if tested.any():
        within_test = _near(buckets, tested, order, whole)
    return Found(within_train, within_test, across, _links(buckets, train & ~within_train))


def _near(buckets: Buckets, alive: Flags, order: npt.NDArray[np.int64], whole: npt.NDArray[np.int64]) -> Flags:
    """Rows of whose runs, ``whole`` in number, enough occur in rows of lower rank."""
    met = np.zeros(len(alive), np.int64)
    for rows, starts in _shared(buckets, alive):
        first = np.minimum.reduceat(order[rows], starts)
        later = order[rows] != np.repeat(first, _lengths(starts, len(rows)))
        np.add.at(met, rows[later], 1)
    return (met > 0) & (met >= NEAR * whole)


def _links(buckets: Buckets, alive: Flags) -> npt.NDArray[np.int64]:
    found = [np.empty((0, 2), np.int64)]
    for rows, starts in _shared(buckets, alive):
        lengths = _lengths(starts, len(rows))
        firsts = np.repeat(rows[starts], lengths)
        few = np.repeat(lengths <= MOST_LINKED, lengths) & (firsts != rows)
        found.append(np.unique(np.stack([firsts[few], rows[few]], axis=1).astype(np.int64), axis=0))
    return np.unique(np.concatenate(found), axis=0)


def _shared(buckets: Buckets, alive: Flags) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]]:
    """Rows by runs that at least two rows have, one bucket at a time, and where each run begins among them.

    Args:
        buckets: the runs, settled.
        alive: rows that take part.
    """
    for every, owners in buckets.sorted():
        here = alive[owners]
        numbers, rows = every[here], owners[here]
        if len(rows):
            lengths = _lengths(_begins(numbers), len(rows))
            several = np.repeat(lengths > 1, lengths)
            if several.any():
                yield rows[several], _begins(numbers[several])


def _begins(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Where each number of a sorted array is first met."""
    return np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1]]))


def _lengths(starts: npt.NDArray[np.int64], total: int) -> npt.NDArray[np.int64]:
    return np.diff(np.append(starts, total))
