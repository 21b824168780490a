"""Pairs of a number and a row on disk, sorted into files by the number, so that equal numbers meet in one file and no
more than one file is ever in memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

import numpy as np
import numpy.typing as npt

FILES: Final = 64
_PAIR: Final = np.dtype([("number", np.uint64), ("row", np.uint32)])
Pairs = tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]


class Buckets:
    """Collects pairs.

    Args:
        folder: made; for the files.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._paths = [folder / f"{number:02d}.bin" for number in range(FILES)]
        self._files: list[IO[bytes]] = [path.open("wb") for path in self._paths]

    def add(self, numbers: npt.NDArray[np.uint64], rows: npt.NDArray[np.int64]) -> None:
        """Take pairs of rows in ascending order; their numbers' upper bits must be spread evenly."""
        places = (numbers >> np.uint64(58)).astype(np.uint8)
        order = np.argsort(places, kind="stable")
        pairs = np.empty(len(numbers), _PAIR)
        pairs["number"], pairs["row"] = numbers[order], rows[order]
        ends = np.cumsum(np.bincount(places, minlength=FILES))
        for file, first, last in zip(self._files, [0, *ends[:-1]], ends, strict=True):
            file.write(pairs[first:last].tobytes())

    def close(self) -> None:
        """No more pairs come."""
        for file in self._files:
            file.close()

    def settle(self, rows: int) -> npt.NDArray[np.int64]:
        """Keep the pairs whose number several rows have; most runs of words are one row's alone.

        Args:
            rows: number of all rows.

        Returns:
            The different numbers that each row had.
        """
        whole = np.zeros(rows, np.int64)
        for path in self._paths:
            pairs = np.fromfile(path, _PAIR)
            # Rows came in ascending order, which a stable sort keeps among equal numbers.
            pairs = pairs[np.argsort(pairs["number"], kind="stable")]
            if len(pairs):
                numbers, owners = pairs["number"], pairs["row"]
                pairs = pairs[np.concatenate([[True], (numbers[1:] != numbers[:-1]) | (owners[1:] != owners[:-1])])]
            whole += np.bincount(pairs["row"], minlength=rows)
            numbers = pairs["number"]
            same = numbers[1:] == numbers[:-1]
            shared = np.zeros(len(pairs), bool)
            shared[1:] |= same
            shared[:-1] |= same
            pairs[shared].tofile(path)
        return whole

    def sorted(self) -> Iterator[Pairs]:
        """Numbers and rows of one settled file after the other, sorted by number and row, each pair once."""
        for path in self._paths:
            pairs = np.fromfile(path, _PAIR)
            yield pairs["number"].copy(), pairs["row"].copy()
