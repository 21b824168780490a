"""From the plan and the staged rows to the published files."""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from components.data.mixture.plan import NAMES, Plan
from components.data.mixture.splits import least, ranks
from components.data.mixture.stage import Index, Stage
from components.data.mixture.tables import TableWriter, chunks, renamed, repeated_ids
from components.data.mixture.wording import Turn
from components.tasks.tables import FOLDER, MIXED

TRAIN, HELDOUT = "train.parquet", "heldout.parquet"
TRAIN_LINES = "train_mixed.jsonl"
TEST_INDEX = "test_index.json"


def write_tables(
    out: Path, stage: Stage, index: Index, plan: Plan, *, seed: int, system_prompt: str | None, turn: Turn | None = None
) -> dict[str, int]:
    """Write every table and every file of JSON lines.

    Args:
        out: the folder.
        stage: with the rows.
        index: of them.
        plan: where they go.
        seed: of the experiment.
        system_prompt: put in front of every prompt; None for none.
        turn: makes the user's turn of a problem; None where the problem is the turn.

    Returns:
        Rows of each file, by its path in ``out``.
    """
    (out / FOLDER).mkdir()
    again = repeated_ids(index.id)
    written: dict[str, int] = {}
    with contextlib.ExitStack() as stack:

        def table(name: str, lines: str | None, split: str) -> TableWriter:
            path = None if lines is None else out / lines
            writer = TableWriter(out / name, path, split=split, system_prompt=system_prompt, turn=turn)
            return stack.enter_context(writer)

        wanted: list[tuple[str, str | None, npt.NDArray[np.bool_], TableWriter]] = []
        train = table(TRAIN, TRAIN_LINES, "train")
        if not plan.draws:
            wanted.append((TRAIN, TRAIN_LINES, plan.train, train))
        wanted.append((HELDOUT, None, _flags(plan.heldout, index), table(HELDOUT, None, "heldout")))
        for name, rows in {**plan.tests, MIXED: plan.mixed}.items():
            if len(rows):
                path, lines = f"{FOLDER}/{name}.parquet", f"test_{name}.jsonl"
                wanted.append((path, lines, _flags(rows, index), table(path, lines, "test")))
        first = 0
        for staged in stage.batches():
            last = first + staged.num_rows
            names = {
                row - first: f"{staged.column('id')[row - first]}-{again[row]}" for row in again if first <= row < last
            }
            batch = renamed(staged, names)
            for _, _, flags, writer in wanted:
                here = np.flatnonzero(flags[first:last])
                rows = batch if len(here) == batch.num_rows else batch.take(here)
                writer.add(rows, plan.groups[first + here])
            first = last
        if plan.draws:
            mapped = stage.mapped()
            for rows in chunks(materialised(index, plan, seed)):
                train.add(mapped.take(rows), plan.groups[rows])
            wanted.insert(0, (TRAIN, TRAIN_LINES, plan.train, train))
        for path, also, _, writer in wanted:
            written[path] = writer.rows
            if also is not None:
                written[also] = writer.rows
    return written


def materialised(index: Index, plan: Plan, seed: int) -> npt.NDArray[np.int64]:
    """The rows of a materialised mixture in their order, which looks random: each row of a set equally often, give or
    take one."""
    train = np.flatnonzero(plan.train)
    order = ranks(index.id, seed=seed, purpose="materialised")
    found: list[npt.NDArray[np.int64]] = [np.empty(0, np.int64)]
    for name, count in plan.draws.items():
        rows = train[index.dataset[train] == NAMES.index(name)]
        if not len(rows):
            continue
        passes, rest = divmod(count, len(rows))
        found += [rows] * passes
        found.append(least(rows, order, rest))
    every = np.concatenate(found)
    copies = np.concatenate([np.full(len(part), number, np.uint64) for number, part in enumerate(found)])
    return every[np.argsort(ranks(index.id[every] + copies, seed=seed, purpose="order"), kind="stable")]


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """One JSON object, readable."""
    path.write_text(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def _flags(rows: npt.NDArray[np.int64], index: Index) -> npt.NDArray[np.bool_]:
    flags = np.zeros(len(index), bool)
    flags[rows] = True
    return flags
