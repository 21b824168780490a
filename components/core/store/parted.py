"""Uploading one large file in parts, across kills: a part that the server has already is not sent again."""

import base64
import hashlib
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from minio import Minio
from minio.datatypes import Part as ServerPart
from minio.error import S3Error

from components.core.store.parts import Part, split
from components.core.store.transfer import WORKERS

_NOT_LISTED = {"AccessDenied", "NotImplemented", "MethodNotAllowed", "NoSuchUpload", "NoSuchKey"}
"""Servers and policies that do not list unfinished uploads; then one begins anew."""


@dataclass
class PartedUpload:
    """One object that is put in parts.

    S3 keeps the parts of an unfinished upload. They are found again by the object's name, and taken over when every one
    of them is, by size and MD5 (its ETag), a part of the file to be sent; servers whose ETags are no MD5, as with some
    encryptions, get the whole file again. At most ``WORKERS + 1`` parts are in memory.
    """

    client: Minio
    bucket: str
    name: str
    """Of the object."""
    source: Path
    size: int
    """Bytes of the file."""
    part_size: int
    metadata: Mapping[str, str]
    advance: Callable[[int], None]
    """Told the bytes of each part that the server has."""
    alone: bool = False
    """Nobody else writes this object: unfinished uploads of it that cannot be taken over are removed."""
    sent: int = 0
    """Bytes that went over the line."""
    _etags: dict[int, str] = field(default_factory=dict)
    _upload: str = ""

    def send(self) -> str:
        """Bring every part to the server, and return the sha256 of what was read. The object does not exist yet.

        Raises:
            OSError: the file cannot be read.
            S3Error, urllib3's errors: the server refuses or fails; what it has stays for the next attempt.
        """
        self._take_over()
        if not self._upload:
            headers = {f"x-amz-meta-{key}": value for key, value in self.metadata.items()}
            self._upload = self.client._create_multipart_upload(self.bucket, self.name, headers)
        digest = hashlib.sha256()
        room = threading.BoundedSemaphore(WORKERS + 1)
        failed = threading.Event()
        with self.source.open("rb") as stream, ThreadPoolExecutor(WORKERS) as pool:
            jobs = []
            for part in split(self.size, self.part_size):
                data = stream.read(part.length)
                digest.update(data)
                if part.index + 1 in self._etags:
                    self.advance(part.length)
                    continue
                room.acquire()
                if failed.is_set():
                    break
                jobs.append(pool.submit(self._put, part, data, room, failed))
                del data
            for job in jobs:
                job.result()
        return digest.hexdigest()

    def complete(self) -> None:
        """Make the parts the object."""
        parts = [ServerPart(number, etag) for number, etag in sorted(self._etags.items())]
        self.client._complete_multipart_upload(self.bucket, self.name, self._upload, parts)

    def abort(self) -> None:
        """Throw the parts away."""
        self.client._abort_multipart_upload(self.bucket, self.name, self._upload)

    def _put(self, part: Part, data: bytes, room: threading.BoundedSemaphore, failed: threading.Event) -> None:
        try:
            # The server compares; over https the signature does not cover the body.
            headers: dict[str, str | list[str] | tuple[str]] = {
                "Content-MD5": base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
            }
            number = part.index + 1
            etag = self.client._upload_part(self.bucket, self.name, data, headers, self._upload, number)
            if not etag:
                raise ValueError(f"part {number} was taken without an ETag")
            with _COUNTING:
                self._etags[number] = etag
                self.sent += part.length
            self.advance(part.length)
        except BaseException:
            failed.set()
            raise
        finally:
            room.release()

    def _take_over(self) -> None:
        """Find an unfinished upload whose parts are all this file's."""
        for upload in self._unfinished():
            held = self._held(upload)
            if not self._upload and held:
                self._upload, self._etags = upload, held
            elif self.alone:
                self.client._abort_multipart_upload(self.bucket, self.name, upload)

    def _unfinished(self) -> list[str]:
        try:
            found = self.client._list_multipart_uploads(self.bucket, prefix=self.name).uploads
        except S3Error as error:
            if error.code in _NOT_LISTED:
                return []
            raise
        # Some servers leave a plus as it is in a listing, which the client then takes for a space.
        names = {self.name, self.name.replace("+", " ")}
        own = [upload for upload in found if upload.object_name in names and upload.upload_id]
        newest = sorted(own, key=lambda upload: str(upload.initiated_time or ""), reverse=True)
        return [str(upload.upload_id) for upload in newest]

    def _held(self, upload: str) -> dict[int, str] | None:
        """ETags by part number; None when a part is not this file's, or there is none."""
        try:
            listed = self._list(upload)
        except S3Error as error:
            if error.code in _NOT_LISTED:
                return None
            raise
        expected = {part.index + 1: part for part in split(self.size, self.part_size)}
        with self.source.open("rb") as stream:
            for found in listed:
                part = expected.get(found.part_number)
                if part is None or found.size != part.length or found.etag != _md5(stream, part):
                    return None
        return {found.part_number: found.etag for found in listed} or None

    def _list(self, upload: str) -> list[ServerPart]:
        parts: list[ServerPart] = []
        marker: str | None = None
        while True:
            page = self.client._list_parts(self.bucket, self.name, upload, part_number_marker=marker)
            parts += page.parts
            if not page.is_truncated or not page.parts or page.next_part_number_marker == marker:
                return parts
            marker = page.next_part_number_marker


_COUNTING = threading.Lock()


def _md5(stream: BinaryIO, part: Part) -> str:
    return hashlib.md5(os.pread(stream.fileno(), part.length, part.offset), usedforsecurity=False).hexdigest()
