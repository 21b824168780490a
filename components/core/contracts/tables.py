"""Reading and writing tables under a contract."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.errors import ContractError


def write_table(path: Path, rows: pa.Table | Sequence[Mapping[str, Any]], schema: pa.Schema) -> int:
    """Write ``rows`` as parquet, whole or not at all.

    Args:
        path: the file; its folder must exist.
        rows: a table or a sequence of mappings with exactly the schema's columns.
        schema: the contract.

    Returns:
        The number of rows.

    Raises:
        ContractError: the rows do not fit the schema.
    """
    if not isinstance(rows, pa.Table):
        known = set(schema.names)
        for number, row in enumerate(rows):
            if set(row) != known:
                raise ContractError(
                    f"row {number} has columns that differ from the contract: "
                    f"missing {sorted(known - set(row))}, unknown {sorted(set(row) - known)}",
                    where=str(path),
                )
        try:
            rows = pa.Table.from_pylist([dict(row) for row in rows], schema=schema)
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
            raise ContractError(f"rows do not fit the contract: {error}", where=str(path)) from error
    table = check_table(rows, schema, where=str(path))
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    pq.write_table(table, partial)
    partial.replace(path)
    return int(table.num_rows)


def read_table(path: Path, schema: pa.Schema) -> pa.Table:
    """Read a parquet file and check it against ``schema``.

    Raises:
        ContractError: the file is missing, is no parquet, or breaks the contract.
    """
    try:
        table = pq.read_table(path)
    except FileNotFoundError as error:
        raise ContractError("the file is missing", where=str(path)) from error
    except pa.ArrowInvalid as error:
        raise ContractError(f"not a readable parquet file: {error}", where=str(path)) from error
    return check_table(table, schema, where=str(path))


def check_table(table: pa.Table, schema: pa.Schema, *, where: str) -> pa.Table:
    """Return ``table`` with the schema's types and column order, or raise :class:`ContractError`."""
    if set(table.column_names) != set(schema.names):
        missing = sorted(set(schema.names) - set(table.column_names))
        unknown = sorted(set(table.column_names) - set(schema.names))
        raise ContractError(f"columns differ from the contract: missing {missing}, unknown {unknown}", where=where)
    try:
        table = table.select(schema.names).cast(schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise ContractError(f"column types differ from the contract: {error}", where=where) from error
    for field in schema:
        nulls = table.column(field.name).null_count
        if not field.nullable and nulls:
            raise ContractError(f"column {field.name!r} has {nulls} nulls, and none are allowed", where=where)
    return table
