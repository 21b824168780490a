"""Files of rows, parquet or JSON lines, as plain Python values."""

import dataclasses
import io
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.errors import ContractError
from components.core.faults import tell
from components.core.unique_json import RepeatedKeyError, loads

COLUMNS: Final = (
    "id",
    "prompt",
    "checkers",
    "functions",
    "data_source",
    "ability",
    "reward_model",
    "extra_info",
)
"""What is read of a parquet file; other columns stay unread."""

SUFFIXES: Final = (".parquet", ".jsonl", ".json")


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Attributes:
        where: file and place, for messages.
        value: column or key -> value.
    """

    where: str
    value: dict[str, Any]


def read_rows(content: bytes, *, source: str) -> list[Row]:
    """The rows of a file, whose form its suffix tells.

    Args:
        content: the file's bytes.
        source: its path or URL; ends with .parquet, .jsonl or .json (one object a line, or one list of objects).

    Raises:
        ContractError: another suffix, a file that cannot be read, or one without rows.
    """
    suffix = PurePosixPath(source.partition("?")[0]).suffix.lower()
    if suffix not in SUFFIXES:
        raise ContractError(
            f"a file of rows ends with one of {', '.join(SUFFIXES)}, not {suffix or 'nothing'!r}",
            where=source,
            remedy="rename the file by what it holds",
        )
    rows = _parquet(content, source) if suffix == ".parquet" else _json(content, source)
    if not rows:
        raise ContractError("the file holds no rows", where=source, remedy="give a file with rows")
    return rows


def unpacked(value: object) -> object:
    """A value that some files hold as JSON text and others as it is; text that is no JSON stays text.

    Raises:
        RepeatedKeyError: the text is JSON with an object that has a key twice.
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def object_of(value: object) -> dict[str, Any]:
    """``value``, or the JSON text that it is, if it is an object; else an empty one."""
    found = unpacked(value)
    return found if isinstance(found, dict) else {}


def _parquet(content: bytes, source: str) -> list[Row]:
    try:
        file = pq.ParquetFile(io.BytesIO(content))
        names = file.schema_arrow.names
        known = [name for name in COLUMNS if name in names]
        repeated = [name for name in known if names.count(name) > 1]
        if repeated:
            raise ContractError(
                f"the file has the column {repeated[0]!r} {names.count(repeated[0])} times",
                where=source,
                remedy="write it again with each column once",
            )
        columns = {name: file.read(columns=[name]).column(name).to_pylist() for name in known}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ContractError(
            f"not a readable parquet file: {error}", where=source, remedy="download or write it again"
        ) from error
    return [
        Row(f"{source}, row {number} (from 0)", {name: columns[name][number] for name in known})
        for number in range(file.metadata.num_rows)
    ]


def _json(content: bytes, source: str) -> list[Row]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContractError(f"not UTF-8: {error}", where=source, remedy="save the file as UTF-8") from error
    if text.lstrip()[:1] == "[":
        entries = _decoded(text, source)
        listed = entries if isinstance(entries, list) else []
        return _rows([(f"{source}, row {number} (from 0)", entry) for number, entry in enumerate(listed)], source)
    # Not splitlines(): it would also split at characters that JSON strings may hold as they are, such as U+2028.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    return _rows([(f"{source}, line {number}", line) for number, line in lines], source, _decoded)


def _rows(
    entries: Sequence[tuple[str, Any]], source: str, decode: Callable[[Any, str], object] = lambda value, _: value
) -> list[Row]:
    """A row of each entry, given with its place; all that are no objects are told together."""
    rows: list[Row] = []
    faults: list[ContractError] = []
    for where, entry in entries:
        try:
            rows.append(Row(where, _object(decode(entry, where), where)))
        except ContractError as error:
            faults.append(error)
    tell(faults, of=len(entries), source=source)
    return rows


def _decoded(text: str, where: str) -> object:
    try:
        return loads(text)
    except RepeatedKeyError as error:
        raise error.located(where) from error
    except ValueError as error:
        raise ContractError(f"not JSON: {error}", where=where, remedy="one JSON object a line") from error
    except RecursionError as error:
        raise ContractError("JSON nested too deep", where=where, remedy="one JSON object a line") from error


def _object(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ContractError(
            f"expected a JSON object, got {type(value).__name__}", where=where, remedy="one JSON object a line"
        )
    return value
