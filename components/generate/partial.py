"""Finished generations of an unfinished step, so that a killed run goes on."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

KEYS = frozenset({"row_id", "responses", "finished", "response_tokens"})


class PartialFile:
    """Rows in a file of JSON lines; each :meth:`append` is on disk when it returns.

    Args:
        path: the file; it need not be there yet.
        samples: entries that each of a row's lists must have.
    """

    def __init__(self, path: Path, samples: int) -> None:
        self._path = path
        self._samples = samples

    def load(self) -> dict[str, dict[str, Any]]:
        """The rows by id. A line that a kill cut short, or that is no whole row, is as if it had never been written."""
        if not self._path.is_file():
            return {}
        content = self._path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            # Else the next row would be joined to the torn line.
            with self._path.open("r+b") as stream:
                stream.truncate(whole)
        rows = (_parse(line, self._samples) for line in content[:whole].split(b"\n"))
        return {row["row_id"]: row for row in rows if row is not None}

    def append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows and wait until they are on disk."""
        lines = "".join(json.dumps(dict(row), ensure_ascii=True) + "\n" for row in rows)
        with self._path.open("ab") as stream:
            stream.write(lines.encode())
            stream.flush()
            os.fsync(stream.fileno())


def _parse(line: bytes, samples: int) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    if not isinstance(row, dict) or set(row) != KEYS or not isinstance(row["row_id"], str):
        return None
    for key, kind in (("responses", str), ("finished", bool), ("response_tokens", int)):
        values = row[key]
        if not isinstance(values, list) or len(values) != samples or any(type(value) is not kind for value in values):
            return None
    return row
