"""The S3 store against a real SeaweedFS."""

import hashlib
import os
from pathlib import Path

import minio
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from killed_uploads import PART

from components.core.errors import StorageError
from components.core.manifest import Manifest
from components.core.store import Entry, Store
from components.core.store.s3 import S3Store
from components.core.store.s3_client import S3Settings

pytestmark = [pytest.mark.s3, pytest.mark.usefixtures("small_parts")]
BIG = 2 * PART + 1000
SECOND = PART + 1


class Interrupted(Exception):  # noqa: N818
    """Stands for a kill at this place."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    (folder / "é +#?.txt").write_text("one")
    (folder / "sub" / "big.bin").write_bytes(os.urandom(BIG))
    (folder / "empty").write_bytes(b"")
    return folder


def contents(folder: Path) -> dict[str, str]:
    return {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in folder.rglob("*")
        if p.is_file() and p.name != "manifest.json"
    }


def test_objects(store: Store) -> None:
    assert not store.exists("a/b")
    assert store.list() == []
    store.write_bytes("a/b", b"1")
    store.write_bytes("a/b", b"22")
    store.write_bytes("a-c", b"")
    assert store.read_bytes("a/b") == b"22"
    assert store.list() == [Entry("a-c", 0), Entry("a/b", 2)]
    assert store.list("a") == [Entry("a/b", 2)]
    assert not store.exists("a")
    store.delete("a")
    store.delete("never-there")
    assert store.list() == [Entry("a-c", 0)]


def test_missing_key_names_itself(store: Store) -> None:
    with pytest.raises(StorageError, match="not there") as caught:
        store.read_bytes("no/such")
    assert f"{store.url}/no/such" in caught.value.where


def test_round_trip_in_parts(store: Store, folder: Path, tmp_path: Path) -> None:
    sent = store.upload(folder, "x")
    assert (sent.sent_files, sent.sent_bytes) == (3, BIG + 3)
    got = store.download("x", tmp_path / "back")
    assert (got.sent_files, got.sent_bytes) == (3, BIG + 3)
    assert contents(tmp_path / "back") == contents(folder)
    assert store.complete("x", store.manifest("x").files)


def test_interrupted_upload_sends_no_complete_file_again(
    store: S3Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "zz.bin").write_bytes(os.urandom(SECOND))
    sent: list[int] = []
    whole = [False]
    original = minio.Minio._put_object

    def counting(self: minio.Minio, bucket: str, name: str, data: bytes, *rest: object, **named: object) -> object:
        if "zz.bin" in name and not whole[0]:
            raise Interrupted
        sent.append(len(data))
        return original(self, bucket, name, data, *rest, **named)

    monkeypatch.setattr(minio.Minio, "_put_object", counting)
    with pytest.raises(Interrupted):
        store.upload(folder, "x")
    with pytest.raises(StorageError, match="not there"):
        store.manifest("x")
    sent.clear()
    whole[0] = True
    again = store.upload(folder, "x")
    assert (again.sent_files, again.sent_bytes, again.kept_files) == (1, SECOND, 3)
    # What really went over the line: the two parts of one file, and the manifest.
    assert sum(sent) == SECOND + len(store.manifest("x").to_bytes())
    assert store.complete("x", store.manifest("x").files)


def test_object_of_the_right_size_but_other_content_is_sent_again(store: Store, folder: Path) -> None:
    store.upload(folder, "x")
    store.write_bytes("x/é +#?.txt", b"two")
    again = store.upload(folder, "x")
    assert (again.sent_files, again.sent_bytes) == (1, 3)


def test_interrupted_download_goes_on(
    store: S3Store, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.upload(folder, "x")
    original = S3Store._read_part
    read: list[int] = []

    def failing(self: S3Store, key: str, part: object) -> bytes:
        if key.endswith("big.bin") and len(read) == 2:
            raise Interrupted
        data = original(self, key, part)  # type: ignore[arg-type]
        if key.endswith("big.bin"):
            read.append(len(data))
        return data

    monkeypatch.setattr(S3Store, "_read_part", failing)
    monkeypatch.setattr("components.core.store.transfer.WORKERS", 1)
    with pytest.raises(Interrupted):
        store.download("x", tmp_path / "back")
    assert not (tmp_path / "back" / "sub" / "big.bin").exists()
    rest: list[int] = []
    monkeypatch.setattr(
        S3Store, "_read_part", lambda self, key, part: rest.append(part.length) or original(self, key, part)
    )
    store.download("x", tmp_path / "back")
    assert sum(rest) + sum(read) == BIG
    assert contents(tmp_path / "back") == contents(folder)


def test_corrupted_object_is_named(store: Store, folder: Path, tmp_path: Path) -> None:
    store.upload(folder, "x")
    store.write_bytes("x/sub/big.bin", os.urandom(BIG))
    with pytest.raises(StorageError, match=r"corrupted file sub/big\.bin") as caught:
        store.download("x", tmp_path / "back")
    assert caught.value.where == f"{store.url}/x/sub/big.bin"
    assert not (tmp_path / "back" / "sub" / "big.bin").exists()


def test_truncated_object_is_named(store: Store, folder: Path, tmp_path: Path) -> None:
    store.upload(folder, "x")
    store.write_bytes("x/é +#?.txt", b"o")
    with pytest.raises(StorageError, match=r"shorter|corrupted|InvalidRange") as caught:
        store.download("x", tmp_path / "back")
    assert "é +#?.txt" in caught.value.where


def test_local_partial_that_went_bad_is_fetched_again(store: S3Store, folder: Path, tmp_path: Path) -> None:
    from components.core.store.parts import PartialFile

    store.upload(folder, "x")
    entry = next(e for e in store.manifest("x").files if e.path == "sub/big.bin")
    partial = PartialFile(tmp_path / "back" / "sub" / "big.bin", entry, PART)
    partial.write(partial.missing[0], b"\0" * PART)
    store.download("x", tmp_path / "back")
    assert contents(tmp_path / "back") == contents(folder)


def test_half_deleted_folder_is_not_complete(store: Store, folder: Path) -> None:
    store.upload(folder, "x")
    store.delete("x")
    assert store.list("x") == []
    with pytest.raises(StorageError, match="not there"):
        store.manifest("x")


def test_manifest_is_written_last(store: S3Store, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    original = minio.Minio._put_object

    def noting(self: minio.Minio, bucket: str, name: str, *rest: object, **named: object) -> object:
        order.append(name.rsplit("/", 1)[1])
        return original(self, bucket, name, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(minio.Minio, "_put_object", noting)
    store.upload(folder, "x")
    assert order[-1] == "manifest.json"
    # Two small files, three parts of the large one.
    assert len(order) == 6


def test_arrow_reads_in_place(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    pq.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), folder / "t.parquet")
    store.upload(folder, "k")
    system, path = store.arrow()
    assert pq.read_table(f"{path}/k/t.parquet", filesystem=system, columns=["b"]).to_pydict() == {"b": ["x", "y"]}


def test_bucket_is_not_made_unless_asked(s3: str) -> None:
    with pytest.raises(StorageError, match="no such bucket") as caught:
        Store.open("s3://no-such-bucket/x")
    assert "create the bucket" in caught.value.remedy
    Store.open("s3://made-on-demand/x", create_bucket=True).write_bytes("a", b"1")
    assert Store.open("s3://made-on-demand").list() == [Entry("x/a", 1)]


@pytest.mark.parametrize(
    ("variable", "message"), [("AWS_SECRET_ACCESS_KEY", "wrong secret key"), ("AWS_ACCESS_KEY_ID", "wrong access key")]
)
def test_wrong_credentials(s3: str, monkeypatch: pytest.MonkeyPatch, variable: str, message: str) -> None:
    right = os.environ[variable]
    monkeypatch.setenv(variable, "not-" + right)
    with pytest.raises(StorageError, match=message) as caught:
        Store.open(s3)
    assert right not in str(caught.value)


def test_https_to_a_server_without(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAVEL_S3_ENDPOINT", os.environ["GAVEL_S3_ENDPOINT"].replace("http:", "https:"))
    with pytest.raises(StorageError, match="does not speak https"):
        Store.open(s3)


def test_source_that_changes_under_the_upload(store: Store, folder: Path) -> None:
    from components.core.manifest import scan_folder

    (folder / "manifest.json").write_bytes(Manifest(files=scan_folder(folder)).to_bytes())
    (folder / "é +#?.txt").write_text("two")
    with pytest.raises(StorageError, match="corrupted file"):
        store.upload(folder, "x")
    assert not store.exists("x/manifest.json")
    assert not store.exists("x/é +#?.txt")


def test_secret_is_in_no_text(s3: str) -> None:
    settings = S3Settings.from_environment()
    assert settings.secret_key not in repr(settings)


def test_parts_of_a_killed_upload_are_dropped_by_the_next(store: S3Store, folder: Path, tmp_path: Path) -> None:
    store._disk = tmp_path
    name = f"{store.prefix}/x/sub/big.bin"
    client = store.settings.client()
    upload = client._create_multipart_upload(store.bucket, name, {})
    client._upload_part(store.bucket, name, b"x" * PART, {}, upload, 1)
    other = client._create_multipart_upload(store.bucket, name + "2", {})
    store.upload(folder, "x")
    left = client._list_multipart_uploads(store.bucket, prefix=name).uploads
    assert [entry.upload_id for entry in left] == [other]
    client._abort_multipart_upload(store.bucket, name + "2", other)
