"""A store in a local folder."""

import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import pyarrow.fs

from components.core.manifest import MANIFEST_NAME, FileEntry, sha256_file
from components.core.progress import Progress
from components.core.store.base import Entry, Store, Transfer, checked_manifest, corrupt
from components.core.store.disk import TEMPORARY, atomic, require_space, translated
from components.core.store.keys import check_key, join, split_file_url

_WORKERS = 4
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

    def upload(self, folder: Path, prefix: str, progress: Progress | None = None) -> Transfer:
        manifest = checked_manifest(folder)
        target = self.root / check_key(prefix, folder=True)
        missing = [entry for entry in manifest.files if not _holds(target / entry.path, entry)]
        size = sum(entry.size for entry in missing)
        require_space(target, size)
        self._copy_all(folder, target, missing, progress)
        self.write_bytes(join(prefix, MANIFEST_NAME), manifest.to_bytes())
        return _transfer(manifest.files, missing)

    def download(self, prefix: str, folder: Path, progress: Progress | None = None) -> Transfer:
        manifest = self.manifest(prefix)
        source = self.root / check_key(prefix, folder=True)
        missing = [entry for entry in manifest.files if not _holds(folder / entry.path, entry)]
        require_space(folder, sum(entry.size for entry in missing))
        self._copy_all(source, folder, missing, progress)
        with atomic(folder / MANIFEST_NAME, 0) as stream:
            stream.write(manifest.to_bytes())
        return _transfer(manifest.files, missing)

    def arrow(self) -> tuple[pyarrow.fs.FileSystem, str]:
        return pyarrow.fs.LocalFileSystem(), str(self.root)

    def local_path(self, key: str) -> Path | None:
        return self.root / check_key(key, folder=True)

    def _path(self, key: str) -> Path:
        return self.root / check_key(key)

    @staticmethod
    def _copy_all(source: Path, target: Path, entries: Sequence[FileEntry], progress: Progress | None) -> None:
        if progress and entries:
            progress.begin(sum(entry.size for entry in entries), "B")
        with ThreadPoolExecutor(_WORKERS) as pool:
            for job in [pool.submit(_copy, source / e.path, target / e.path, e, progress) for e in entries]:
                job.result()


def _transfer(files: tuple[FileEntry, ...], sent: list[FileEntry]) -> Transfer:
    sent_bytes = sum(entry.size for entry in sent)
    return Transfer(len(sent), sent_bytes, len(files) - len(sent), sum(entry.size for entry in files) - sent_bytes)


def _holds(path: Path, entry: FileEntry) -> bool:
    return path.is_file() and path.stat().st_size == entry.size and sha256_file(path) == entry.sha256


def _copy(source: Path, target: Path, entry: FileEntry, progress: Progress | None) -> None:
    import hashlib

    digest = hashlib.sha256()
    with translated(source):
        opened: BinaryIO = source.open("rb")
    with opened as reader, atomic(target, entry.size) as writer:
        while block := reader.read(_BLOCK):
            digest.update(block)
            writer.write(block)
            if progress:
                progress.advance(len(block))
        if digest.hexdigest() != entry.sha256:
            raise corrupt(str(source), entry.sha256, digest.hexdigest())
