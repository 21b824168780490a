"""Equal questions are asked once, and nobody waits for, or dies with, another's cancellation."""

import asyncio

import pytest

from components.judge.flights import Flights


async def test_callers_at_once_share_one_run_and_later_ones_do_not() -> None:
    flights: Flights[str, int] = Flights()
    runs = 0

    async def make() -> int:
        nonlocal runs
        runs += 1
        mine = runs
        await asyncio.sleep(0.01)
        return mine

    first = await asyncio.gather(*(flights.run("a", make) for _ in range(5)), flights.run("b", make))
    assert sorted(value for value, _ in first) == [1, 1, 1, 1, 1, 2]
    assert [mine for _, mine in first] == [True, False, False, False, False, True]
    assert await flights.run("a", make) == (3, True)


async def test_an_error_reaches_every_caller_and_is_not_kept() -> None:
    flights: Flights[str, int] = Flights()

    async def fail() -> int:
        await asyncio.sleep(0)
        raise ValueError("no")

    found = await asyncio.gather(flights.run("a", fail), flights.run("a", fail), return_exceptions=True)
    assert [type(each) for each in found] == [ValueError, ValueError]

    async def work() -> int:
        return 1

    assert await flights.run("a", work) == (1, True)


async def test_a_cancelled_caller_leaves_the_others_their_result() -> None:
    flights: Flights[str, int] = Flights()

    async def make() -> int:
        await asyncio.sleep(0.02)
        return 7

    leader = asyncio.create_task(flights.run("a", make))
    follower = asyncio.create_task(flights.run("a", make))
    await asyncio.sleep(0.001)
    leader.cancel()
    assert await follower == (7, False)
    with pytest.raises(asyncio.CancelledError):
        await leader


async def test_the_last_caller_s_cancellation_ends_the_run_and_the_key_is_free_at_once() -> None:
    flights: Flights[str, int] = Flights()
    ended = asyncio.Event()

    async def hang() -> int:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return 0

    async def quick() -> int:
        return 1

    only = asyncio.create_task(flights.run("a", hang))
    await asyncio.sleep(0.001)
    only.cancel()
    with pytest.raises(asyncio.CancelledError):
        await only
    assert await flights.run("a", quick) == (1, True)
    await asyncio.wait_for(ended.wait(), 1)
