"""The lock on one identity."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from components.core.errors import StepError
from components.core.progress import Progress
from components.core.services.filelock import FileLock
from components.core.step.lock import exclusive, lock_wait

HOLD = """
import sys, time
from pathlib import Path
from components.core.services.filelock import FileLock
lock = FileLock(Path(sys.argv[1]))
assert lock.acquire()
print("held", flush=True)
time.sleep(300)
"""


@pytest.fixture
def held(tmp_path: Path) -> "tuple[Path, subprocess.Popen[str]]":
    path = tmp_path / "x.lock"
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return path, process


def test_limit_names_the_holder(held: "tuple[Path, subprocess.Popen[str]]") -> None:
    path, process = held
    stream = io.StringIO()
    with pytest.raises(StepError, match=f"pid {process.pid} since"), exclusive(path, Progress("s", stream=stream), 0.3):
        raise AssertionError("not to be reached")
    assert f"waiting for another process on the same result: pid {process.pid}" in stream.getvalue()
    process.kill()
    process.communicate()


def test_lock_of_a_killed_process_is_free(held: "tuple[Path, subprocess.Popen[str]]") -> None:
    path, process = held
    process.kill()
    process.communicate()
    with exclusive(path, Progress("s", stream=io.StringIO()), 0):
        assert json.loads(path.read_text())["pid"] == os.getpid()


def test_lock_is_given_back_after_an_error(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "x.lock"
    with pytest.raises(ValueError, match="boom"), exclusive(path, Progress("s", stream=io.StringIO()), 0):
        raise ValueError("boom")
    assert FileLock(path).acquire()


def test_holder_that_has_not_signed(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "x")
    (tmp_path / "x").write_text("{half")
    assert lock.holder() == "a process that has not signed yet"


def test_wait_that_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAVEL_LOCK_WAIT", "soon")
    with pytest.raises(StepError, match="soon"):
        lock_wait()
    monkeypatch.setenv("GAVEL_LOCK_WAIT", "2.5")
    assert lock_wait() == 2.5
