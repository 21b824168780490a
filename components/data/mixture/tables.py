"""Staged rows as tables of the PROMPTS contract and as JSON lines, both written piece by piece."""

from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final, Self

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from components.core.contracts import PROMPTS
from components.data.mixture.wording import Turn
from components.tasks.sets import DATASETS

GROUP_ROWS: Final = 4096
GROUP_BYTES: Final = 16 << 20
"""A row group of a table ends with whichever comes first."""
_MESSAGE: Final = PROMPTS.field("prompt").type.value_type
_REWARD: Final = PROMPTS.field("reward_model").type
_INFO: Final = PROMPTS.field("extra_info").type


def prompts(
    rows: pa.RecordBatch,
    *,
    split: str,
    first: int,
    groups: npt.NDArray[np.uint64],
    system_prompt: str | None,
    turn: Turn | None = None,
) -> pa.RecordBatch:
    """Rows of the PROMPTS contract.

    Args:
        rows: staged.
        split: train, heldout or test.
        first: the index of the first row in its table.
        groups: number of each row's group, which ``template`` names.
        system_prompt: put in front of every prompt; None for none.
        turn: makes the user's turn of a problem, which ``question`` holds as it is; None where that is the turn.
    """
    count, problem = rows.num_rows, rows.column("problem")
    turns = 1 if system_prompt is None else 2
    asked = problem if turn is None else _asked(rows, turn)
    contents, roles = asked, pa.repeat(pa.scalar("user"), count * turns)
    if system_prompt is not None:
        # The system prompt once, behind the problems; then both by turns.
        both = pa.concat_arrays([asked, pa.array([system_prompt], pa.string())])
        places = np.empty(count * 2, np.int64)
        places[0::2], places[1::2] = count, np.arange(count)
        contents = both.take(pa.array(places))
        roles = pa.array(["system", "user"] * count, pa.string())
    messages = pa.StructArray.from_arrays([roles, contents], fields=list(_MESSAGE))
    offsets = pa.array(np.arange(0, count * turns + 1, turns, dtype=np.int32))
    names = rows.column("dataset").to_pylist()
    templates = [f"{name}:{group:016x}" for name, group in zip(names, groups.tolist(), strict=True)]
    info = [
        rows.column("id"),
        pa.array(np.arange(first, first + count)),
        pa.repeat(pa.scalar(split), count),
        problem,
        rows.column("rubric"),
        pa.array(templates, pa.string()),
    ]
    style = pa.repeat(pa.scalar("task"), count)
    columns = [
        pa.ListArray.from_arrays(offsets, messages, type=PROMPTS.field("prompt").type),
        rows.column("dataset"),
        pa.array([DATASETS[name].domain for name in names], pa.string()),
        pa.StructArray.from_arrays([style, rows.column("gold")], fields=list(_REWARD)),
        pa.StructArray.from_arrays(info, fields=list(_INFO)),
    ]
    return pa.record_batch(columns, PROMPTS)


def _asked(rows: pa.RecordBatch, turn: Turn) -> pa.Array:
    texts, golds = rows.column("problem").to_pylist(), rows.column("gold").to_pylist()
    return pa.array([turn(text, gold) for text, gold in zip(texts, golds, strict=True)], pa.string())


def json_lines(rows: pa.RecordBatch, *, split: str) -> bytes:
    """One object a row, such as a reader of rows of one's own takes: problem, answer, type, and what it is from."""
    names = rows.column("dataset").to_pylist()
    values = (rows.column(name).to_pylist() for name in ("id", "official_id", "problem", "answer", "gold"))
    return b"".join(
        orjson.dumps(
            {
                "id": name,
                "dataset": dataset,
                "type": DATASETS[dataset].domain,
                "split": split,
                "official_id": official,
                "problem": problem,
                "answer": orjson.Fragment(answer),
                "gold": orjson.Fragment(gold),
            },
            option=orjson.OPT_APPEND_NEWLINE,
        )
        for dataset, name, official, problem, answer, gold in zip(names, *values, strict=True)
    )


class TableWriter:
    """Writes one table, and the same rows as JSON lines where that is asked.

    Args:
        path: of the parquet file.
        lines: of the JSON lines; None for none.
        split: train, heldout or test.
        system_prompt: put in front of every prompt; None for none.
        turn: see :func:`prompts`.
    """

    def __init__(
        self, path: Path, lines: Path | None, *, split: str, system_prompt: str | None, turn: Turn | None = None
    ) -> None:
        self._split = split
        self._turn = turn
        self._system = system_prompt
        self._parquet = pq.ParquetWriter(path, PROMPTS, use_dictionary=_DICTIONARY)
        self._lines: IO[bytes] | None = None if lines is None else lines.open("wb")
        self._waiting: list[pa.RecordBatch] = []
        self._bytes = 0
        self.rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, rows: pa.RecordBatch, groups: npt.NDArray[np.uint64]) -> None:
        """Take rows, with their groups' numbers."""
        if not rows.num_rows:
            return
        made = prompts(
            rows, split=self._split, first=self.rows, groups=groups, system_prompt=self._system, turn=self._turn
        )
        self._waiting.append(made)
        if self._lines is not None:
            self._lines.write(json_lines(rows, split=self._split))
        self.rows += rows.num_rows
        self._bytes += rows.nbytes if self._turn is None else made.nbytes
        if sum(batch.num_rows for batch in self._waiting) >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        """End the files."""
        self._flush()
        self._parquet.close()
        if self._lines is not None:
            self._lines.close()

    def _flush(self) -> None:
        if self._waiting:
            self._parquet.write_table(pa.Table.from_batches(self._waiting, PROMPTS))
        self._waiting, self._bytes = [], 0


_DICTIONARY: Final = ["data_source", "ability", "reward_model.style", "extra_info.split", "prompt.list.element.role"]
"""Columns with few values; in the others a dictionary would only be built to be thrown away."""


def renamed(rows: pa.RecordBatch, names: dict[int, str]) -> pa.RecordBatch:
    """The rows with some ids changed.

    Args:
        rows: staged.
        names: place among these rows -> its id.
    """
    if not names:
        return rows
    ids = rows.column("id").to_pylist()
    for place, name in names.items():
        ids[place] = name
    return rows.set_column(rows.schema.get_field_index("id"), "id", pa.array(ids, pa.string()))


def repeated_ids(ids: npt.NDArray[np.uint64]) -> dict[int, int]:
    """Rows whose id an earlier row has, and which occurrence of it they are, from 2."""
    order = np.argsort(ids, kind="stable")
    same = np.flatnonzero(ids[order][1:] == ids[order][:-1]) + 1
    found: dict[int, int] = {}
    for place in same.tolist():
        before = found.get(int(order[place - 1]), 1)
        found[int(order[place])] = before + 1
    return found


def chunks(rows: Sequence[int] | npt.NDArray[np.int64], size: int = GROUP_ROWS) -> list[npt.NDArray[np.int64]]:
    """The rows in pieces of at most ``size``."""
    whole = np.asarray(rows, np.int64)
    return [whole[first : first + size] for first in range(0, len(whole), size)]
