"""The S3 store at a checkpoint's size and on a server that fails: real SeaweedFS, real kills, a disk that is full."""

import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from killed_uploads import kill_when, start_child

from components.core.errors import StorageError
from components.core.services import seaweedfs
from components.core.services.manager import ServiceManager
from components.core.services.process import ProcessId
from components.core.store import Store
from components.core.store.s3 import S3Store

pytestmark = [pytest.mark.s3, pytest.mark.suites]
GIGABYTE = 1 << 30
MEGABYTE = 1 << 20


def write_random(path: Path, size: int) -> str:
    """Fill a file; returns the sha256 of its content."""
    digest = hashlib.sha256()
    with path.open("wb") as stream:
        for start in range(0, size, 16 * MEGABYTE):
            block = os.urandom(min(16 * MEGABYTE, size - start))
            digest.update(block)
            stream.write(block)
    return digest.hexdigest()


def opened(url: str) -> S3Store:
    store = Store.open(url)
    assert isinstance(store, S3Store)
    return store


def finish(child: "subprocess.Popen[str]") -> dict[str, float]:
    output, told = child.communicate(timeout=900)
    assert child.returncode == 0, told
    return dict(json.loads(output))


def test_two_gigabytes_killed_twice_and_fetched(s3: str, tmp_path: Path) -> None:
    if shutil.disk_usage(tmp_path).free < 8 * GIGABYTE:
        pytest.skip("8 GiB of free disk are needed")
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    size = 2 * GIGABYTE + 12345
    expected = write_random(folder / "model.safetensors", size)
    store = opened(s3)
    key = "step/model.safetensors"
    first = kill_when(start_child(s3, folder, "step"), store, key, 40)
    second = kill_when(start_child(s3, folder, "step"), store, key, 120)
    assert 0 < first < second < size
    assert not store.exists(key)
    done = finish(start_child(s3, folder, "step"))
    print(f"killed at {first >> 20} and {second >> 20} MiB; then sent {int(done['sent']) >> 20} MiB")
    assert done["kept"] >= second
    assert done["sent"] + done["kept"] == size
    again = finish(start_child(s3, folder, "step"))
    assert again["sent"] == 0
    shutil.rmtree(folder)
    fetched = finish(start_child(s3, tmp_path / "back", "step", action="download"))
    assert fetched["sent"] == size
    with (tmp_path / "back" / "model.safetensors").open("rb") as stream:
        assert hashlib.file_digest(stream, "sha256").hexdigest() == expected
    # Five parts of 8 MiB, and what the client copies of them.
    assert max(done["grown"], fetched["grown"]) < 200
    store.delete("step")


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_parts: None) -> Iterator[Path]:
    """A state folder of 160 MB with an S3 server of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0 or subprocess.run(resized(disk, 160), check=False).returncode:
        pytest.skip("mounting a small disk needs root")
    manager = ServiceManager(disk, ProcessId.current())
    try:
        for name, value in seaweedfs.start(disk, manager=manager).items():
            monkeypatch.setenv(name, value)
        yield disk
    finally:
        manager.end_all()
        subprocess.run(["umount", "-l", str(disk)], check=True)


def resized(disk: Path, megabytes: int, *options: str) -> list[str]:
    return ["mount", "-t", "tmpfs", "-o", ",".join([*options, f"size={megabytes}m"]), "tmpfs", str(disk)]


@pytest.fixture
def large(tmp_path: Path) -> Path:
    folder = tmp_path / "large"
    folder.mkdir()
    write_random(folder / "a.bin", 200 * MEGABYTE)
    return folder


def test_a_server_whose_disk_fills_up(small_disk: Path, large: Path, tmp_path: Path) -> None:
    """It is told why as well as the server tells it, nothing is published, and with more disk the upload goes on."""
    store = opened(f"s3://{seaweedfs.BUCKET}/x")
    with pytest.raises(StorageError) as caught:
        store.upload(large, "k")
    assert "free disk" in caught.value.remedy or "full" in caught.value.what
    assert not store.exists("k/manifest.json")
    assert not store.exists("k/a.bin")
    subprocess.run(resized(small_disk, 800, "remount"), check=True)
    # The server looks at its disk every few seconds.
    deadline = time.monotonic() + 90
    while True:
        try:
            moved = store.upload(large, "k")
            break
        except StorageError:
            assert time.monotonic() < deadline
    assert moved.kept_bytes > 0
    store.download("k", tmp_path / "back")
    assert (tmp_path / "back" / "a.bin").read_bytes() == (large / "a.bin").read_bytes()


def test_the_own_server_on_a_disk_that_is_too_small(
    small_disk: Path, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is sent: the embedded server's disk is this machine's, and can be looked at."""
    monkeypatch.setenv("GAVEL_STATE", str(small_disk))
    store = opened(f"s3://{seaweedfs.BUCKET}/x")
    with pytest.raises(StorageError, match=r"the disk is full: 210 MB needed, 1\d\d MB free"):
        store.upload(large, "k")
    assert store.list() == []


def test_bits_that_flip_on_the_server_s_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_parts: None
) -> None:
    state = tmp_path / "state"
    manager = ServiceManager(state, ProcessId.current())
    try:
        for name, value in seaweedfs.start(state, manager=manager).items():
            monkeypatch.setenv(name, value)
        store = opened(f"s3://{seaweedfs.BUCKET}/x")
        folder = tmp_path / "folder"
        folder.mkdir()
        write_random(folder / "a.bin", 12 * MEGABYTE)
        store.upload(folder, "k")
        with (folder / "a.bin").open("rb") as stream:
            stream.seek(7 * MEGABYTE)
            needle = stream.read(64)
        volumes = [path for path in state.rglob("*.dat") if needle in path.read_bytes()]
        assert volumes, "the content lies in a volume as it was sent"
        for path in volumes:
            with path.open("r+b") as stream:
                stream.seek(path.read_bytes().index(needle))
                stream.write(bytes([needle[0] ^ 1]))
        with pytest.raises(StorageError) as caught:
            store.download("k", tmp_path / "back")
        print(caught.value)
        assert "a.bin" in str(caught.value)
        assert not (tmp_path / "back" / "a.bin").exists()
        assert not (tmp_path / "back" / "manifest.json").exists()
    finally:
        manager.end_all()


def test_a_bucket_that_goes_away_under_the_upload(
    s3_server: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, small_parts: None
) -> None:
    for name, value in s3_server.items():
        monkeypatch.setenv(name, value)
    store = Store.open("s3://going-away/x", create_bucket=True)
    assert isinstance(store, S3Store)
    folder = tmp_path / "folder"
    folder.mkdir()
    write_random(folder / "a.bin", 12 * MEGABYTE)
    store.settings.client().remove_bucket("going-away")
    with pytest.raises(StorageError, match="no such bucket") as caught:
        store.upload(folder, "k")
    assert "create the bucket" in caught.value.remedy


@pytest.mark.parametrize("variable", ["AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"])
def test_credentials_that_are_changed_under_a_long_run(
    s3: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, small_parts: None
) -> None:
    """The next process of the run has the new ones and is refused before it sends anything."""
    folder = tmp_path / "folder"
    folder.mkdir()
    write_random(folder / "a.bin", 12 * MEGABYTE)
    right = os.environ[variable]
    monkeypatch.setenv(variable, f"not-{right}")
    child = start_child(s3, folder)
    told = child.communicate(timeout=120)[1]
    assert child.returncode != 0
    assert "correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" in told
    assert right not in told
