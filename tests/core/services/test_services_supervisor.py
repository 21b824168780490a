"""The supervising command: one a state folder, and nothing outlives it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from components.core.errors import ServiceError
from components.core.services.manager import ServiceManager
from components.core.services.process import ProcessId, guarded
from components.core.services.record import read_record
from components.core.services.state import source_root
from components.core.services.supervisor import supervise

Gone = Callable[[ProcessId], bool]
PROGRAM = Path(__file__).with_name("service_sample.py")
COMMAND = """
import signal, subprocess, sys, time
from pathlib import Path
from components.core.services.manager import ServiceSpec
from components.core.services.supervisor import supervise
state, program = Path(sys.argv[1]), sys.argv[2]
# A shell without a terminal starts background jobs with SIGINT ignored, and Python leaves it so.
signal.signal(signal.SIGINT, signal.default_int_handler)
with supervise(state) as manager:
    service = manager.start(ServiceSpec("judge", [sys.executable, program, "{port}", "stubborn"], grace=0.2))
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], stdout=subprocess.DEVNULL)
    print(service.process.pid, child.pid, flush=True)
    if "leave" not in sys.argv:
        # As KFP's local runner waits for a step; when it is left by an error, this awaits the child once more.
        with child:
            child.wait()
"""


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Callable[..., tuple["subprocess.Popen[str]", ProcessId, ProcessId]]]:
    """Starts a supervising command with one service and one child."""
    started: list[subprocess.Popen[str]] = []

    def start(*more: str) -> tuple["subprocess.Popen[str]", ProcessId, ProcessId]:
        arguments = [sys.executable, "-c", COMMAND, str(tmp_path / "state"), str(PROGRAM), *more]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, cwd=source_root())
        started.append(process)
        assert process.stdout is not None
        line = process.stdout.readline().split()
        if more:
            return process, ProcessId(0, 0), ProcessId(0, 0)
        service, child = (ProcessId.of(int(pid)) for pid in line)
        return process, service, child

    yield start
    for process in started:
        if process.poll() is None:
            process.terminate()
        process.communicate()


def test_second_command_is_refused_and_told_of_the_first(command: Callable[..., object], tmp_path: Path) -> None:
    process, _, _ = command()  # type: ignore[misc]
    expected = f"another run .* pid {process.pid} since"
    with pytest.raises(ServiceError, match=expected) as caught, supervise(tmp_path / "state"):
        raise AssertionError("not to be reached")
    assert "GAVEL_STATE" in caught.value.remedy


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_services_and_children_end_however_the_command_ends(
    command: Callable[..., object], gone: Gone, tmp_path: Path, number: signal.Signals
) -> None:
    process, service, child = command()  # type: ignore[misc]
    program = [ProcessId.of(c.pid) for c in _children(service)]
    assert program
    process.send_signal(number)
    process.wait(30)
    assert gone(service)
    assert all(gone(one) for one in program)
    if number == signal.SIGKILL:
        # Nobody was left to end the plain child: that is what the step's own watchdog and the guard are for.
        os.kill(child.pid, signal.SIGKILL)
    assert gone(child)
    with supervise(tmp_path / "state") as manager:
        assert manager.running() == []
        assert read_record(tmp_path / "state", "judge") is None


def _children(process: ProcessId) -> list[ProcessId]:
    from components.core.services.process import descendants

    return descendants(process)


def test_normal_end_ends_everything(command: Callable[..., object], gone: Gone, tmp_path: Path) -> None:
    process, _, _ = command("leave")  # type: ignore[misc]
    assert process.wait(30) == 0
    assert ServiceManager(tmp_path / "state").running() == []


def test_environment_is_for_children_and_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GAVEL_SUPERVISOR", raising=False)
    monkeypatch.setenv("GAVEL_STATE", "before")
    before = signal.getsignal(signal.SIGTERM)
    with supervise(tmp_path / "state") as manager:
        assert os.environ["GAVEL_SUPERVISOR"] == str(ProcessId.current())
        assert os.environ["GAVEL_STATE"] == str(tmp_path / "state")
        assert manager.owner.same(ProcessId.current())
    assert "GAVEL_SUPERVISOR" not in os.environ
    assert os.environ["GAVEL_STATE"] == "before"
    assert signal.getsignal(signal.SIGTERM) is before


def test_guard_ends_its_program_and_all_that_it_started_when_the_owner_is_killed(gone: Gone, tmp_path: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    program = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'], start_new_session=True)\n"
        "print(p.pid, flush=True)\n"
        "time.sleep(300)\n"
    )
    left = tmp_path / "left.sock"
    left.touch()
    command = guarded([sys.executable, "-c", program], ProcessId.of(owner.pid), grace=5, unlink=[str(left)])
    guard = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=source_root())
    assert guard.stdout is not None
    far = ProcessId.of(int(guard.stdout.readline()))
    near = _children(ProcessId.of(guard.pid))
    assert len(near) == 2
    assert left.exists()
    owner.kill()
    owner.wait()
    assert all(gone(process) for process in [far, *near])
    assert guard.wait(30) == 128 + signal.SIGTERM
    assert not left.exists()


@pytest.mark.parametrize(("code", "status"), [("pass", 0), ("raise SystemExit(5)", 5)])
def test_guard_passes_the_exit_status_on(code: str, status: int) -> None:
    command = guarded([sys.executable, "-c", code], ProcessId.current())
    assert subprocess.run(command, cwd=source_root(), check=False, timeout=60).returncode == status


@pytest.mark.skipif(sys.platform != "linux", reason="prctl")
def test_killed_guard_takes_its_program_along(gone: Gone) -> None:
    command = guarded([sys.executable, "-c", "print(1, flush=True); import time; time.sleep(300)"], ProcessId.current())
    guard = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=source_root())
    assert guard.stdout is not None
    guard.stdout.readline()
    (program,) = _children(ProcessId.of(guard.pid))
    guard.kill()
    guard.wait()
    assert gone(program)
