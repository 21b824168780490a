"""The table of outcomes: a row a judgement, written and read under a contract."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa

from components.bias.types import Mode, Outcome, Role
from components.core.contracts import read_table, write_table
from components.core.errors import ContractError
from components.judge.verdict import UnknownReason

OUTCOMES: Final = pa.schema(
    [
        pa.field("judge", pa.string(), nullable=False),
        pa.field("probe", pa.string(), nullable=False),
        pa.field("mode", pa.string(), nullable=False),
        pa.field("item_id", pa.string(), nullable=False),
        pa.field("text_id", pa.string(), nullable=False),
        pa.field("role", pa.string(), nullable=False),
        pa.field("order", pa.string()),
        pa.field("repeat", pa.int32(), nullable=False),
        pa.field("value", pa.float64()),
        pa.field("reason", pa.string()),
        pa.field("probability", pa.float64()),
        pa.field("words", pa.int32(), nullable=False),
        pa.field("author", pa.string()),
        pa.field("gold", pa.string()),
    ]
)
"""The fields of :class:`components.bias.types.Outcome`, in their order. ``value`` is null exactly where ``reason`` is
not; a null is never read as a number."""

_ORDERS: Final = frozenset({"base_first", "base_second"})


def write_outcomes(path: Path, outcomes: Sequence[Outcome]) -> int:
    """Write the table, whole or not at all; returns the number of rows.

    Raises:
        ContractError: an outcome does not fit the contract.
    """
    return write_table(path, [dataclasses.asdict(each) for each in outcomes], OUTCOMES)


def read_outcomes(path: Path) -> list[Outcome]:
    """Read a table of outcomes.

    Raises:
        ContractError: the file is missing, is no such table, or a row says what no outcome can.
    """
    rows = read_table(path, OUTCOMES).to_pylist()
    found = []
    for number, row in enumerate(rows):
        try:
            row["mode"], row["role"] = Mode(row["mode"]), Role(row["role"])
            row["gold"] = None if row["gold"] is None else Role(row["gold"])
            if row["reason"] is not None:
                UnknownReason(row["reason"])
            if (row["order"] in _ORDERS) != (row["mode"] is Mode.PAIRWISE):
                raise ValueError(f"mode {row['mode'].value} with order {row['order']}")
            found.append(Outcome(**row))
        except ValueError as error:
            raise ContractError(
                f"row {number} is no outcome: {error}", where=str(path), remedy="write it with write_outcomes"
            ) from error
    return found
