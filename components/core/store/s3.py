"""A store in an S3 bucket."""

import hashlib
import io
from pathlib import Path
from typing import BinaryIO

import pyarrow.fs
import urllib3.exceptions
from minio.deleteobjects import DeleteObject
from minio.error import S3Error

from components.core.errors import StorageError
from components.core.manifest import MANIFEST_NAME, FileEntry
from components.core.progress import Progress
from components.core.services.state import s3_folder, state_folder
from components.core.store.base import Entry, Store
from components.core.store.disk import require_space, translated
from components.core.store.keys import check_key, join, split_s3_url
from components.core.store.parts import Part, PartialFile
from components.core.store.s3_client import S3Settings, check_bucket
from components.core.store.s3_errors import Place, s3_errors
from components.core.store.transfer import PART_SIZE, WORKERS, corrupt, in_parallel

_MOST_PARTS = 9000
_READ_ATTEMPTS = 3
_HASH = "sha256"


class S3Store(Store):
    """Objects below a prefix of one bucket. Each carries its sha256 as metadata, which lets an upload go on."""

    def __init__(self, url: str, *, create_bucket: bool = False, settings: S3Settings | None = None) -> None:
        self.bucket, self.prefix = split_s3_url(url)
        self.url = f"s3://{join(self.bucket, self.prefix)}"
        self.settings = settings or S3Settings.from_environment()
        check_bucket(self.settings, self.bucket, self.prefix, create=create_bucket)
        self._client = self.settings.client()
        data = s3_folder(state_folder()) / "data"
        self._disk = data if self.settings.loopback and data.is_dir() else None

    def exists(self, key: str) -> bool:
        return self._stat(check_key(key)) is not None

    def read_bytes(self, key: str) -> bytes:
        with s3_errors(self._place(key)):
            response = self._client.get_object(self.bucket, self._name(key))
            try:
                return bytes(response.read())
            finally:
                response.close()
                response.release_conn()

    def write_bytes(self, key: str, data: bytes) -> None:
        with s3_errors(self._place(key, len(data))):
            self._client.put_object(self.bucket, self._name(key), io.BytesIO(data), len(data))

    def list(self, prefix: str = "") -> list[Entry]:
        folder = join(self.prefix, check_key(prefix, folder=True))
        with s3_errors(self._place(prefix or ".")):
            found = [
                Entry(self._relative(item.object_name), item.size or 0)
                for item in self._client.list_objects(self.bucket, f"{folder}/" if folder else "", recursive=True)
                if not item.is_dir
            ]
        return sorted(found, key=lambda entry: entry.key)

    def delete(self, prefix: str) -> None:
        key = check_key(prefix.rstrip("/"))
        with s3_errors(self._place(key)):
            # The manifest goes first: a folder half deleted must not look complete.
            self._remove(join(key, MANIFEST_NAME))
            self._remove(key)
            doomed = [DeleteObject(self._name(entry.key)) for entry in self.list(key)]
            errors = list(self._client.remove_objects(self.bucket, doomed))
        if errors:
            raise StorageError(f"could not delete {errors[0].name}: {errors[0].message}", where=self.uri(prefix))

    def arrow(self) -> tuple[pyarrow.fs.FileSystem, str]:
        files = pyarrow.fs.S3FileSystem(
            access_key=self.settings.access_key,
            secret_key=self.settings.secret_key,
            session_token=self.settings.session_token,
            endpoint_override=self.settings.host,
            scheme="https" if self.settings.secure else "http",
            region=self.settings.region,
            connect_timeout=3,
            request_timeout=60,
        )
        return files, join(self.bucket, self.prefix)

    def _remove(self, key: str) -> None:
        with s3_errors(self._place(key)):
            self._client.remove_object(self.bucket, self._name(key))

    def _require(self, size: int) -> None:
        if self._disk:
            require_space(self._disk, size)

    def _holds(self, key: str, entry: FileEntry) -> bool:
        return self._stat(key) == (entry.size, entry.sha256)

    def _send(self, source: Path, entry: FileEntry, key: str, progress: Progress) -> None:
        part_size = max(PART_SIZE, -(-entry.size // _MOST_PARTS >> 20) << 20)
        if self._disk and entry.size > part_size:
            self._forget_parts(key)
        with translated(source), source.open("rb") as stream, s3_errors(self._place(key, entry.size)):
            reader = _HashingReader(stream)
            self._client.put_object(
                self.bucket,
                self._name(key),
                reader,
                entry.size,
                metadata={_HASH: entry.sha256},
                part_size=part_size,
                num_parallel_uploads=WORKERS,
                progress=_Meter(progress),
            )
        if reader.digest.hexdigest() != entry.sha256:
            self._remove(key)
            raise corrupt(str(source), entry, reader.digest.hexdigest())

    def _forget_parts(self, key: str) -> None:
        """Drop what killed uploads of this object left in the embedded server, where nobody else writes it now."""
        with s3_errors(self._place(key)):
            found = self._client._list_multipart_uploads(self.bucket, prefix=self._name(key))
            for upload in found.uploads:
                if upload.object_name == self._name(key):
                    self._client._abort_multipart_upload(self.bucket, upload.object_name, upload.upload_id)

    def _fetch(self, key: str, entry: FileEntry, target: Path, progress: Progress) -> None:
        partial = PartialFile(target, entry, PART_SIZE)
        resumed = bool(partial.arrived)
        progress.advance(entry.size - sum(part.length for part in partial.missing))
        found = self._fetch_parts(key, partial, progress)
        if found != entry.sha256 and resumed:
            progress.advance(-entry.size)
            found = self._fetch_parts(key, partial.restart(), progress)
        if found != entry.sha256:
            raise corrupt(self.uri(key), entry, found)

    def _fetch_parts(self, key: str, partial: PartialFile, progress: Progress) -> str:
        def one(part: Part) -> None:
            partial.write(part, self._read_part(key, part))
            progress.advance(part.length)

        in_parallel(one, partial.missing)
        return partial.finish()

    def _read_part(self, key: str, part: Part) -> bytes:
        for attempt in range(1, _READ_ATTEMPTS + 1):
            with s3_errors(self._place(key)):
                response = self._client.get_object(self.bucket, self._name(key), part.offset, part.length)
                try:
                    data = bytes(response.read())
                except (urllib3.exceptions.ProtocolError, urllib3.exceptions.ReadTimeoutError):
                    # The client repeats requests, but not the reading of an answer that broke off.
                    if attempt == _READ_ATTEMPTS:
                        raise
                    continue
                finally:
                    response.close()
                    response.release_conn()
            if len(data) == part.length:
                return data
        raise StorageError("an object is shorter than its manifest says", where=self.uri(key))

    def _stat(self, key: str) -> tuple[int, str] | None:
        """Size and recorded hash; None when there is no such object."""
        with s3_errors(self._place(key)):
            try:
                found = self._client.stat_object(self.bucket, self._name(key))
            except S3Error as error:
                if error.code == "NoSuchKey":
                    return None
                raise
        return found.size or 0, (found.metadata or {}).get(f"x-amz-meta-{_HASH}", "")

    def _name(self, key: str) -> str:
        return join(self.prefix, check_key(key))

    def _relative(self, name: str) -> str:
        return name[len(self.prefix) + 1 :] if self.prefix else name

    def _place(self, key: str, size: int = 0) -> Place:
        return Place(self.settings.endpoint, self.uri(key), size, self._disk)


class _HashingReader:
    """Hashes what is read through it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        data = self._stream.read(size)
        self.digest.update(data)
        return data


class _Meter:
    """What the client wants for showing progress, over ours."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def set_meta(self, object_name: str, total_length: int) -> None:
        """Told before the first part; nothing of it is needed."""

    def update(self, length: int) -> None:
        """Bytes that have arrived."""
        self._progress.advance(length)
