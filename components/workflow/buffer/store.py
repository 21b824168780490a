"""The buffer as a table for others: ``buffer.parquet`` with all that counts, and ``index.json``, which describes it."""

import collections
import dataclasses
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from components.core.contracts import read_table, write_table
from components.core.errors import ContractError, GavelError, StorageError
from components.core.identity import canonical_json
from components.core.manifest import sha256_file
from components.core.store import Store
from components.core.store.disk import atomic, translated
from components.tasks.sets import DOMAINS
from components.workflow.buffer.buffer import ExperienceBuffer, Offered
from components.workflow.buffer.entry import Entry

TABLE, INDEX = "buffer.parquet", "index.json"
FOLDER = "buffer"
"""In the published folder of a training."""
_FORMAT = 1
_SHOWN = 60

SCHEMA = pa.schema(
    [
        *(
            pa.field(name, pa.string(), nullable=False)
            for name in ("problem_id", "problem_hash", "domain", "dataset", "problem", "workflow", "workflow_hash")
        ),
        pa.field("reward", pa.float64(), nullable=False),
        pa.field("parts", pa.string(), nullable=False),
        pa.field("judge", pa.string(), nullable=False),
        pa.field("executor", pa.string(), nullable=False),
        pa.field("step", pa.int32(), nullable=False),
        pa.field("time", pa.float64(), nullable=False),
        pa.field("embedding", pa.list_(pa.float32()), nullable=False),
    ]
)
"""An entry of :class:`components.workflow.buffer.entry.Entry` a row, by domain and the best first."""


@dataclasses.dataclass(frozen=True, slots=True)
class Published:
    """What a published buffer holds.

    Attributes:
        entries: with their vectors.
        index: the content of ``index.json``.
    """

    entries: list[Entry]
    index: dict[str, Any]


def write_folder(buffer: ExperienceBuffer, folder: Path) -> dict[str, Any]:
    """Write table and index, the index last; returns the index.

    Args:
        buffer: what counts of it is written.
        folder: made if missing.

    Raises:
        StorageError: it cannot be written.
    """
    entries = buffer.embedded(buffer.entries())
    with translated(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / INDEX).unlink(missing_ok=True)
        write_table(folder / TABLE, [_row(entry) for entry in entries], SCHEMA)
    index = {
        "format": _FORMAT,
        "rows": len(entries),
        "sha256": sha256_file(folder / TABLE),
        "embedder": {"name": buffer.embedder.name, "version": buffer.embedder.version},
        "spec": buffer.spec.model_dump(mode="json"),
        "least_reward": buffer.least,
        "domains": {domain: _summary([each for each in entries if each.domain == domain]) for domain in DOMAINS},
        "entries": [
            {
                "row": row,
                "domain": entry.domain,
                "reward": entry.reward,
                "step": entry.step,
                "problem_id": entry.problem_id,
                "problem": " ".join(entry.problem.split())[:_SHOWN],
                "workflow_hash": entry.workflow_hash,
            }
            for row, entry in enumerate(entries)
        ],
    }
    data = json.dumps(index, indent=1).encode()
    with atomic(folder / INDEX, len(data)) as stream:
        stream.write(data)
    return index


def read_folder(folder: Path) -> Published:
    """What :func:`write_folder` wrote.

    Raises:
        StorageError: a file is missing.
        ContractError: a file is damaged, or is none of ours.
    """
    with translated(folder / INDEX):
        text = (folder / INDEX).read_bytes()
    index = _index(text, str(folder / INDEX))
    path = folder / TABLE
    with translated(path):
        found = sha256_file(path)
    if found != index["sha256"]:
        raise ContractError(
            f"the table has sha256 {found[:12]}…, the index says {str(index['sha256'])[:12]}…",
            where=str(path),
            remedy="fetch both files again from where they were published",
        )
    rows = read_table(path, SCHEMA).to_pylist()
    if len(rows) != index["rows"]:
        raise ContractError(f"{len(rows)} rows, the index says {index['rows']}", where=str(path))
    return Published([_entry(row, f"{path}, row {number}") for number, row in enumerate(rows)], index)


def publish(buffer: ExperienceBuffer, store: Store, prefix: str) -> dict[str, Any]:
    """Write the buffer to the store as a published folder; returns its index.

    Raises:
        StorageError: the store does not take it.
    """
    with tempfile.TemporaryDirectory() as scratch:
        index = write_folder(buffer, Path(scratch) / FOLDER)
        store.upload(Path(scratch) / FOLDER, prefix)
    return index


def fetch(store: Store, prefix: str) -> Published:
    """Read a published buffer.

    Raises:
        StorageError: there is none.
        ContractError: it is damaged.
    """
    with tempfile.TemporaryDirectory() as scratch:
        store.download(prefix, Path(scratch), patterns=(TABLE, INDEX))
        return read_folder(Path(scratch))


def restore(buffer: ExperienceBuffer, published: Published) -> dict[Offered, int]:
    """Begin a training with another one's buffer; how many entries became what.

    They are offered like samples, so that threshold, capacity and forbidden problems of this training hold, as of step
    0: each step sees them, and no resumed one forgets them. An unfinished training needs none of this: its file comes
    back with its checkpoint.
    """
    if published.index.get("embedder", {}).get("version") == buffer.embedder.version:
        buffer.keep_vectors(published.entries)
    counts = collections.Counter(buffer.offer(dataclasses.replace(entry, step=0)) for entry in published.entries)
    return dict(counts)


def _row(entry: Entry) -> dict[str, Any]:
    row = {name: getattr(entry, name) for name in SCHEMA.names}
    if entry.embedding is None:
        raise ContractError(f"the entry of problem {entry.problem_id} has no vector")
    parts = canonical_json(dict(entry.parts), ascii=False)
    return {**row, "parts": parts, "embedding": entry.embedding.tolist()}


def _entry(row: dict[str, Any], where: str) -> Entry:
    try:
        parts = {str(name): float(value) for name, value in json.loads(row["parts"]).items()}
        return Entry(**{**row, "parts": parts, "embedding": np.asarray(row["embedding"], np.float32)})
    except (ValueError, TypeError, AttributeError, GavelError) as error:
        raise ContractError(f"no entry of a buffer: {error}", where=where) from error


def _summary(entries: list[Entry]) -> dict[str, Any]:
    if not entries:
        return {"entries": 0}
    return {
        "entries": len(entries),
        "problems": len({entry.problem_hash for entry in entries}),
        "best_reward": entries[0].reward,
        "worst_reward": entries[-1].reward,
        "first_step": min(entry.step for entry in entries),
        "last_step": max(entry.step for entry in entries),
    }


def _index(data: bytes, where: str) -> dict[str, Any]:
    try:
        index = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ContractError(f"the index is no JSON: {error}", where=where) from error
    if not isinstance(index, dict) or not {"format", "rows", "sha256"} <= set(index):
        raise ContractError("this is no index of a buffer", where=where, remedy=f"it stands beside {TABLE}")
    if index["format"] != _FORMAT:
        raise StorageError(f"the buffer has format {index['format']!r}; this version reads {_FORMAT}", where=where)
    return index
