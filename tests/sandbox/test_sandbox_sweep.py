"""What calls wrote is removed, however much and however deep, and holds up nobody."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from components.core.errors import ServiceError
from components.sandbox.limits import Limits
from components.sandbox.outcome import FailureKind, Outcome, Value
from components.sandbox.runner import serve
from components.sandbox.runner.sweep import sweep
from components.sandbox.sandbox import Sandbox

MANY = "import os\ndef f():\n try:\n  for n in range(3000): os.mkdir(f'd{n}')\n except OSError: pass\n return False"
DEEP = """
import os
def f():
    for n in range(3000):
        os.mkdir('d'); os.symlink('/etc', 'l'); os.chdir('d')
    return False
"""
NOTHING_THERE = "import os\ndef f(): return os.listdir('.')"


def bury(folder: Path, depth: int) -> None:
    """Folders one in the other, each with a file and a link, deeper than a path can be long."""
    script = (
        "import os, sys\nfor n in range(int(sys.argv[1])):\n"
        " open('file', 'w').close(); os.symlink('/etc', 'link'); os.mkdir('x' * 200); os.chdir('x' * 200)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(depth)], cwd=folder, check=True)


def test_deep_and_wide_folders_are_emptied(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    kept = tmp_path / "kept"
    kept.write_text("x")
    bury(top, 400)
    for number in range(60):
        (top / f"{number}" / "inner" / "more").mkdir(parents=True)
        (top / f"{number}" / "inner" / "file").touch()
        (top / f"{number}" / "link").symlink_to(kept)
    (top / "0" / "inner").chmod(0)
    assert sweep(str(top), 60.0)
    assert list(top.iterdir()) == []
    assert kept.read_text() == "x"


def test_a_sweep_ends_in_time_and_goes_on_later(tmp_path: Path) -> None:
    bury(tmp_path, 50)
    rounds = 0
    while not sweep(str(tmp_path), 0.0):
        rounds += 1
        assert rounds < 1000
    assert rounds > 10
    assert list(tmp_path.iterdir()) == []


def test_a_plain_users_shut_folders_are_removed(tmp_path: Path) -> None:
    script = (
        "import os, sys, tempfile\nsys.path.insert(0, sys.argv[1])\nfrom sweep import sweep\n"
        "if os.geteuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "top = tempfile.mkdtemp()\nos.makedirs(top + '/a/b/c')\nopen(top + '/a/b/c/x', 'w').close()\n"
        "for path in ('/a/b/c', '/a/b', '/a'): os.chmod(top + path, 0)\n"
        "assert sweep(top, 60.0)\nos.rmdir(top)\n"
    )
    folder = Path(serve.__file__).parent
    subprocess.run([sys.executable, "-c", script, str(folder)], check=True)


def test_what_cannot_be_removed_holds_up_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one" / "two").mkdir(parents=True)
    (tmp_path / "one" / "file").touch()

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    for name in ("unlink", "rmdir", "rename"):
        monkeypatch.setattr(os, name, refuse)
    assert sweep(str(tmp_path), 60.0)
    monkeypatch.undo()
    assert (tmp_path / "one" / "file").exists()


async def test_file_bombs_neither_end_the_warden_nor_stay() -> None:
    sandbox = Sandbox(Limits(cpu_seconds=20, wall_seconds=60.0), concurrency=1, level="filter")
    try:
        try:
            sandbox.start()
        except ServiceError as error:
            pytest.skip(f"not permitted on this machine: {error.where}")
        (warden,) = sandbox._idle
        outcomes: list[Outcome] = [await sandbox.run(each, "f") for each in (MANY, NOTHING_THERE, DEEP, NOTHING_THERE)]
        many, nothing, deep, nothing_again = (each.value if isinstance(each, Value) else each.kind for each in outcomes)
        # It may also be over the number of files that a folder may hold before it has made them all.
        assert (many, nothing, nothing_again) == (False, [], [])
        assert deep in (False, FailureKind.TOO_LARGE)
        assert sandbox._idle == [warden]
    finally:
        await sandbox.close()
    with pytest.raises(FileNotFoundError):
        os.stat(warden._scratch)
