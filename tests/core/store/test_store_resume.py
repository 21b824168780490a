"""Uploads of large files that are killed and go on, against a real SeaweedFS: only what is missing is sent again."""

import hashlib
import json
import os
from pathlib import Path

import minio
import pytest
from killed_uploads import PART, held_parts, kill_when, start_child

from components.core.errors import StorageError
from components.core.store.s3 import S3Store

pytestmark = [pytest.mark.s3, pytest.mark.usefixtures("small_parts")]
PARTS = 8
SIZE = PARTS * PART - 12345


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    # A name that a listing of unfinished uploads encodes.
    (folder / "é model+1 #.bin").write_bytes(os.urandom(SIZE))
    return folder


def file_of(folder: Path) -> Path:
    return next(path for path in folder.iterdir() if path.name != "manifest.json")


def test_killed_upload_sends_only_what_is_missing(store: S3Store, folder: Path, tmp_path: Path) -> None:
    key = f"x/{file_of(folder).name}"
    child = start_child(store.url, folder, part=PART)
    there = kill_when(child, store, key, 2)
    assert 0 < there < SIZE
    assert not store.exists(key)
    with start_child(store.url, folder, part=PART) as second:
        output = second.communicate(timeout=60)[0]
    # What was in the killed process's sockets may still have become a part.
    moved = json.loads(output)
    assert moved["kept"] >= there
    assert moved["sent"] == SIZE - moved["kept"]
    store.download("x", tmp_path / "back")
    assert (tmp_path / "back" / file_of(folder).name).read_bytes() == file_of(folder).read_bytes()
    assert held_parts(store, key) == {}


def stop_at_part(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    original = minio.Minio._upload_part

    def failing(self: minio.Minio, *given: object) -> str:
        if given[-1] == number:
            raise ConnectionAbortedError
        return original(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(minio.Minio, "_upload_part", failing)


def interrupt(store: S3Store, folder: Path, monkeypatch: pytest.MonkeyPatch, at: int) -> int:
    """Fail at a part; returns the bytes that the server has."""
    with monkeypatch.context() as patch:
        stop_at_part(patch, at)
        with pytest.raises(StorageError):
            store.upload(folder, "x")
    return sum(held_parts(store, f"x/{file_of(folder).name}").values())


@pytest.mark.parametrize("at", [1, 4, PARTS])
def test_upload_that_failed_anywhere_goes_on(
    store: S3Store, folder: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    there = interrupt(store, folder, monkeypatch, at)
    again = store.upload(folder, "x")
    assert (again.sent_bytes, again.kept_bytes) == (SIZE - there, there)


def test_parts_of_another_content_are_not_taken_over(
    store: S3Store, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert interrupt(store, folder, monkeypatch, 4) > 0
    file_of(folder).write_bytes(os.urandom(SIZE))
    again = store.upload(folder, "x")
    assert again.sent_bytes == SIZE
    store.download("x", tmp_path / "back")
    assert (tmp_path / "back" / file_of(folder).name).read_bytes() == file_of(folder).read_bytes()


def test_content_that_differs_only_in_what_was_not_sent_yet(
    store: S3Store, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The upload that is taken over was begun with the hash of another content."""
    assert interrupt(store, folder, monkeypatch, PARTS) > 0
    with file_of(folder).open("r+b") as stream:
        stream.seek(SIZE - 10)
        stream.write(b"other tail")
    store.upload(folder, "x")
    store.download("x", tmp_path / "back")
    assert (tmp_path / "back" / file_of(folder).name).read_bytes() == file_of(folder).read_bytes()
    assert store.upload(folder, "x").sent_files == 0


def test_a_part_that_went_bad_in_the_server_is_sent_again(
    store: S3Store, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    interrupt(store, folder, monkeypatch, 5)
    client = store.settings.client()
    name = store._name(f"x/{file_of(folder).name}")
    (upload,) = client._list_multipart_uploads(store.bucket, prefix=name).uploads
    client._upload_part(store.bucket, name, b"\0" * PART, {}, str(upload.upload_id), 2)
    store.upload(folder, "x")
    store.download("x", tmp_path / "back")
    assert (tmp_path / "back" / file_of(folder).name).read_bytes() == file_of(folder).read_bytes()


def test_a_part_that_is_damaged_on_the_way_is_refused(
    store: S3Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the server, which is told the part's MD5; nothing is published."""
    original = minio.Minio._url_open

    def damaging(self: minio.Minio, *given: object, **named: object) -> object:
        body = named.get("body")
        if isinstance(body, bytes) and len(body) == PART:
            pool = store._client._http
            send = pool.urlopen

            def flipped(method: str, url: str, body: bytes | None = None, **rest: object) -> object:
                return send(method, url, body=bytes([body[0] ^ 1]) + body[1:] if body else body, **rest)  # type: ignore[arg-type]

            with monkeypatch.context() as patch:
                patch.setattr(pool, "urlopen", flipped)
                return original(self, *given, **named)  # type: ignore[arg-type]
        return original(self, *given, **named)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr("components.core.store.parted.WORKERS", 1)
        patch.setattr(minio.Minio, "_url_open", damaging)
        with pytest.raises(StorageError) as caught:
            store.upload(folder, "x")
    assert "refused" in caught.value.what
    assert not store.exists("x/manifest.json")
    assert store.upload(folder, "x").sent_files == 1


def test_file_that_changed_leaves_no_object_and_no_parts(store: S3Store, folder: Path) -> None:
    from components.core.manifest import Manifest, scan_folder

    (folder / "manifest.json").write_bytes(Manifest(files=scan_folder(folder)).to_bytes())
    file_of(folder).write_bytes(os.urandom(SIZE))
    with pytest.raises(StorageError, match="corrupted file"):
        store.upload(folder, "x")
    key = f"x/{file_of(folder).name}"
    assert not store.exists(key)
    assert held_parts(store, key) == {}


def test_two_that_send_the_same_object_at_once(store: S3Store, folder: Path) -> None:
    """The pod that follows a job and the job itself may both publish."""
    children = [start_child(store.url, folder, part=PART) for _ in range(2)]
    for child in children:
        child.communicate(timeout=60)
    assert [child.returncode for child in children].count(0) >= 1
    found = hashlib.sha256(store.read_bytes(f"x/{file_of(folder).name}")).hexdigest()
    assert found == hashlib.sha256(file_of(folder).read_bytes()).hexdigest()
