"""The server as a process: it ends with its parent, on a signal, and on options that cannot be."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from components.core.services.process import ProcessId

pytestmark = pytest.mark.slow


def start(folder: Path, port: int, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "components.judge.server", "--model", str(folder), "--name", "m"]
    return subprocess.Popen(
        [*command, "--port", str(port), "--threads", "1", *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "OMP_NUM_THREADS": "1"},
    )


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def wait_healthy(port: int) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AssertionError("the server did not come up")


def test_it_ends_when_its_parent_is_gone_and_on_a_signal(model_folder: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    ports = [free_port(), free_port()]
    orphan = start(model_folder, ports[0], "--parent", str(ProcessId.of(parent.pid)))
    asked = start(model_folder, ports[1])
    try:
        for port in ports:
            wait_healthy(port)
        assert orphan.poll() is None
        parent.kill()
        parent.wait()
        assert orphan.wait(30) == 0
        asked.send_signal(signal.SIGTERM)
        assert asked.wait(30) == 0
    finally:
        for process in (parent, orphan, asked):
            process.kill()
            process.wait()


def test_more_context_than_the_model_has(model_folder: Path) -> None:
    process = start(model_folder, free_port(), "--context", "4096")
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "--context 4096 is more than the 2048 tokens that the model reads" in said


def test_a_model_of_half_its_weights_is_not_served(model_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(model_folder, tmp_path / "m")
    weights = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if ".mlp." not in name}
    (folder / "model.safetensors").unlink()
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    process = start(folder, free_port())
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "error: the weights do not fit the model of config.json; missing: 6 tensors" in said
    assert "Traceback" not in said
