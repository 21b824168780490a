"""The store's interface, and what it does the same way over every back end."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import StorageError
from components.core.manifest import MANIFEST_NAME, FileEntry, Manifest
from components.core.progress import Progress
from components.core.store.keys import join

if TYPE_CHECKING:
    import pyarrow.fs


@dataclass(frozen=True)
class Entry:
    """One object of a store; ``size`` in bytes."""

    key: str
    size: int


@dataclass(frozen=True)
class Transfer:
    """What an upload or a download moved, and what was there already."""

    sent_files: int
    sent_bytes: int
    kept_files: int
    kept_bytes: int


class Store(ABC):
    """Objects under one URL. Keys are relative to it, with forward slashes.

    Every method raises StorageError: unreachable or wrong endpoint, wrong credentials, missing bucket, missing key,
    full disk, no permission. A dead endpoint is reported within about 15 seconds.
    """

    url: str

    @staticmethod
    def open(url: str, *, create_bucket: bool = False) -> "Store":
        """A store at ``file:///absolute/folder`` or ``s3://bucket/prefix``.

        S3 reads GAVEL_S3_ENDPOINT, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION. The bucket must exist
        unless ``create_bucket`` is set, which only the embedded store does.
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
    def list(self, prefix: str = "") -> "list[Entry]":
        """Every object below the folder ``prefix``, sorted by key."""

    @abstractmethod
    def delete(self, prefix: str) -> None:
        """Remove the object ``prefix`` and everything below it; nothing there is no error."""

    @abstractmethod
    def upload(self, folder: Path, prefix: str, progress: Progress | None = None) -> Transfer:
        """Publish a folder: its files first, in parallel, its manifest last.

        A file that is there already with the right size and hash is not sent again, so that an interrupted upload
        goes on. Without a ``manifest.json`` in the folder a bare one is made.
        """

    @abstractmethod
    def download(self, prefix: str, folder: Path, progress: Progress | None = None) -> Transfer:
        """Fetch a published folder, in parallel, and verify each file against the manifest.

        What ``folder`` already holds with the right hash is kept, and an interrupted download goes on.
        """

    @abstractmethod
    def arrow(self) -> "tuple[pyarrow.fs.FileSystem, str]":
        """A pyarrow file system and the store's path in it, to read parts of parquet files in place."""

    def uri(self, key: str) -> str:
        """The full URL of a key."""
        return join_url(self.url, key)

    def local_path(self, key: str) -> Path | None:
        """Where an object or folder lies on this machine, if it does."""
        return None

    def manifest(self, prefix: str) -> Manifest:
        """The manifest of a published folder.

        Raises:
            StorageError: there is none, so nothing complete was published there.
            ContractError: it is damaged.
        """
        key = join(prefix, MANIFEST_NAME)
        return Manifest.from_bytes(self.read_bytes(key), self.uri(key))

    def complete(self, prefix: str, files: "tuple[FileEntry, ...]") -> bool:
        """Whether every file is there with its size."""
        sizes = {entry.key: entry.size for entry in self.list(prefix)}
        return all(sizes.get(join(prefix, entry.path)) == entry.size for entry in files)


def join_url(url: str, key: str) -> str:
    """A URL with a key below it."""
    return f"{url.rstrip('/')}/{key.strip('/')}" if key.strip("/") else url.rstrip("/")


def split_uri(uri: str) -> tuple[str, str]:
    """A published folder's URI as the URL of the store that holds it and the last part as key."""
    head, _, tail = uri.rstrip("/").rpartition("/")
    return head, tail


def checked_manifest(folder: Path) -> Manifest:
    """The manifest for a folder that is about to be published, made or verified against what lies there."""
    from components.core.manifest import scan_folder

    if not folder.is_dir():
        raise StorageError("no such folder to publish", where=str(folder))
    found = scan_folder(folder)
    if not (folder / MANIFEST_NAME).exists():
        return Manifest(files=found)
    manifest = Manifest.read(folder)
    if manifest.files != found:
        raise StorageError("the folder changed after its manifest was written", where=str(folder))
    return manifest


def corrupt(where: str, expected: str, found: str) -> StorageError:
    """The error for a file whose content is not what the manifest says."""
    return StorageError(
        f"corrupted file: its sha256 is {found[:12]}…, the manifest says {expected[:12]}…",
        where=where,
        remedy="delete the folder that holds it; the step that made it then runs again",
    )
