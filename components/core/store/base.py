"""The store's interface, and what it does the same way over every back end."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase as fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import ContractError, StorageError
from components.core.manifest import MANIFEST_NAME, FileEntry, Manifest
from components.core.progress import Progress
from components.core.store.disk import atomic, require_space
from components.core.store.keys import check_key, join, join_url
from components.core.store.transfer import Transfer, matches, move, outgoing_manifest, total_size

if TYPE_CHECKING:
    import pyarrow.fs


@dataclass(frozen=True)
class Entry:
    """One object of a store; ``size`` in bytes."""

    key: str
    size: int


class Store(ABC):
    """Objects under one URL. Keys are relative to it, with forward slashes.

    Every method raises StorageError: unreachable or wrong endpoint, wrong credentials, missing bucket, missing key,
    full disk, no permission. A dead endpoint is reported within about 15 seconds.
    """

    url: str

    @staticmethod
    def open(url: str, *, create_bucket: bool = False) -> "Store":
        """A store at ``file:///absolute/folder`` or ``s3://bucket/prefix``.

        S3 reads GAVEL_S3_ENDPOINT, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, and asks the server at
        once. The bucket must exist unless ``create_bucket`` is set, which only the embedded store does.
        """
        if url.startswith(("file:", "/")):
            from components.core.store.files import FileStore

            return FileStore(url)
        if url.startswith("s3://"):
            from components.core.store.s3 import S3Store

            return S3Store(url, create_bucket=create_bucket)
        raise StorageError(
            f"unknown kind of store: {url}", remedy="write file:///absolute/folder or s3://BUCKET/PREFIX"
        )

    @abstractmethod
    def exists(self, key: str) -> bool:
        """Whether there is an object with exactly this key."""

    @abstractmethod
    def read_bytes(self, key: str) -> bytes:
        """The whole object."""

    @abstractmethod
    def write_bytes(self, key: str, data: bytes) -> None:
        """Write or replace an object; a reader sees the old or the new one, never a part."""

    @abstractmethod
    def list(self, prefix: str = "") -> list[Entry]:
        """Every object below the folder ``prefix``, sorted by key."""

    @abstractmethod
    def delete(self, prefix: str) -> None:
        """Remove the object ``prefix`` and everything below it; nothing there is no error."""

    @abstractmethod
    def arrow(self) -> "tuple[pyarrow.fs.FileSystem, str]":
        """A pyarrow file system and the store's path in it, to read parts of parquet files in place."""

    @abstractmethod
    def _require(self, size: int) -> None:
        """Refuse what is known not to fit: ``size`` bytes are about to be written."""

    @abstractmethod
    def _holds(self, key: str, entry: FileEntry) -> bool:
        """Whether the object has the entry's size and hash."""

    @abstractmethod
    def _send(self, source: Path, entry: FileEntry, key: str, progress: Progress) -> int:
        """Write one file as an object, completely or not at all; returns the bytes that this took."""

    @abstractmethod
    def _fetch(self, key: str, entry: FileEntry, target: Path, progress: Progress) -> int:
        """Write one object as a file, completely and with the right hash or not at all; returns the bytes fetched."""

    def uri(self, key: str) -> str:
        """The full URL of a key."""
        return join_url(self.url, key)

    def local_path(self, key: str) -> Path | None:
        """Where an object or folder lies on this machine, if it does."""
        return None

    def upload(self, folder: Path, prefix: str, progress: Progress | None = None) -> Transfer:
        """Publish a folder: its files first, in parallel, its manifest last.

        A file that is there already with the right size and hash is not sent again, nor is a part of a large one, so
        that an interrupted upload goes on. Without a ``manifest.json`` in the folder a bare one is made.
        """
        manifest = outgoing_manifest(folder)
        prefix = check_key(prefix, folder=True)
        self._withdraw(prefix, manifest)
        present = {entry.key: entry.size for entry in self.list(prefix)}
        self._require(sum(e.size for e in manifest.files if present.get(join(prefix, e.path)) != e.size))

        def held(entry: FileEntry) -> bool:
            key = join(prefix, check_key(entry.path))
            return present.get(key) == entry.size and self._holds(key, entry)

        def carry(entry: FileEntry, meter: Progress) -> int:
            return self._send(folder / entry.path, entry, join(prefix, entry.path), meter)

        transfer = move(manifest.files, held, carry, progress, "publishing")
        self.write_bytes(join(prefix, MANIFEST_NAME), manifest.to_bytes())
        return transfer

    def download(
        self, prefix: str, folder: Path, progress: Progress | None = None, patterns: Sequence[str] = ("*",)
    ) -> Transfer:
        """Fetch a published folder, in parallel, and verify each file against the manifest.

        What ``folder`` already holds with the right hash is kept, and an interrupted download goes on. ``patterns`` are
        shell patterns of the paths to fetch; ``*`` goes across slashes.
        """
        manifest = self.manifest(prefix)
        files = [entry for entry in manifest.files if any(fnmatch(entry.path, pattern) for pattern in patterns)]
        kept = {entry for entry in files if matches(folder / check_key(entry.path), entry)}
        require_space(folder, total_size(files) - total_size(kept))

        def carry(entry: FileEntry, meter: Progress) -> int:
            return self._fetch(join(prefix, entry.path), entry, folder / entry.path, meter)

        transfer = move(files, kept.__contains__, carry, progress, "fetching")
        with atomic(folder / MANIFEST_NAME, 0) as stream:
            stream.write(manifest.to_bytes())
        return transfer

    def manifest(self, prefix: str) -> Manifest:
        """The manifest of a published folder.

        Raises:
            StorageError: there is none, so nothing complete was published there.
            ContractError: it is damaged.
        """
        key = join(prefix, MANIFEST_NAME)
        return Manifest.from_bytes(self.read_bytes(key), self.uri(key))

    def complete(self, prefix: str, files: Sequence[FileEntry]) -> bool:
        """Whether every file is there with its size."""
        sizes = {entry.key: entry.size for entry in self.list(prefix)}
        return all(sizes.get(join(prefix, entry.path)) == entry.size for entry in files)

    def _withdraw(self, prefix: str, manifest: Manifest) -> None:
        """Take back another content published under the same prefix: from now on it is incomplete."""
        key = join(prefix, MANIFEST_NAME)
        if not self.exists(key):
            return
        try:
            same = self.manifest(prefix).files == manifest.files
        except ContractError:
            same = False
        if not same:
            self._remove(key)

    @abstractmethod
    def _remove(self, key: str) -> None:
        """Remove one object, if it is there."""
