"""Deadlines of a call and of a sample, and what a cancelled caller leaves behind."""

import asyncio
import contextlib

import pytest
from scripted_wire import Came, Says, ScriptedWire, transport
from virtual_time import now, run

from components.judge.failures import Failure
from components.judge.transport import Reply
from components.judge.verdict import UnknownReason


def test_a_call_has_its_time_limit_and_its_attempts() -> None:
    wire = ScriptedWire(lambda _: Says(seconds=1000.0))

    async def ask() -> tuple[Reply | Failure, float]:
        return await transport(wire, timeout=10.0, attempts=2).post("/v1", {"number": 1}), now()

    got, ended = run(ask())
    assert isinstance(got, Failure)
    assert (got.reason, got.attempts) == (UnknownReason.TIMEOUT, 2)
    # The call's deadline is both time limits together; the wait between them shortens the second.
    assert ended == pytest.approx(20.0, abs=0.3)


@pytest.mark.parametrize("said", [Says(seconds=1000.0), Says(429), Says(503), Says(500, 1.0), Says(None, 0.0)])
def test_no_call_outlives_the_samples_deadline(said: Says) -> None:
    wire = ScriptedWire(lambda _: said)

    async def ask() -> tuple[Reply | Failure, float]:
        calls = transport(wire, timeout=10.0, attempts=100, sample_deadline=25.0)
        return await calls.post("/v1", {"number": 1}), now()

    got, ended = run(ask())
    assert isinstance(got, Failure)
    assert ended <= 25.0 + 1e-6
    assert got.attempts > 1


def test_a_callers_own_deadline_comes_before_the_limits() -> None:
    wire = ScriptedWire(lambda _: Says(seconds=1000.0))

    async def ask() -> tuple[Reply | Failure, float]:
        calls = transport(wire, timeout=10.0, sample_deadline=100.0)
        return await calls.post("/v1", {"number": 1}, deadline=4.0), now()

    got, ended = run(ask())
    assert isinstance(got, Failure)
    assert got.reason is UnknownReason.TIMEOUT
    assert ended == pytest.approx(4.0)


def test_waiting_for_a_turn_counts() -> None:
    """One permit, calls of ten seconds, a deadline of 25: the first two are answered, the third runs out of time."""
    wire = ScriptedWire(lambda _: Says(seconds=10.0))

    async def ask() -> tuple[list[Reply | Failure], float]:
        calls = transport(wire, concurrency=1, timeout=15.0, sample_deadline=25.0)
        return list(await asyncio.gather(*(calls.post("/v1", {"number": n}) for n in range(6)))), now()

    got, ended = run(ask())
    assert [isinstance(each, Reply) for each in got] == [True, True, False, False, False, False]
    assert all(each.reason is UnknownReason.TIMEOUT for each in got if isinstance(each, Failure))
    assert ended == pytest.approx(25.0)


def test_without_a_deadline_a_long_queue_is_waited_for_while_the_judge_answers() -> None:
    wire = ScriptedWire(lambda _: Says(seconds=9.0))

    async def ask() -> list[Reply | Failure]:
        calls = transport(wire, concurrency=1, timeout=10.0, attempts=1)
        return list(await asyncio.gather(*(calls.post("/v1", {"number": n}) for n in range(50))))

    assert all(isinstance(each, Reply) for each in run(ask()))


def test_a_cancelled_call_gives_its_permit_to_the_next() -> None:
    wire = ScriptedWire(lambda came: Says(seconds=1000.0 if came.number < 8 else 1.0))

    async def ask() -> tuple[list[object], int]:
        calls = transport(wire, concurrency=8, timeout=2000.0)
        stuck = [asyncio.create_task(calls.post("/v1", {"number": n})) for n in range(8)]
        others = [asyncio.create_task(calls.post("/v1", {"number": n})) for n in range(8, 20)]
        await asyncio.sleep(5.0)
        assert calls.stats().waiting == 12
        for task in stuck:
            task.cancel()
        got = await asyncio.gather(*others)
        ended = now()
        assert all(isinstance(each, Reply) for each in got)
        assert ended == pytest.approx(7.0)
        return list(await asyncio.gather(*stuck, return_exceptions=True)), calls.stats().in_flight

    ends, left = run(ask())
    assert all(isinstance(each, asyncio.CancelledError) for each in ends)
    assert left == 0


def test_cancelled_waiters_leave_no_gap_in_the_queue() -> None:
    wire = ScriptedWire(lambda _: Says(seconds=1.0))

    async def ask() -> int:
        calls = transport(wire, concurrency=2)
        tasks = [asyncio.create_task(calls.post("/v1", {"number": n})) for n in range(40)]
        await asyncio.sleep(0.5)
        for task in tasks[2::2]:
            task.cancel()
        got = await asyncio.gather(*tasks, return_exceptions=True)
        assert calls.stats().in_flight == calls.stats().waiting == 0
        return sum(isinstance(each, Reply) for each in got)

    assert run(ask()) == 21
    assert sorted(came.number for came in wire.came) == [0, 1, *range(3, 40, 2)]


def test_a_caller_cancelled_as_its_turn_comes_passes_it_on() -> None:
    wire = ScriptedWire(lambda _: Says(seconds=1.0))

    async def ask() -> None:
        calls = transport(wire, concurrency=1, requests_per_minute=6000)
        first = asyncio.create_task(calls.post("/v1", {"number": 0}))
        second = asyncio.create_task(calls.post("/v1", {"number": 1}))
        third = asyncio.create_task(calls.post("/v1", {"number": 2}))
        first.add_done_callback(lambda _: second.cancel())
        got = await third
        assert isinstance(got, Reply)
        with contextlib.suppress(asyncio.CancelledError):
            await second
        assert calls.stats().in_flight == 0

    run(ask())


def test_closing_ends_all_waiting_and_lets_nobody_in() -> None:
    wire = ScriptedWire(lambda _: Says(seconds=5.0))

    async def ask() -> list[Reply | Failure]:
        calls = transport(wire, concurrency=1)
        tasks = [asyncio.create_task(calls.post("/v1", {"number": n})) for n in range(3)]
        await asyncio.sleep(1.0)
        await calls.close()
        await calls.close()
        late = await calls.post("/v1", {"number": 9})
        return [*(await asyncio.gather(*tasks)), late]

    first, *others = run(ask())
    assert isinstance(first, Reply)
    assert all(isinstance(each, Failure) and "closed" in each.detail for each in others)
    assert [came.number for came in wire.came] == [0]


def test_repetitions_go_before_new_callers() -> None:
    def server(came: Came) -> Says:
        return Says(500, 1.0) if came.number == 0 and came.time < 1.0 else Says(seconds=1.0)

    wire = ScriptedWire(server)

    async def ask() -> None:
        calls = transport(wire, concurrency=1, timeout=60.0)
        await asyncio.gather(*(calls.post("/v1", {"number": n}) for n in range(30)))

    run(ask())
    assert 0 in [came.number for came in wire.came][1:4]
