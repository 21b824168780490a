"""Rows that belong together: by their source (an article, a pair of titles), or because they are nearly the same."""

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.uint64]


def joined(groups: Numbers, links: npt.NDArray[np.int64]) -> Numbers:
    """The group of each row after some rows' groups were joined.

    Args:
        groups: number of each row's own group.
        links: pairs of rows, shape (n, 2), whose groups become one.

    Returns:
        For each row the least number of the groups that are now one: the same in whatever order rows and links come.
    """
    known, place = np.unique(groups, return_inverse=True)
    parent = list(range(len(known)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    pairs = np.sort(place[links], axis=1) if len(links) else np.empty((0, 2), np.int64)
    for one, other in np.unique(pairs, axis=0).tolist():
        a, b = root(one), root(other)
        # ``known`` is sorted, so the lesser place has the lesser number.
        parent[max(a, b)] = min(a, b)
    roots = np.fromiter((root(at) for at in range(len(known))), np.int64, len(known))
    return known[roots][place]
