"""A file's rows as plain objects, each with its place, read piece by piece."""

import contextlib
import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.errors import ContractError
from components.data.mixture.decode import decode_object
from components.data.mixture.elements import Elements

Found: TypeAlias = tuple[str, dict[str, Any] | ContractError]
"""The place inside the file, such as ``line 7``, and the row or what is wrong with it."""
SUFFIXES: Final = (".jsonl", ".json", ".parquet", ".jsonl.gz", ".json.gz")
_AT_ONCE: Final = 512
LONGEST_LINE: Final = 64 << 20
"""Bytes of a line: a small packed file can hold one that no memory does."""


def read_records(path: Path, source: str) -> Iterator[Found]:
    """The rows of a file of JSON lines, of one JSON array, or of parquet.

    Args:
        path: where it lies on this machine.
        source: path or URL that the user gave, whose suffix tells its form.

    Raises:
        ContractError: the file as a whole cannot be read; a single bad row is given as such.
    """
    name = PurePosixPath(source.partition("?")[0]).name.lower()
    if not name.endswith(SUFFIXES):
        raise ContractError(
            f"the form of {name!r} is unknown", where=source, remedy=f"a file of rows ends with {', '.join(SUFFIXES)}"
        )
    if name.endswith(".parquet"):
        yield from _parquet(path, source)
        return
    with open_json(path, source, packed=name.endswith(".gz")) as stream:
        if not is_array(stream):
            yield from _lines(stream)
            return
        for number, (line, text) in enumerate(Elements(stream, source).array()):
            yield f"line {line}, element {number} (from 0)", attempt(lambda text=text: decode_object(text.encode()))  # type: ignore[misc]


@contextlib.contextmanager
def open_json(path: Path, source: str, *, packed: bool) -> Iterator[IO[bytes]]:
    """The file's text as bytes that can be sought.

    Raises:
        ContractError: it cannot be read.
    """
    try:
        with gzip.open(path, "rb") if packed else path.open("rb") as stream:
            yield stream  # type: ignore[misc]
    except (OSError, EOFError, zlib.error) as error:
        raise ContractError(
            f"the file cannot be read: {error}", where=source, remedy="download or write it again"
        ) from error


def is_array(stream: IO[bytes]) -> bool:
    """Whether the text begins as an array does; the stream stands at its start afterwards."""
    head = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    stream.seek(0)
    return head.startswith(b"[")


def attempt(make: Callable[[], dict[str, Any]]) -> dict[str, Any] | ContractError:
    """What ``make`` gives, or why it cannot."""
    try:
        return make()
    except ContractError as error:
        return error


def _lines(stream: IO[bytes]) -> Iterator[Found]:
    for number, line in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), start=1):
        if len(line) > LONGEST_LINE:
            raise ContractError(
                f"line {number} has more than {LONGEST_LINE >> 20} MiB", remedy="one JSON object a line"
            )
        text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if text and not text.isspace():
            try:
                yield f"line {number}", decode_object(text)
            except ContractError as error:
                yield f"line {number}", error


def _parquet(path: Path, source: str) -> Iterator[Found]:
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_AT_ONCE):
                for row in batch.to_pylist():
                    yield f"row {number} (from 0)", row
                    number += 1
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ContractError(
            f"not a readable parquet file: {error}", where=source, remedy="download or write it again"
        ) from error
