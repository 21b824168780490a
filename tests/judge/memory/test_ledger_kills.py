"""kill -9 of real writers at random points, against a judge that counts its own calls over real HTTP."""

import contextlib
import functools
import os
import random
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from components.judge.memory import Ledger

HERE = Path(__file__).parent
KILLS = 50
IN_FLIGHT = 2


@contextlib.contextmanager
def child(*command: str) -> Iterator[subprocess.Popen[str]]:
    path = os.pathsep.join([str(HERE.parents[2]), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def line_of(process: subprocess.Popen[str], question: str | None = None) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    if question is not None:
        process.stdin.write(question + "\n")
        process.stdin.flush()
    return process.stdout.readline().strip()


def wait_for(condition: Callable[[], bool], alive: int | None = None, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        assert alive is None or not gone(alive), "the writer ended by itself"
        time.sleep(0.0005)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def has_reached(counted: Callable[[], int], calls: int) -> bool:
    return counted() >= calls


@pytest.mark.slow
@pytest.mark.suites
def test_fifty_kills_lose_no_more_than_the_calls_in_flight(tmp_path: Path) -> None:
    """Bound of each kill: the ``IN_FLIGHT`` calls under way; over all of them: 1 % of the judge's count."""
    counter, path = tmp_path / "count", tmp_path / "ledger.sqlite"
    counter.write_bytes(bytes(8))
    dice = random.Random(11)

    def counted() -> int:
        return int(struct.unpack("q", counter.read_bytes())[0])

    lost_before = verdicts_lost_before = 0
    with contextlib.ExitStack() as stack:
        url = line_of(stack.enter_context(child(str(HERE / "counting_server.py"), str(counter))))
        writer = stack.enter_context(child(str(HERE / "calling_writer.py"), str(path), url, str(IN_FLIGHT)))
        for _ in range(KILLS):
            began = counted()
            pid = int(line_of(writer, "go"))
            # Exponential: many kills come early, some while the ledger is being opened, and some after long work.
            calls = int(dice.expovariate(1 / 280))
            if calls:
                wait_for(functools.partial(has_reached, counted, began + calls), alive=pid)
            time.sleep(dice.uniform(0.0, 0.004 if calls else 0.05))
            os.kill(pid, signal.SIGKILL)
            wait_for(functools.partial(gone, pid))
            # What the dead writer had sent may still lie at the server's door.
            time.sleep(0.01)
            with Ledger(path) as ledger:
                ((known, tokens),) = ledger.select("SELECT SUM(attempts), SUM(prompt_tokens) FROM calls")
                ((verdicts,),) = ledger.select("SELECT COUNT(*) FROM verdicts")
                ((double,),) = ledger.select("SELECT COUNT(*) - COUNT(DISTINCT sample_id) FROM calls")
            known = known or 0
            lost, verdicts_lost = counted() - known, known - verdicts
            assert 0 <= lost - lost_before <= IN_FLIGHT
            assert 0 <= verdicts_lost - verdicts_lost_before <= IN_FLIGHT
            assert (tokens or 0) == 100 * known
            assert double == 0
            lost_before, verdicts_lost_before = lost, verdicts_lost
        total = counted()
    print(f"{total} calls counted by the judge, {lost_before} of them lost in {KILLS} kills")
    assert lost_before <= 0.01 * total
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert not list(tmp_path.glob("*.tail-*"))
