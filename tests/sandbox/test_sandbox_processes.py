"""No process outlives its call, its warden or its parent."""

import asyncio
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from components.core.errors import ServiceError
from components.sandbox.limits import Limits
from components.sandbox.outcome import JSON, Failure, FailureKind, Outcome, Value
from components.sandbox.sandbox import Sandbox
from components.sandbox.warden import GoneError, Prelude, Warden

ROOT = Path(__file__).parents[2]
Forking = Callable[[str, list[JSON]], Awaitable[Outcome]]

SCATTER = """
import os
def f(marker, leave):
    def sleeper(): os.execv("/bin/sleep", ["sleep", "1000", "0." + marker])
    def attempt(act):
        try: act()
        except OSError: pass
    if os.fork() == 0:
        sleeper()
    if os.fork() == 0:                 # forks twice: its child's parent is gone
        if os.fork() == 0:
            sleeper()
        os._exit(0)
    if os.fork() == 0:                 # leaves session and group, where it may
        attempt(os.setsid)
        if os.fork() == 0:
            attempt(os.setpgrp)
            sleeper()
        os._exit(0)
    import time; time.sleep(0.3)
    while leave: time.sleep(1)
    return True
"""


def marked(marker: str) -> list[int]:
    """Pids of processes that have the marker among their arguments."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if f"0.{marker}".encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


@pytest.fixture
def marker() -> str:
    return str(secrets.randbelow(10**15) + 10**15)


async def scattered(marker: str) -> bool:
    """Waits for the three processes that are to be left."""
    for _ in range(400):
        if len(marked(marker)) == 3:
            return True
        await asyncio.sleep(0.05)
    return False


def gone(marker: str, seconds: float = 30.0) -> bool:
    deadline = time.monotonic() + seconds
    while marked(marker):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


async def test_scattered_descendants_end_with_the_call(forking: Forking, marker: str) -> None:
    outcome = await forking(SCATTER, [marker, False])
    assert isinstance(outcome, Value), outcome
    assert marked(marker) == []


async def test_scattered_descendants_end_with_the_time_limit(forking: Forking, marker: str) -> None:
    call = asyncio.ensure_future(forking(SCATTER, [marker, True]))
    assert await scattered(marker)
    outcome = await call
    assert isinstance(outcome, Failure)
    assert outcome.kind is FailureKind.TIMEOUT
    assert marked(marker) == []


async def test_both_sides_of_a_fork_returning_is_one_answer(forking: Forking) -> None:
    outcome = await forking("import os\ndef f():\n pid = os.fork()\n return pid > 0", [])
    assert isinstance(outcome, Value)
    assert outcome.value is True


async def test_fork_bomb_meets_a_limit(level: str, forking: Forking) -> None:
    if level == "filter" and os.geteuid() != 0:
        pytest.skip("without namespaces a plain user's processes are not counted apart")
    source = "import os\ndef f():\n while True:\n  if os.fork() == 0:\n   import time; time.sleep(100)"
    outcome = await forking(source, [])
    assert isinstance(outcome, Failure)
    assert "temporarily unavailable" in outcome.detail


@pytest.mark.parametrize("kind", ["processes", "threads"])
async def test_no_more_than_the_limit_of_processes_start(level: str, forking: Forking, kind: str) -> None:
    """Counted by id, which root's own is not: 8 of the call's limits and 32 for threads, the first one included."""
    if level == "filter" and os.geteuid() != 0:
        pytest.skip("without namespaces a plain user's processes are not counted apart")
    start = {
        "processes": "if os.fork() == 0:\n    time.sleep(100)\n    os._exit(0)",
        "threads": "threading.Thread(target=time.sleep, args=(100,)).start()",
    }[kind]
    source = (
        "import os, threading, time\ndef f():\n threading.stack_size(65536)\n for n in range(400):\n"
        f"  try:\n   {start}\n  except (OSError, RuntimeError): return n\n return 400"
    )
    outcome = await forking(source, [])
    assert isinstance(outcome, Value), outcome
    assert isinstance(outcome.value, int)
    assert 8 <= outcome.value < 40


async def test_killed_warden_is_a_failure_and_the_next_call_works(level: str, marker: str) -> None:
    others = children(os.getpid())
    sandbox = Sandbox(Limits(wall_seconds=60.0, processes=4), level=level, concurrency=1)
    try:
        call = asyncio.ensure_future(sandbox.run(SCATTER, "f", [marker, True]))
        assert await scattered(marker)
        (warden,) = children(os.getpid()) - others
        os.kill(warden, signal.SIGKILL)
        outcome = await call
        assert isinstance(outcome, Failure)
        assert outcome.kind is FailureKind.KILLED
        if level == "namespaces":
            assert gone(marker)
        again = await sandbox.run("def f(): return 3", "f")
        assert isinstance(again, Value)
        assert again.value == 3
    finally:
        await sandbox.close()
        for pid in marked(marker):
            os.kill(pid, signal.SIGKILL)


def children(pid: int) -> set[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return {int(child) for task in tasks for child in (task / "children").read_text().split()}


def test_all_end_with_the_parent(level: str, marker: str) -> None:
    script = (
        "import asyncio, sys\nfrom components.sandbox.sandbox import Sandbox\n"
        "from components.sandbox.limits import Limits\n"
        f"asyncio.run(Sandbox(Limits(wall_seconds=60.0, processes=4), level={level!r})"
        f".run({SCATTER!r}, 'f', [{marker!r}, True]))"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT)
    assert asyncio.run(scattered(marker))
    parent.kill()
    parent.wait()
    assert gone(marker)


async def test_many_calls_at_once_keep_their_arguments(level: str) -> None:
    sandbox = Sandbox(level=level, concurrency=2)
    try:
        outcomes = await asyncio.gather(*(sandbox.run("def f(n): return n * n", "f", [n]) for n in range(40)))
    finally:
        await sandbox.close()
    assert [outcome.value for outcome in outcomes if isinstance(outcome, Value)] == [n * n for n in range(40)]


async def test_closed_sandbox_refuses(level: str) -> None:
    sandbox = Sandbox(level=level)
    await sandbox.close()
    await sandbox.close()
    with pytest.raises(ServiceError, match="closed"):
        await sandbox.run("", "f")


async def test_prelude_is_there_and_unchanged_in_each_call(level: str) -> None:
    prelude = Prelude("import string\nseen = []\ndef add(x):\n seen.append(x)\n return len(seen)")
    sandbox = Sandbox(level=level, concurrency=1, prelude=prelude)
    try:
        outcomes = [await sandbox.run("", "add", ["x"]) for _ in range(3)]
    finally:
        await sandbox.close()
    assert [outcome.value for outcome in outcomes if isinstance(outcome, Value)] == [1, 1, 1]


def test_broken_prelude_is_told(level: str) -> None:
    with pytest.raises(GoneError, match="ZeroDivisionError"):
        Warden(level, Prelude("1/0"))


def test_unknown_level_is_refused() -> None:
    with pytest.raises(ValueError, match="namespaces, filter"):
        Sandbox(level="none")
