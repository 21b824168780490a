"""The test tables that prepare-data wrote, and which of their rows are asked."""

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from components.core.contracts import PROMPTS, read_table
from components.core.errors import ContractError
from components.tasks.sets import DATASETS

FOLDER: Final = "tests"
MIXED: Final = "mixed"
"""Name of the table that has rows of all sets, in the mixture's shares."""


@dataclasses.dataclass(frozen=True, slots=True)
class Tests:
    """What is asked.

    Attributes:
        rows: of the contract PROMPTS, each once, by id.
        members: name of a table -> ids of its rows; a row of ``mixed`` is one of its own set's as a rule.
    """

    rows: Mapping[str, Mapping[str, Any]]
    members: Mapping[str, Sequence[str]]


def read_tests(data: Path, *, sets: Sequence[str] = (), limit: int | None = None) -> Tests:
    """The rows of the test tables.

    Args:
        data: folder that prepare-data published.
        sets: names of tables; none for all that there are.
        limit: most rows of a table, those with the smallest hash of their ids; None takes all.

    Raises:
        ContractError: there are no tables, one that is asked for is missing or breaks its contract, or one id stands
            for two different rows.
    """
    folder = data / FOLDER
    order = {name: place for place, name in enumerate(DATASETS)}
    found_files = sorted(folder.glob("*.parquet"), key=lambda path: (order.get(path.stem, len(order)), path.stem))
    known = {path.stem: path for path in found_files}
    chosen = list(sets) or list(known)
    if not chosen:
        raise ContractError("no test tables", where=str(folder), remedy="data of kind mixture with test files has them")
    rows: dict[str, dict[str, Any]] = {}
    members: dict[str, list[str]] = {}
    for name in chosen:
        if name not in known:
            raise ContractError(f"no test table {name}", where=str(folder), remedy=f"take from {', '.join(known)}")
        found = read_table(known[name], PROMPTS).to_pylist()
        if limit is not None:
            found = sorted(found, key=lambda row: hashlib.sha256(row["extra_info"]["id"].encode()).digest())[:limit]
        members[name] = [row["extra_info"]["id"] for row in found]
        if len(set(members[name])) < len(found):
            raise ContractError("an id stands twice in the table", where=str(known[name]))
        for row in found:
            _add(rows, row, str(known[name]))
    return Tests(rows, members)


def _add(rows: dict[str, dict[str, Any]], row: dict[str, Any], where: str) -> None:
    name = row["extra_info"]["id"]
    before = rows.setdefault(name, row)
    same = all(before[key] == row[key] for key in ("prompt", "data_source", "reward_model"))
    if not same:
        raise ContractError(f"id {name} stands for two different tasks", where=where, remedy="prepare the data again")
