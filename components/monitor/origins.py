"""Which set and domain a training row is of, from the table that the trainer was given."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.errors import GavelError
from components.core.step.results import open_sources
from components.core.store import Store
from components.monitor.samples import Origins
from components.monitor.silence import silent

TABLE: Final = "train.parquet"
_COLUMNS: Final = ("data_source", "ability", "extra_info.id")
_FILES: Final = re.compile(r"data\.train_files='(.*)'", re.DOTALL)


def origins_of_work(work: Path) -> Origins | None:
    """Those of the training in a work folder; None where its table is not to be found."""
    try:
        overrides: Sequence[str] = json.loads((work / "command.json").read_bytes())["overrides"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    for override in overrides:
        if found := _FILES.fullmatch(override):
            return read_origins(Path(found[1].replace("\\'", "'")))
    return None


def origins_of_data(uri: str, folder: Path) -> Origins | None:
    """Those of published data; None where they cannot be read any more.

    Args:
        uri: of what prepare-data published.
        folder: to fetch its table into.
    """
    try:
        head = uri.rstrip("/").rpartition("/")[0]
        source = open_sources(Store.open(head), {"data": uri})["data"]
        return read_origins(source.fetch(folder, silent(), (TABLE,)) / TABLE)
    except (GavelError, OSError):
        return None


def read_origins(table: Path) -> Origins | None:
    """Id -> set and domain; None where the table cannot be read."""
    # Of the nested column one field is read, and comes without the name of the other: the rest are long texts.
    try:
        rows = pq.read_table(table, columns=list(_COLUMNS)).to_pylist()
    except (OSError, pa.ArrowInvalid):
        return None
    return {row["id"]: (row["data_source"], row["ability"]) for row in rows}
