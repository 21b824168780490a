"""A store in an S3 bucket."""

import hashlib
import io
from pathlib import Path

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
from components.core.store.parted import PartedUpload
from components.core.store.parts import Part, PartialFile
from components.core.store.s3_client import S3Settings, check_bucket
from components.core.store.s3_errors import Place, s3_errors, tagged
from components.core.store.transfer import PART_SIZE, corrupt, in_parallel

_MOST_PARTS = 9000
_READ_ATTEMPTS = 3
_SEND_ATTEMPTS = 2
_GONE = {"NoSuchUpload", "InvalidPart"}
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
                tagged(response.headers.get("ETag"), self._place(key))
                return bytes(response.read())
            finally:
                response.close()
                response.release_conn()

    def write_bytes(self, key: str, data: bytes) -> None:
        with s3_errors(self._place(key, len(data))):
            done = self._client.put_object(self.bucket, self._name(key), io.BytesIO(data), len(data))
        tagged(done.etag, self._place(key, len(data)))

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

    def _send(self, source: Path, entry: FileEntry, key: str, progress: Progress) -> int:
        part_size = max(PART_SIZE, -(-entry.size // _MOST_PARTS >> 20) << 20)
        with translated(source), s3_errors(self._place(key, entry.size)):
            if entry.size <= part_size:
                return self._send_whole(source, entry, key, progress)
            return self._send_parts(source, entry, key, part_size, progress)

    def _send_whole(self, source: Path, entry: FileEntry, key: str, progress: Progress) -> int:
        data = source.read_bytes()
        found = hashlib.sha256(data).hexdigest()
        if found != entry.sha256:
            raise corrupt(str(source), entry, found)
        done = self._client.put_object(
            self.bucket, self._name(key), io.BytesIO(data), entry.size, metadata={_HASH: entry.sha256}
        )
        tagged(done.etag, self._place(key, entry.size))
        progress.advance(entry.size)
        return entry.size

    def _send_parts(self, source: Path, entry: FileEntry, key: str, part_size: int, progress: Progress) -> int:
        """In parts, of which those that an earlier attempt has brought over are not sent again."""
        sent = 0
        for attempt in range(1, _SEND_ATTEMPTS + 1):
            upload = PartedUpload(
                self._client,
                self.bucket,
                self._name(key),
                source,
                entry.size,
                part_size,
                {_HASH: entry.sha256},
                progress.advance,
                alone=self._disk is not None,
            )
            found = upload.send()
            sent += upload.sent
            if found != entry.sha256:
                upload.abort()
                raise corrupt(str(source), entry, found)
            try:
                upload.complete()
            except S3Error as error:
                # Another process may have taken the same parts and completed them first.
                if error.code not in _GONE or (attempt == _SEND_ATTEMPTS and not self._holds(key, entry)):
                    raise
            # An upload that was taken over may have been begun for another content, whose hash it then carries.
            if self._holds(key, entry):
                return sent
            self._remove(key)
            progress.advance(-entry.size)
        raise StorageError("what was put is not what the store then has", where=self.uri(key))

    def _fetch(self, key: str, entry: FileEntry, target: Path, progress: Progress) -> int:
        partial = PartialFile(target, entry, PART_SIZE)
        resumed = bool(partial.arrived)
        fetched = sum(part.length for part in partial.missing)
        progress.advance(entry.size - fetched)
        found = self._fetch_parts(key, partial, progress)
        if found != entry.sha256 and resumed:
            progress.advance(-entry.size)
            fetched += entry.size
            found = self._fetch_parts(key, partial.restart(), progress)
        if found != entry.sha256:
            raise corrupt(self.uri(key), entry, found)
        return fetched

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
                    tagged(response.headers.get("ETag"), self._place(key))
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
        tagged(found.etag, self._place(key))
        return found.size or 0, (found.metadata or {}).get(f"x-amz-meta-{_HASH}", "")

    def _name(self, key: str) -> str:
        return join(self.prefix, check_key(key))

    def _relative(self, name: str) -> str:
        return name[len(self.prefix) + 1 :] if self.prefix else name

    def _place(self, key: str, size: int = 0) -> Place:
        return Place(self.settings.endpoint, self.uri(key), size, self._disk)
