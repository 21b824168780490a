"""A store in a local folder."""

import hashlib
import shutil
from pathlib import Path

import pyarrow.fs

from components.core.manifest import MANIFEST_NAME, FileEntry
from components.core.progress import Progress
from components.core.store.base import Entry, Store
from components.core.store.disk import TEMPORARY, atomic, require_space, translated
from components.core.store.keys import check_key, split_file_url
from components.core.store.transfer import corrupt, matches

_BLOCK = 4 << 20


class FileStore(Store):
    """Objects are files below one folder, which is made when something is first written."""

    def __init__(self, url: str) -> None:
        self.root = Path(split_file_url(url))
        self.url = self.root.as_uri()

    def exists(self, key: str) -> bool:
        with translated(self._path(key)):
            return self._path(key).is_file()

    def read_bytes(self, key: str) -> bytes:
        with translated(self._path(key)):
            return self._path(key).read_bytes()

    def write_bytes(self, key: str, data: bytes) -> None:
        with atomic(self._path(key), len(data)) as stream:
            stream.write(data)

    def list(self, prefix: str = "") -> list[Entry]:
        folder = self.root / check_key(prefix, folder=True)
        with translated(folder):
            selector = pyarrow.fs.FileSelector(str(folder), recursive=True, allow_not_found=True)
            found = pyarrow.fs.LocalFileSystem().get_file_info(selector)
        entries = [
            Entry(Path(info.path).relative_to(self.root).as_posix(), info.size)
            for info in found
            if info.type == pyarrow.fs.FileType.File and not info.base_name.startswith(TEMPORARY)
        ]
        return sorted(entries, key=lambda entry: entry.key)

    def delete(self, prefix: str) -> None:
        path = self._path(prefix.rstrip("/"))
        with translated(path):
            if path.is_dir():
                # The manifest goes first: a folder half deleted must not look complete.
                (path / MANIFEST_NAME).unlink(missing_ok=True)
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def arrow(self) -> tuple[pyarrow.fs.FileSystem, str]:
        return pyarrow.fs.LocalFileSystem(), str(self.root)

    def local_path(self, key: str) -> Path | None:
        return self.root / check_key(key, folder=True)

    def _path(self, key: str) -> Path:
        return self.root / check_key(key)

    def _require(self, size: int) -> None:
        require_space(self.root, size)

    def _holds(self, key: str, entry: FileEntry) -> bool:
        with translated(self._path(key)):
            return matches(self._path(key), entry)

    def _send(self, source: Path, entry: FileEntry, key: str, progress: Progress) -> int:
        return _copy(source, self._path(key), entry, progress)

    def _fetch(self, key: str, entry: FileEntry, target: Path, progress: Progress) -> int:
        return _copy(self._path(key), target, entry, progress)

    def _remove(self, key: str) -> None:
        with translated(self._path(key)):
            self._path(key).unlink(missing_ok=True)


def _copy(source: Path, target: Path, entry: FileEntry, progress: Progress) -> int:
    digest = hashlib.sha256()
    with translated(source):
        reader = source.open("rb")
    with reader, atomic(target, entry.size) as writer:
        while block := reader.read(_BLOCK):
            digest.update(block)
            writer.write(block)
            progress.advance(len(block))
        if digest.hexdigest() != entry.sha256:
            raise corrupt(str(source), entry, digest.hexdigest())
    return entry.size
