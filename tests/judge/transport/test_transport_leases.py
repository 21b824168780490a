"""Permits and rates that processes share; the processes are real, and so are the kills."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.judge.transport.leases import Lease, LeaseFile, SharedBucket

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


@contextlib.contextmanager
def process(script: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    made = subprocess.Popen(
        [sys.executable, str(HERE / script), *(str(each) for each in arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        yield made
    finally:
        made.kill()
        made.communicate()


def line(made: subprocess.Popen[str]) -> str:
    assert made.stdout is not None
    return made.stdout.readline().strip()


def begin(made: subprocess.Popen[str]) -> None:
    assert made.stdin is not None
    made.stdin.write("\n")
    made.stdin.flush()


@contextlib.contextmanager
def judge(peak: Path, seconds: float) -> Iterator[str]:
    with process("lasting_judge.py", 0, seconds, peak) as made:
        yield f"http://127.0.0.1:{line(made)}"


@pytest.mark.slow
@pytest.mark.suites
def test_processes_together_keep_to_the_limit(tmp_path: Path) -> None:
    """Three processes, one of them late, and twelve permits."""
    with judge(tmp_path / "peak", 0.05) as url, contextlib.ExitStack() as stack:
        callers = [
            stack.enter_context(process("leasing_caller.py", url, tmp_path / "leases", 12, 150, 1000 * each))
            for each in range(3)
        ]
        assert [line(caller) for caller in callers] == ["ready"] * 3
        begin(callers[0])
        begin(callers[1])
        time.sleep(0.3)
        begin(callers[2])
        assert [line(caller) for caller in callers] == ["150"] * 3
    most, came = map(int, (tmp_path / "peak").read_text().split())
    assert came == 450
    assert 6 <= most <= 12


@pytest.mark.slow
@pytest.mark.suites
def test_the_permits_of_a_killed_process_come_back(tmp_path: Path) -> None:
    """It holds all eight when it is killed; the other gets them after ten seconds, and the sum is never above."""
    with judge(tmp_path / "peak", 0.2) as url, contextlib.ExitStack() as stack:
        killed, other = (
            stack.enter_context(process("leasing_caller.py", url, tmp_path / "leases", 8, count, first))
            for count, first in ((10_000, 0), (60, 100_000))
        )
        assert line(killed) == line(other) == "ready"
        begin(killed)
        while not (tmp_path / "peak").exists() or int((tmp_path / "peak").read_text().split()[0]) < 8:
            time.sleep(0.02)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        begin(other)
        assert line(other) == "60"
    assert int((tmp_path / "peak").read_text().split()[0]) == 8


def lease(folder: Path, total: int) -> Lease:
    return Lease(LeaseFile(folder, ["http://judge"]), total)


def test_alone_a_process_has_all(tmp_path: Path) -> None:
    one = lease(tmp_path, 16)
    one.beat(0.0, 0, 1)
    assert one.allowed == 16


def test_two_processes_settle_at_halves_and_the_last_gets_all_back(tmp_path: Path) -> None:
    one, two = lease(tmp_path, 16), lease(tmp_path, 16)
    one.beat(0.0, 16, 100)
    two.beat(0.1, 0, 100)
    # The first holds what is under way; the second says that it wants some.
    assert (one.allowed, two.allowed) == (16, 0)
    one.beat(0.5, 16, 100)
    assert one.allowed == 8
    two.beat(0.6, 0, 100)
    assert two.allowed == 0
    one.beat(1.0, 8, 100)
    two.beat(1.1, 0, 100)
    assert (one.allowed, two.allowed) == (8, 8)
    one.close()
    two.beat(1.5, 8, 100)
    assert two.allowed == 16


def test_what_is_not_renewed_for_ten_seconds_is_free(tmp_path: Path) -> None:
    one, two = lease(tmp_path, 16), lease(tmp_path, 16)
    one.beat(0.0, 16, 100)
    two.beat(9.9, 0, 100)
    assert two.allowed == 0
    two.beat(10.1, 0, 100)
    assert two.allowed == 16


MOVES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40), st.floats(0.0, 2.0)), max_size=60)


@settings(max_examples=20)
@given(st.integers(1, 40), MOVES)
def test_the_sum_never_exceeds_the_total(
    tmp_path_factory: pytest.TempPathFactory, total: int, moves: list[tuple[int, int, float]]
) -> None:
    """Four processes, each with as many calls under way as it may have and wants, at every step."""
    folder = tmp_path_factory.mktemp("leases")
    leases = [lease(folder, total) for _ in range(4)]
    under_way, now = [0] * 4, 0.0
    for which, need, step in moves:
        now += step / 4.0
        for each in range(4):
            leases[each].beat(now, under_way[each], need if each == which else under_way[each])
            under_way[each] = min(leases[each].allowed, need) if each == which else under_way[each]
            under_way[each] = under_way[each] if each == which else min(under_way[each], leases[each].allowed)
            assert sum(under_way) <= total


def test_a_locked_file_changes_nothing_for_ten_seconds(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    one, other = lease(tmp_path, 16), LeaseFile(tmp_path, ["http://judge"])
    two = lease(tmp_path, 16)
    one.beat(0.0, 16, 100)
    two.beat(0.0, 0, 100)
    with other.change():
        two.beat(5.0, 0, 100)
        assert two.allowed == 0
        one.beat(5.0, 16, 100)
        assert one.allowed == 16
        assert not caplog.records
        two.beat(20.0, 0, 100)
    assert two.allowed == 16
    assert len(caplog.records) == 1


def test_a_file_that_is_none_of_ours_shares_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = LeaseFile(tmp_path, ["http://judge"])
    file.path.write_bytes(b"this is no database, whatever its name says" * 100)
    one = Lease(file, 16)
    for second in range(3):
        one.beat(float(second), 0, 5)
        assert one.allowed == 16
    assert len(caplog.records) == 1
    assert "not shared" in caplog.text


def test_a_rate_is_shared(tmp_path: Path) -> None:
    """600 a minute for two processes that press: together no more than that in any minute, and nine tenths of it."""
    buckets = [SharedBucket(LeaseFile(tmp_path, ["http://judge"]), "requests-0", 600.0, 0.0) for _ in range(2)]
    taken: list[float] = []
    steps = 0
    while steps < 120 * 20:
        now = steps / 20.0
        for bucket in buckets:
            while bucket.wait(1.0, now) == 0.0:
                bucket.take(1.0, now)
                taken.append(now)
        steps += 1
    assert max(sum(begin <= time < begin + 60.0 for time in taken) for begin in sorted(set(taken))) <= 600
    assert len(taken) >= 0.9 * 1200


@pytest.mark.parametrize("cost", [150.0, 3500.0, 5000.0])
def test_large_calls_keep_to_the_limit_of_every_minute(tmp_path: Path, cost: float) -> None:
    limit, now = 6000.0, 1000.0
    bucket = SharedBucket(LeaseFile(tmp_path, ["u"]), "t", limit, now)
    taken: list[float] = []
    while now < 1400.0:
        if bucket.wait(cost, now) <= 0.0:
            bucket.take(cost, now)
            taken.append(now)
        now += 0.25
    assert len(taken) >= 3
    assert max(sum(cost for at in taken if start <= at < start + 60.0) for start in taken) <= limit
