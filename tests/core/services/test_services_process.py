"""Processes by pid and start time."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import ServiceError
from components.core.services import process as process_module
from components.core.services.ports import free_ports, require_free
from components.core.services.process import ProcessId, descendants, kill_all, supervisor


def sleeper(*code: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", "; ".join([*code, "import time", "time.sleep(300)"])])


@given(st.integers(1, 2**22), st.floats(0, 4e9))
def test_text_round_trip(pid: int, start: float) -> None:
    assert ProcessId.parse(str(ProcessId(pid, start))).same(ProcessId(pid, start))


@pytest.mark.parametrize("text", ["", "1", "x:1", "1:x", "1:2:3"])
def test_bad_texts(text: str) -> None:
    with pytest.raises(ServiceError, match="not pid:start"):
        ProcessId.parse(text)


def test_alive_until_it_ends() -> None:
    child = sleeper()
    identity = ProcessId.of(child.pid)
    assert identity.alive()
    assert not ProcessId(child.pid, identity.start - 60).alive(), "the pid of another process"
    child.kill()
    deadline = time.monotonic() + 30
    while identity.alive() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not identity.alive(), "a zombie does not run"
    child.wait()
    assert not identity.alive()
    with pytest.raises(ServiceError, match=str(child.pid)):
        ProcessId.of(child.pid)


def test_kill_all_spares_a_pid_that_became_another_process() -> None:
    child = sleeper()
    identity = ProcessId.of(child.pid)
    kill_all([ProcessId(child.pid, identity.start - 60)])
    assert identity.alive()
    kill_all([identity])
    assert child.wait(30) == -9


def test_descendants_are_found_at_any_depth() -> None:
    nested = "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'])"
    child = sleeper(nested)
    identity = ProcessId.of(child.pid)
    deadline = time.monotonic() + 30
    while not descendants(identity) and time.monotonic() < deadline:
        time.sleep(0.02)
    family = descendants(identity)
    assert len(family) == 1
    kill_all([identity, *family])
    child.wait()
    assert descendants(identity) == []


def test_supervisor_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GAVEL_SUPERVISOR", raising=False)
    assert supervisor() is None
    monkeypatch.setenv("GAVEL_SUPERVISOR", "12:34.50")
    assert supervisor() == ProcessId(12, 34.5)


def test_free_ports_differ_and_are_free() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    for port in ports[:3]:
        require_free(port)


def test_taken_port_names_port_and_holder(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    code = f"""
import socket, time
s = socket.socket()
s.bind(('127.0.0.1', {port}))
s.listen()
print('up', flush=True)
time.sleep(300)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    with pytest.raises(ServiceError, match=f"port {port} is taken by pid {child.pid} "):
        require_free(port)
    child.kill()
    child.communicate()


@pytest.mark.parametrize("port", [65536, 10**6])
def test_no_such_port(port: int) -> None:
    with pytest.raises(ServiceError, match="no such port"):
        require_free(port)


@pytest.mark.skipif(sys.platform != "linux", reason="prctl")
def test_child_dies_with_its_parent(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "from components.core.services.process import die_with_parent\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'], preexec_fn=die_with_parent)\n"
        "print(p.pid, flush=True)\n"
        "time.sleep(300)\n"
    )
    root = Path(process_module.__file__).parents[3]
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=root)
    assert parent.stdout is not None
    grandchild = ProcessId.of(int(parent.stdout.readline()))
    os.kill(parent.pid, 9)
    parent.communicate()
    deadline = time.monotonic() + 30
    while grandchild.alive() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not grandchild.alive()
