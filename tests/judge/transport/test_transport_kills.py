"""A judge that is killed and started again at random moments: every call is answered right, or fails by name."""

import asyncio
import os
import random
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from components.judge.failures import Failure
from components.judge.transport import Limits, Reply, Transport
from components.judge.verdict import UnknownReason

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
CALLS = 600


class Judge:
    """One server on one port, whose process comes and goes."""

    def __init__(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            self.port = taken.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Returns when it listens."""
        await asyncio.to_thread(self._start)

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "lasting_judge.py"), str(self.port), "0.1"],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


async def judged(seed: int, attempts: int) -> list[Reply | Failure]:
    dice, judge = random.Random(seed), Judge()
    transport = Transport(
        [f"http://127.0.0.1:{judge.port}"], timeout=60.0, attempts=attempts, limits=Limits(concurrency=32)
    )
    tasks = [asyncio.create_task(transport.post("/v1", {"number": number})) for number in range(CALLS)]
    try:
        for _ in range(3):
            await judge.start()
            done = sum(task.done() for task in tasks)
            # Killed among calls under way, however slow the machine is.
            goal = min(CALLS - 40, done + dice.randint(20, 150))
            while sum(task.done() for task in tasks) < goal:  # noqa: ASYNC110  many tasks have no one event
                await asyncio.sleep(dice.uniform(0.0, 0.02))
            judge.kill()
            await asyncio.sleep(dice.uniform(0.0, 0.5))
        await judge.start()
        return list(await asyncio.gather(*tasks))
    finally:
        judge.kill()
        await transport.close()


@pytest.mark.slow
@pytest.mark.suites
def test_every_call_is_answered_right_in_the_end() -> None:
    got = asyncio.run(judged(1, attempts=10))
    assert [each.data["number"] if isinstance(each, Reply) else each for each in got] == list(range(CALLS))
    assert sum(isinstance(each, Reply) and each.attempts > 1 for each in got) >= 3


@pytest.mark.slow
@pytest.mark.suites
def test_what_may_be_asked_once_fails_by_name() -> None:
    got = asyncio.run(judged(3, attempts=1))
    failures = [each for each in got if isinstance(each, Failure)]
    assert {each.reason for each in failures} <= {UnknownReason.JUDGE_DOWN, UnknownReason.STREAM_CUT}
    # Three kills, and no more than 32 calls under way at each.
    assert 1 <= len(failures) <= 3 * 32
    assert all(each.data["number"] == number for number, each in enumerate(got) if isinstance(each, Reply))


def test_a_judge_that_never_comes_ends_all_calls_by_name() -> None:
    judge = Judge()

    async def ask() -> list[Reply | Failure]:
        transport = Transport([f"http://127.0.0.1:{judge.port}"], timeout=0.5, attempts=2, limits=Limits())
        got = await asyncio.gather(*(transport.post("/v1", {"number": number}) for number in range(100)))
        await transport.close()
        return list(got)

    got = asyncio.run(ask())
    assert all(isinstance(each, Failure) and each.reason is UnknownReason.JUDGE_DOWN for each in got)
