"""Starting uploads as processes, and killing them once the server has some of the parts."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from components.core.store.s3 import S3Store

PART = 5 << 20
"""The least that S3 allows."""
CHILD = Path(__file__).with_name("upload_child.py")
ROOT = Path(__file__).resolve().parents[3]


def start_child(
    url: str, folder: Path, prefix: str = "x", *, part: int = 0, action: str = "upload"
) -> "subprocess.Popen[str]":
    command = [sys.executable, str(CHILD), action, url, str(folder), prefix, *([str(part)] if part else [])]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def held_parts(store: S3Store, key: str) -> dict[int, int]:
    """Sizes of the parts of unfinished uploads of an object, as another client sees them."""
    client = store.settings.client()
    name = store._name(key)
    found = client._list_multipart_uploads(store.bucket, prefix=name).uploads
    return {
        part.part_number: part.size or 0
        for upload in found
        for part in client._list_parts(store.bucket, name, str(upload.upload_id)).parts
    }


def kill_when(child: "subprocess.Popen[str]", store: S3Store, key: str, parts: int) -> int:
    """Kill the child once the server has some parts; returns the bytes that it then has."""
    deadline = time.monotonic() + 300
    while len(held_parts(store, key)) < parts:
        assert child.poll() is None, "the upload ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    return sum(held_parts(store, key).values())
