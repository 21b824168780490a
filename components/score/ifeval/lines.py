"""JSON objects, one a line: how files of prompts and of responses are read."""

import codecs
import json
from collections.abc import Mapping
from typing import Any

from components.core.errors import ContractError
from components.core.faults import tell
from components.core.unique_json import RepeatedKeyError, loads

_REMEDY = "one object a line"


def read_objects(content: bytes, *, source: str) -> list[tuple[str, Mapping[str, Any]]]:
    """The objects of a file, each with its place; blank lines, and a byte order mark before the first, are passed over.

    Args:
        content: the file's bytes.
        source: its path or URL.

    Raises:
        ContractError: lines are not UTF-8, not JSON objects, nested too deep to be read, have a key twice, or a text
            with half of a surrogate pair, which no result could be written with; all of them are told.
    """
    rows: list[tuple[str, Mapping[str, Any]]] = []
    faults: list[ContractError] = []
    lines = 0
    # Lines end at line feeds alone: a text may hold other characters that str.splitlines takes for line ends.
    for number, line in enumerate(content.removeprefix(codecs.BOM_UTF8).split(b"\n"), start=1):
        if not line.strip():
            continue
        lines += 1
        where = f"{source}, line {number}"
        try:
            rows.append((where, _row(line, where)))
        except ContractError as error:
            faults.append(error)
    tell(faults, of=lines, source=source)
    return rows


def _row(line: bytes, where: str) -> Mapping[str, Any]:
    try:
        row = loads(line.decode("utf-8"))
    except RepeatedKeyError as error:
        raise error.located(where) from error
    except ValueError as error:
        raise ContractError(f"the line is not JSON: {error}", where=where, remedy=_REMEDY) from error
    except RecursionError as error:
        raise ContractError("the line is JSON that is nested too deep", where=where, remedy=_REMEDY) from error
    if not isinstance(row, dict):
        raise ContractError("the line is not a JSON object", where=where, remedy=_REMEDY)
    if b"\\u" in line:
        _check_characters(row, where)
    return row


def _check_characters(row: Mapping[str, Any], where: str) -> None:
    try:
        json.dumps(row, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ContractError(
            f"a text holds {error.object[error.start]!r}, which is no character",
            where=where,
            remedy="write the file again from the source, as UTF-8",
        ) from error
