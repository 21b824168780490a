"""JSON objects, one a line: how files of prompts and of responses are read."""

import codecs
import json
from collections.abc import Iterator, Mapping
from typing import Any

from components.core.errors import ContractError

_REMEDY = "one object a line"


def read_objects(content: bytes, *, source: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a file, each with its place; blank lines, and a byte order mark before the first, are passed over.

    Args:
        content: the file's bytes.
        source: its path or URL.

    Raises:
        ContractError: a line is not UTF-8, not a JSON object, nested too deep to be read, or has a text with half of a
            surrogate pair, which no result could be written with.
    """
    # Lines end at line feeds alone: a text may hold other characters that str.splitlines takes for line ends.
    for number, line in enumerate(content.removeprefix(codecs.BOM_UTF8).split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"{source}, line {number}"
        try:
            row = json.loads(line.decode("utf-8"))
        except ValueError as error:
            raise ContractError(f"the line is not JSON: {error}", where=where, remedy=_REMEDY) from error
        except RecursionError as error:
            raise ContractError("the line is JSON that is nested too deep", where=where, remedy=_REMEDY) from error
        if not isinstance(row, dict):
            raise ContractError("the line is not a JSON object", where=where, remedy=_REMEDY)
        if b"\\u" in line:
            _check_characters(row, where)
        yield where, row


def _check_characters(row: Mapping[str, Any], where: str) -> None:
    try:
        json.dumps(row, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ContractError(
            f"a text holds {error.object[error.start]!r}, which is no character",
            where=where,
            remedy="write the file again from the source, as UTF-8",
        ) from error
