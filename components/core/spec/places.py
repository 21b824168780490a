"""Values that remember where the user wrote them."""

import dataclasses
from pathlib import Path
from typing import Any


@dataclasses.dataclass(frozen=True)
class Mark:
    """Where a value was written.

    Attributes:
        file: the file as shown to the user, or "command line ...".
        line: from 1; None where there are no lines.
        folder: start of relative paths that are written there.
    """

    file: str
    line: int | None = None
    folder: Path | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


class Map(dict[str, Any]):
    """A mapping that knows where it and each of its keys stood."""

    def __init__(self, data: dict[str, Any], mark: Mark, marks: dict[str, Mark] | None = None) -> None:
        super().__init__(data)
        self.mark = mark
        self.marks = marks or {}

    def put(self, key: str, value: object, mark: Mark) -> None:
        self[key] = value
        self.marks[key] = mark


class Seq(list[Any]):
    """A list that knows where each item stood."""

    def __init__(self, data: list[Any], marks: list[Mark]) -> None:
        super().__init__(data)
        self.marks = marks


class ReadError(Exception):
    """A file that cannot be read as configuration."""

    def __init__(self, what: str, mark: Mark, remedy: str = "", key: str = "") -> None:
        super().__init__(what)
        self.what, self.mark, self.remedy, self.key = what, mark, remedy, key


def located(value: object, mark: Mark) -> object:
    """Plain JSON data as Map and Seq, all at one place."""
    if isinstance(value, dict):
        return Map({key: located(item, mark) for key, item in value.items()}, mark, dict.fromkeys(value, mark))
    if isinstance(value, list):
        return Seq([located(item, mark) for item in value], [mark] * len(value))
    return value
