"""The rows on disk between reading and writing, and what is kept of each in memory: some 60 bytes."""

import array
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from components.data.mixture.buckets import Buckets
from components.data.mixture.words import ngrams

STAGED: Final = pa.schema(
    [(name, pa.string()) for name in ("dataset", "id", "official_id", "problem", "answer", "gold", "rubric")]
)
"""``problem`` is the user's turn; ``answer`` is JSON."""
BATCH_ROWS: Final = 2048
BATCH_CHARS: Final = 8 << 20
"""A batch ends with whichever comes first."""


@dataclasses.dataclass(slots=True)
class Index:
    """What decides where a row goes; one entry a row, in the order read.

    Attributes:
        dataset: number of the row's data set, in the order of :data:`components.tasks.sets.DATASETS`.
        test: whether it is of a test part.
        official_test: whether it is so by its authors.
        id: 64 bits of its id.
        text: 64 bits of its normalised text with its context.
        tree: 64 bits of its solution's syntax tree; 0 for none.
        group: 64 bits of what it shares its split with; its id where that is nothing.
    """

    dataset: npt.NDArray[np.uint8]
    test: npt.NDArray[np.bool_]
    official_test: npt.NDArray[np.bool_]
    id: npt.NDArray[np.uint64]
    text: npt.NDArray[np.uint64]
    tree: npt.NDArray[np.uint64]
    group: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.id)


class Staged(NamedTuple):
    """One row, ready to be written."""

    columns: tuple[str, str, str, str, str, str, str]
    """In the order of :data:`STAGED`."""
    dataset: int
    test: bool
    id: int
    words: str
    """What runs of words are looked for in."""
    text: int
    tree: int
    group: int


class Stage:
    """Collects rows.

    Args:
        folder: for the rows and the runs of words; empty.
        ngram: words in a run; 0 for none.
    """

    def __init__(self, folder: Path, ngram: int) -> None:
        self._path = folder / "rows.arrow"
        self._ngram = ngram
        self.buckets = Buckets(folder / "runs")
        self._sink = pa.OSFile(str(self._path), "wb")
        self._writer = pa.ipc.new_file(self._sink, STAGED)
        self._columns: list[list[str]] = [[] for _ in STAGED.names]
        self._words: list[str] = []
        self._chars = 0
        self._first = 0
        self._small = (array.array("B"), array.array("B"))
        self._large = tuple(array.array("Q") for _ in range(4))

    def add(self, row: Staged) -> None:
        """Take a row."""
        for column, value in zip(self._columns, row.columns, strict=True):
            column.append(value)
        self._words.append(row.words)
        self._small[0].append(row.dataset)
        self._small[1].append(row.test)
        for numbers, number in zip(self._large, (row.id, row.text, row.tree, row.group), strict=True):
            numbers.append(number)
        self._chars += len(row.columns[3]) + len(row.columns[6])
        if len(self._words) >= BATCH_ROWS or self._chars >= BATCH_CHARS:
            self._flush()

    def close(self) -> Index:
        """End the collection and give what is known of its rows."""
        self._flush()
        self._writer.close()
        self._sink.close()
        self.buckets.close()
        dataset, test = (np.array(numbers, np.uint8) for numbers in self._small)
        flags = test.astype(bool)
        return Index(dataset, flags, flags.copy(), *(np.array(numbers, np.uint64) for numbers in self._large))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows in the order added, a batch at a time."""
        with pa.OSFile(str(self._path), "rb") as source, pa.ipc.open_file(source) as reader:
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number)

    def mapped(self) -> "Mapped":
        """The rows by their numbers."""
        return Mapped(self._path)

    def _flush(self) -> None:
        if not self._words:
            return
        self._writer.write_batch(pa.record_batch([pa.array(column, pa.string()) for column in self._columns], STAGED))
        if self._ngram:
            runs, owners = ngrams(self._words, self._ngram)
            self.buckets.add(runs, owners + self._first)
        self._first += len(self._words)
        self._columns = [[] for _ in STAGED.names]
        self._words, self._chars = [], 0


class Mapped:
    """Staged rows by number, from the file as it lies.

    Args:
        path: of the staged rows.
    """

    def __init__(self, path: Path) -> None:
        with pa.memory_map(str(path)) as source:
            reader = pa.ipc.open_file(source)
            self._batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
        self._starts = np.cumsum([0, *(batch.num_rows for batch in self._batches)])

    def take(self, rows: npt.NDArray[np.int64]) -> pa.RecordBatch:
        """These rows, in this order."""
        where = np.searchsorted(self._starts, rows, side="right") - 1
        order = np.argsort(where, kind="stable")
        pieces = []
        for number in np.unique(where):
            inside = rows[order][where[order] == number] - self._starts[number]
            pieces.append(self._batches[number].take(pa.array(inside)))
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        table = pa.Table.from_batches(pieces, STAGED).take(pa.array(back)).combine_chunks()
        return pa.record_batch([column.chunk(0) for column in table.columns], STAGED)
