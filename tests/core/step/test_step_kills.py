"""Kills, two processes at once, and supervisors that vanish."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from step_samples import wait_for

from components.core.services.process import ProcessId
from components.core.step import runlog

Launch = Callable[..., "subprocess.Popen[str]"]


def output(process: "subprocess.Popen[str]") -> str:
    return process.communicate(timeout=90)[0]


def begun(state: Path) -> Path:
    for _ in range(3000):
        found = list((state / "work").rglob("begun"))
        if found:
            return found[0]
        time.sleep(0.02)
    raise TimeoutError


def test_killed_step_goes_on_from_its_work(launch: Launch, state: Path) -> None:
    first = launch("slow")
    begun(state)
    first.send_signal(signal.SIGKILL)
    assert first.wait(30) == -signal.SIGKILL
    assert runlog.read(runlog.log_path(state)) == []
    (state / "go").touch()
    assert "PUBLISHED False start 1" in output(launch("slow"))
    assert "PUBLISHED True start 1" in output(launch("slow"))
    assert (state / "calls-slow").read_text() == ".."
    assert [line.status for line in runlog.read(runlog.log_path(state))] == ["ran", "reused"]


def test_two_at_once_do_the_work_once(launch: Launch, state: Path) -> None:
    first = launch("slow")
    begun(state)
    second = launch("slow")
    assert second.stdout is not None
    line = second.stdout.readline()
    assert f"waiting for another process on the same result: pid {first.pid}" in line
    (state / "go").touch()
    assert "PUBLISHED False" in output(first)
    assert "PUBLISHED True" in output(second)
    assert (state / "calls-slow").read_text() == "."


def test_second_process_gives_up_at_the_limit(launch: Launch, state: Path) -> None:
    first = launch("slow")
    begun(state)
    second = launch("slow", GAVEL_LOCK_WAIT="0.5")
    text = output(second)
    assert second.returncode == 1
    assert f"another process works on the same result: pid {first.pid}" in text
    assert "Traceback" not in text


def supervisor() -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])


def test_step_ends_with_its_supervisor_and_takes_all_it_started_along(launch: Launch, state: Path) -> None:
    command = supervisor()
    step = launch("brood", GAVEL_SUPERVISOR=str(ProcessId.of(command.pid)))
    wait_for(state / "brood-is-up")
    pids = [ProcessId.of(int((state / name).read_text())) for name in ("pid-child", "pid-session", "pid-orphan")]
    assert all(pid.alive() for pid in pids)
    command.kill()
    command.wait()
    assert "is gone: ending this step" in output(step)
    assert step.returncode == 70
    assert not any(pid.alive() for pid in pids)


def test_pid_that_became_another_process_is_no_supervisor(launch: Launch, state: Path) -> None:
    mine = ProcessId.current()
    step = launch("slow", GAVEL_SUPERVISOR=str(ProcessId(mine.pid, mine.start - 1000)))
    output(step)
    assert step.returncode == 70


def test_step_goes_on_while_its_supervisor_lives(launch: Launch, state: Path) -> None:
    step = launch("slow", GAVEL_SUPERVISOR=str(ProcessId.current()))
    begun(state)
    with pytest.raises(subprocess.TimeoutExpired):
        step.wait(1.5)
    (state / "go").touch()
    assert "PUBLISHED False" in output(step)


def test_gavel_errors_are_plain_and_others_have_a_traceback(launch: Launch, state: Path) -> None:
    failed, crashed = launch("fail"), launch("crash")
    text = output(failed)
    assert failed.returncode == 1
    assert "step fail failed: the policy cannot be trained" in text
    assert "remedy: use more steps" in text
    assert "Traceback" not in text
    text = output(crashed)
    assert crashed.returncode == 1
    assert "Traceback" in text
    assert text.rstrip().endswith("step crash failed: ZeroDivisionError: never planned for")
    assert sorted(line.step for line in runlog.read(runlog.log_path(state))) == ["crash", "fail"]


def test_odd_supervisor_is_an_error_not_a_hang(launch: Launch, state: Path) -> None:
    step = launch("slow", GAVEL_SUPERVISOR="nonsense")
    assert "not pid:start" in output(step)
    assert step.returncode == 1
    assert os.environ.get("GAVEL_SUPERVISOR") is None


def test_the_watchdog_ends_a_step_whose_output_nobody_reads_any_more(tmp_path: Path) -> None:
    supervisor = (
        "import os, subprocess, sys, time\n"
        "from components.core.services.process import ProcessId\n"
        "os.environ['GAVEL_SUPERVISOR'] = str(ProcessId.current())\n"
        "pipe = subprocess.PIPE\n"
        "child = subprocess.Popen([sys.executable, '-c', sys.argv[1]], stdout=pipe, stderr=pipe)\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    step = "import time\nfrom components.core.step.watchdog import start_watchdog\nstart_watchdog()\ntime.sleep(600)\n"
    process = subprocess.Popen([sys.executable, "-c", supervisor, step], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    child = psutil.Process(int(process.stdout.readline()))
    time.sleep(3)
    process.kill()
    process.wait()
    gone, alive = psutil.wait_procs([child], timeout=20)
    for left in alive:
        left.kill()
    assert gone
