"""What the probe finds holds; and the probe's attempts do succeed where nothing prevents them."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from components.core.errors import ServiceError
from components.sandbox import attempts
from components.sandbox import isolation as isolation_module
from components.sandbox.isolation import isolation

ROOT = Path(__file__).parents[2]


async def test_nothing_is_possible_at_either_level(level: str) -> None:
    found = await isolation(level)
    if level == "filter" and os.geteuid() != 0:
        kept = {"network", "signals", "notices", "datagrams", "cores", "priority", "modes", "times", "fork"}
        assert kept | {"privileges", "descriptors"} <= set(found.prevented)
        return
    assert found.possible == ()
    assert len(found.prevented) == 20
    assert f"level {level}" in str(found)
    assert "Nothing that was tried was possible" in str(found)


async def test_attempts_that_do_not_run_prove_nothing(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation_module, "_ATTEMPTS", "import no_such_module\n" + isolation_module._ATTEMPTS)
    with pytest.raises(ServiceError, match="no_such_module"):
        await isolation(level)


def test_attempts_succeed_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("secret").write_text("x")
    Path("target").touch()
    victim = subprocess.Popen(["sleep", "600"])
    with socket.socket() as server, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as mailbox, victim:
        mailbox.bind(str(tmp_path / "mailbox"))
        server.bind(("127.0.0.1", 0))
        server.listen()
        about = {
            "pid": os.getpid(),
            "victim": victim.pid,
            "mailbox": str(tmp_path / "mailbox"),
            "port": server.getsockname()[1],
            "secret": str(tmp_path / "secret"),
            "target": str(tmp_path / "target"),
        }
        names = ("network", "signals", "environment", "memory", "listing", "read", "write", "links", "descriptors")
        more = ("notices", "datagrams", "cores", "priority", "modes", "times")
        for name in (*names, *more, "leftovers"):
            assert getattr(attempts, name)(about) is True, name
        if os.geteuid() == 0:
            assert attempts.privileges(about) is True
        assert victim.wait(timeout=5) == -signal.SIGTERM
    assert Path("target").read_text() == "xx"


def test_a_plain_user_has_the_same_isolation() -> None:
    """Run by user 65534 from a copy that it may read, with an interpreter that it may read."""
    if os.geteuid() != 0:
        pytest.skip("the other tests run as a plain user")
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    as_nobody: dict[str, Any] = {"user": 65534, "group": 65534, "env": {}}
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            if subprocess.run([python, "-c", check], check=False, cwd="/", **as_nobody).returncode == 0:
                break
        except OSError:
            continue
    else:
        pytest.skip("no interpreter that another user may read")
    folder = tempfile.mkdtemp()
    try:
        os.chmod(folder, 0o755)
        for part in ("__init__.py", "core/__init__.py", "core/errors.py", "sandbox"):
            source, place = ROOT / "components" / part, Path(folder, "components", part)
            place.parent.mkdir(exist_ok=True, parents=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, place)
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        script = (
            "import asyncio, os\nassert os.getuid() == 65534\n"
            "from components.core.errors import ServiceError\nfrom components.sandbox.isolation import isolation\n"
            "for level in ('namespaces', 'filter'):\n"
            "    try: found = asyncio.run(isolation(level))\n"
            "    except ServiceError as error: print(level, 'refused', error.where); continue\n"
            "    print(level, *found.possible)\n"
        )
        command = [python, "-B", "-c", script]
        done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True, **as_nobody)
    finally:
        shutil.rmtree(folder)
    assert done.returncode == 0, done.stderr
    namespaces, filtered = done.stdout.splitlines()
    assert namespaces == "namespaces" or "refused" in namespaces
    # Without Landlock, which not every kernel has.
    of_files = {"environment", "memory", "listing", "read", "write", "links"}
    assert "refused" in filtered or set(filtered.split()[1:]) <= of_files
