"""A file that arrives in parts, in any order, over several attempts."""

import hashlib
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from components.core.manifest import FileEntry, sha256_file
from components.core.store.disk import TEMPORARY, sync_folder, translated


@dataclass(frozen=True)
class Part:
    """A range of bytes."""

    index: int
    offset: int
    length: int


def split(size: int, part_size: int) -> list[Part]:
    """Ranges that cover ``size`` bytes; none for an empty file."""
    return [
        Part(index, offset, min(part_size, size - offset)) for index, offset in enumerate(range(0, size, part_size))
    ]


class PartialFile:
    """Writes parts into a temporary file beside ``path`` and remembers, across kills, which have arrived.

    A note beside it lists the parts by number, under the hash of the file that they belong to. The final hash decides,
    so a note that survived a power cut better than its data does no harm.
    """

    def __init__(self, path: Path, entry: FileEntry, part_size: int) -> None:
        self.path = path
        self._entry = entry
        self._data = path.with_name(TEMPORARY + hashlib.sha256(path.name.encode()).hexdigest()[:16])
        self._note = self._data.with_name(self._data.name + ".parts")
        self._head = f"{entry.sha256} {part_size}"
        self._lock = threading.Lock()
        self.parts = split(entry.size, part_size)
        with translated(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self.arrived = self._read_note()
            if not self.arrived:
                self._data.write_bytes(b"")
                self._note.write_text(self._head + "\n")

    @property
    def missing(self) -> list[Part]:
        """Parts still to be fetched."""
        return [part for part in self.parts if part.index not in self.arrived]

    def write(self, part: Part, data: bytes) -> None:
        """Put a part in its place, then note it."""
        with translated(self.path, self._entry.size), self._data.open("r+b") as stream:
            os.pwrite(stream.fileno(), data, part.offset)
            with self._lock, self._note.open("a") as note:
                note.write(f"{part.index}\n")
            self.arrived.add(part.index)

    def finish(self) -> str:
        """Hash the whole; when it is right the file takes its name, else it is thrown away. Returns the hash found."""
        with translated(self.path, self._entry.size):
            found = sha256_file(self._data)
            if found == self._entry.sha256:
                with self._data.open("r+b") as stream:
                    os.fsync(stream.fileno())
                self._data.replace(self.path)
                sync_folder(self.path.parent)
            else:
                self._data.unlink()
            self._note.unlink()
        return found

    def restart(self) -> Self:
        """The same file from nothing."""
        self.arrived = set()
        self._data.write_bytes(b"")
        self._note.write_text(self._head + "\n")
        return self

    def _read_note(self) -> set[int]:
        if not (self._note.exists() and self._data.exists()):
            return set()
        head, *lines = self._note.read_text().split("\n")
        # The last line has no line end when a kill cut it short.
        return {int(line) for line in lines[:-1] if line.isdigit()} if head == self._head else set()
