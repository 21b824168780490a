"""A writer's tail: what it has recorded and the database does not hold yet.

A record is in the file, and so with the kernel, before :meth:`Tail.append` returns. A writer killed a moment later
loses nothing, and yet a record costs one short ``write`` instead of a transaction. The writer itself moves its records
into the database every fraction of a second; whoever opens the ledger after it was killed does it in its stead.
A writer holds a lock on its tail as long as it lives.
"""

import base64
import errno
import fcntl
import os
import secrets
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

Record = dict[str, list[Any]]
"""Rows by table, to be written together or not at all; each row is a list of the columns' values."""


class Tail:
    """The tail of one living writer.

    Args:
        ledger: the database that it belongs to.

    Raises:
        OSError: the file cannot be made.
    """

    def __init__(self, ledger: Path) -> None:
        self.size = 0
        while True:
            self.path = ledger.with_name(f"{ledger.name}.tail-{os.getpid()}-{secrets.token_hex(4)}")
            self._file = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_APPEND, 0o644)
            fcntl.flock(self._file, fcntl.LOCK_EX)
            # Between the two lines above another process may have taken it for an abandoned one.
            if same_file(self._file, self.path):
                return
            os.close(self._file)

    def append(self, record: bytes) -> None:
        """Write one encoded record, whole or not at all.

        Raises:
            OSError: the disk is full.
        """
        written = os.write(self._file, record)
        if written != len(record):
            os.ftruncate(self._file, self.size)
            # A second attempt of the rest names the reason that a short write hides.
            written = os.write(self._file, record)
            if written != len(record):
                os.ftruncate(self._file, self.size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.size += written

    def close(self, *, remove: bool) -> None:
        """Let go of the file, and remove it when the database holds all of it."""
        if remove:
            self.path.unlink(missing_ok=True)
        os.close(self._file)


def encode(record: Record) -> bytes:
    """One line: checksum and JSON. Bytes values become base64.

    Raises:
        TypeError: a value has no place in it, or a text is no Unicode; see :func:`as_unicode`.
    """
    text = orjson.dumps(record, default=_plain)
    return b"%08x %b\n" % (zlib.crc32(text), text)


def as_unicode(record: Record) -> Record:
    """The record with lone surrogates, which a judge's escapes can hold and no file can, replaced by U+FFFD."""
    return {
        table: [tuple(_replaced(value) if isinstance(value, str) else value for value in row) for row in rows]
        for table, rows in record.items()
    }


def decode(data: bytes) -> tuple[list[Record], int]:
    """The whole records of ``data``, and the number of lines that are damaged.

    What follows the last line's end is what a killed writer had not written whole, and no damage.
    """
    records, damaged = [], 0
    for line in data.split(b"\n")[:-1]:
        check, _, text = line.partition(b" ")
        if check != b"%08x" % zlib.crc32(text):
            damaged += 1
            continue
        record: Record = orjson.loads(text)
        for row in record.get("failures", ()):
            row[:] = [base64.b64decode(value["base64"]) if isinstance(value, dict) else value for value in row]
        records.append(record)
    return records, damaged


def abandoned(ledger: Path) -> Iterator[tuple[Path, int]]:
    """Tails of writers that live no more, each with its open file, locked while the caller holds the iterator."""
    for path in sorted(ledger.parent.glob(f"{_escaped(ledger.name)}.tail-*")):
        try:
            file = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            continue
        try:
            if same_file(file, path):
                yield path, file
        finally:
            os.close(file)


def same_file(file: int, path: Path) -> bool:
    """Whether ``path`` still names the open file."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    here = os.fstat(file)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def set_aside(path: Path) -> Path:
    """Rename a tail with damaged lines, so that nobody takes it over again and somebody can look at it."""
    head, _, rest = path.name.rpartition(".tail-")
    there = path.with_name(f"{head}.damaged-{rest}")
    path.rename(there)
    return there


def _replaced(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escaped(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"{type(value).__name__} has no place in a record")
