"""Which rows train, which validate and which test: by hashes of what they are, never by their place in a file."""

import numpy as np
import numpy.typing as npt

from components.data.mixture.mixing import largest_remainder
from components.data.mixture.words import number_of

Numbers = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]


def ranks(ids: Numbers, *, seed: int, purpose: str) -> Numbers:
    """A number a row that looks random and is the same wherever the row stands.

    Args:
        ids: of the rows.
        seed: of the experiment.
        purpose: keeps what is drawn for one thing from deciding another.
    """
    values = ids ^ np.uint64(number_of("rank", str(seed), purpose))
    # The finaliser of SplitMix64: neighbours in come out far apart.
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def least(rows: npt.NDArray[np.int64], order: Numbers, count: int) -> npt.NDArray[np.int64]:
    """``count`` of the rows, those with the least ranks; in the order of their numbers."""
    return np.sort(rows[np.argsort(order[rows], kind="stable")[:count]])


def validation(groups: Numbers, share: float, *, seed: int) -> Flags:
    """Rows whose group is held out; a group is by a hash of itself, so that other rows change nothing.

    Args:
        groups: of each row.
        share: of the groups, in [0, 1].
        seed: of the experiment.
    """
    return ranks(groups, seed=seed, purpose="validation") < np.uint64(min(int(share * 2**64), 2**64 - 1))


def resplit(dataset: npt.NDArray[np.uint8], ids: Numbers, *, seed: int) -> Flags:
    """Rows that test when each data set is split anew, five rows for training to one for testing.

    Rounded as the original's tables are: 7,473 rows give 6,227 and 1,246; 164 give 137 and 27.
    """
    order = ranks(ids, seed=seed, purpose="resplit")
    test = np.zeros(len(ids), bool)
    for name in np.unique(dataset):
        rows = np.flatnonzero(dataset == name)
        count = largest_remainder(len(rows), {"train": 5, "test": 1})["test"]
        test[least(rows, order, count)] = True
    return test
