"""The folder store: complete or not there, verified, and clear about what went wrong."""

import errno
import io
import os
import shutil
from collections import namedtuple
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.errors import StorageError
from components.core.manifest import Manifest
from components.core.progress import Progress
from components.core.store import Entry, Store
from components.core.store import files as files_module
from components.core.store.disk import TEMPORARY, atomic

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open((tmp_path / "store").as_uri())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    (folder / "one.txt").write_text("one")
    (folder / "sub" / "two.bin").write_bytes(bytes(range(256)) * 50_000)
    (folder / "empty").write_bytes(b"")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_objects(store: Store) -> None:
    assert not store.exists("a/b")
    assert store.list() == []
    store.write_bytes("a/b", b"1")
    store.write_bytes("a/b", b"22")
    store.write_bytes("c", b"")
    assert store.read_bytes("a/b") == b"22"
    assert store.list() == [Entry("a/b", 2), Entry("c", 0)]
    assert store.list("a") == [Entry("a/b", 2)]
    assert not store.exists("a")
    store.delete("a")
    store.delete("never-there")
    assert store.list() == [Entry("c", 0)]


def test_missing_key_names_itself(store: Store) -> None:
    with pytest.raises(StorageError, match="not there") as caught:
        store.read_bytes("no/such")
    assert caught.value.where.endswith("no/such")


def test_round_trip(store: Store, folder: Path, tmp_path: Path) -> None:
    sent = store.upload(folder, "x/y")
    assert (sent.sent_files, sent.kept_files) == (3, 0)
    got = store.download("x/y", tmp_path / "back")
    assert (got.sent_files, got.sent_bytes) == (3, 3 + 256 * 50_000)
    back = contents(tmp_path / "back")
    manifest = Manifest.from_bytes(back.pop("manifest.json"), "x")
    assert back == contents(folder)
    assert [entry.path for entry in manifest.files] == ["empty", "one.txt", "sub/two.bin"]


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(
        st.from_regex(r"[a-zA-Zé %+&=#?'\"()~\-_]{1,20}", fullmatch=True).filter(lambda n: n.strip(".")),
        st.binary(max_size=2000),
        min_size=1,
        max_size=4,
    )
)
def test_any_name_and_content_come_back(tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]) -> None:
    base = tmp_path_factory.mktemp("any")
    (base / "in").mkdir()
    for name, content in files.items():
        (base / "in" / name).write_bytes(content)
    store = Store.open(str(base / "store"))
    store.upload(base / "in", "k")
    store.download("k", base / "out")
    back = contents(base / "out")
    del back["manifest.json"]
    assert back == files


def test_second_upload_sends_nothing(store: Store, folder: Path) -> None:
    store.upload(folder, "x")
    again = store.upload(folder, "x")
    assert (again.sent_files, again.sent_bytes, again.kept_files) == (0, 0, 3)


def test_interrupted_upload_goes_on_and_is_not_complete_before(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = files_module._copy

    def broken(source: Path, target: Path, *rest: object) -> int:
        if source.name == "two.bin":
            raise KeyboardInterrupt
        return original(source, target, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(files_module, "_copy", broken)
    with pytest.raises(KeyboardInterrupt):
        store.upload(folder, "x")
    with pytest.raises(StorageError, match="not there"):
        store.manifest("x")
    monkeypatch.undo()
    again = store.upload(folder, "x")
    assert (again.sent_files, again.sent_bytes, again.kept_files) == (1, 256 * 50_000, 2)
    assert store.complete("x", store.manifest("x").files)


@pytest.mark.parametrize("damage", [b"two!", b"tw"])
def test_corrupted_file_is_named(store: Store, folder: Path, tmp_path: Path, damage: bytes) -> None:
    store.upload(folder, "x")
    store.write_bytes("x/one.txt", damage[:3])
    with pytest.raises(StorageError, match=r"corrupted file one\.txt"):
        store.download("x", tmp_path / "back")
    assert not (tmp_path / "back" / "one.txt").exists()
    assert not (tmp_path / "back" / "manifest.json").exists()


def test_file_that_changes_after_its_manifest_is_not_published(store: Store, folder: Path) -> None:
    from components.core.manifest import scan_folder

    (folder / "manifest.json").write_bytes(Manifest(files=scan_folder(folder)).to_bytes())
    (folder / "one.txt").write_text("two")
    with pytest.raises(StorageError, match=r"corrupted file one\.txt"):
        store.upload(folder, "x")
    (folder / "one.txt").unlink()
    with pytest.raises(StorageError, match="changed after its manifest"):
        store.upload(folder, "x")
    assert not store.exists("x/manifest.json")


def test_other_content_under_the_same_prefix_withdraws_the_old_first(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.upload(folder, "x")
    (folder / "one.txt").write_text("changed")

    def broken(*rest: object) -> None:
        raise StorageError("interrupted")

    monkeypatch.setattr(files_module, "_copy", broken)
    with pytest.raises(StorageError, match="interrupted"):
        store.upload(folder, "x")
    assert not store.exists("x/manifest.json")


def test_interrupted_download_keeps_what_is_right(store: Store, folder: Path, tmp_path: Path) -> None:
    store.upload(folder, "x")
    back = tmp_path / "back"
    back.mkdir()
    shutil.copy(folder / "one.txt", back / "one.txt")
    (back / "empty").write_bytes(b"wrong")
    got = store.download("x", back)
    assert (got.sent_files, got.kept_files) == (2, 1)
    assert (back / "empty").read_bytes() == b""


def test_left_overs_of_a_killed_writer_are_not_objects(store: Store, folder: Path, tmp_path: Path) -> None:
    store.upload(folder, "x")
    (tmp_path / "store" / "x" / f"{TEMPORARY}abc-one.txt").write_bytes(b"half")
    assert all(TEMPORARY not in entry.key for entry in store.list())


def test_failing_write_leaves_nothing(tmp_path: Path) -> None:
    def write_half() -> None:
        with atomic(tmp_path / "file", 10) as stream:
            stream.write(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(StorageError, match=r"the disk is full: 10 B needed, .* free"):
        write_half()
    assert list(tmp_path.iterdir()) == []


def test_replacing_keeps_the_old_until_the_new_is_whole(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    with atomic(tmp_path / "file", 3) as stream:
        stream.write(b"new")
        stream.flush()
        assert (tmp_path / "file").read_bytes() == b"old"
    assert (tmp_path / "file").read_bytes() == b"new"


def test_quota_is_called_a_quota(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="quota is used up"), atomic(tmp_path / "file", 5):
        raise OSError(errno.EDQUOT, "Disk quota exceeded")


def test_what_does_not_fit_is_refused_before_anything_is_written(
    store: Store, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**7, 10**7 - 1000, 1000))
    with pytest.raises(StorageError, match=r"the disk is full: 12\.8 MB needed, 1 kB free"):
        store.upload(folder, "x")
    assert not (tmp_path / "store").exists()


def test_download_that_does_not_fit_is_refused(
    store: Store, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.upload(folder, "x")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**7, 10**7 - 1000, 1000))
    with pytest.raises(StorageError, match=r"12\.8 MB needed"):
        store.download("x", tmp_path / "back")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_may_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(StorageError, match="no permission"):
        Store.open(str(tmp_path / "locked" / "store")).write_bytes("a", b"1")


@pytest.mark.parametrize("code", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_denied_writes_say_so(tmp_path: Path, code: int) -> None:
    with pytest.raises(StorageError, match="no permission"), atomic(tmp_path / "file", 0):
        raise OSError(code, os.strerror(code))


def test_file_in_place_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    with pytest.raises(StorageError, match="want the same name"):
        Store.open(str(tmp_path / "store")).write_bytes("a", b"1")


def test_missing_folder_cannot_be_published(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no such folder"):
        store.upload(tmp_path / "nowhere", "x")


def test_arrow_reads_single_columns_in_place(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    pq.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), folder / "t.parquet")
    store.upload(folder, "k")
    system, path = store.arrow()
    assert pq.read_table(f"{path}/k/t.parquet", filesystem=system, columns=["b"]).to_pydict() == {"b": ["x", "y"]}


def test_large_transfer_shows_progress(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "big"
    folder.mkdir()
    (folder / "big").write_bytes(b"\0" * (17 << 20))
    stream = io.StringIO()
    store.upload(folder, "k", Progress("train-grpo", stream=stream))
    assert stream.getvalue().splitlines()[-1].startswith("[train-grpo] 17.8 MB/17.8 MB  100 %")
