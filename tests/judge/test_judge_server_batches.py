"""Cutting work into batches, and gathering it from many callers."""

import asyncio
import threading
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.judge.server.batcher import Batcher
from components.judge.server.batches import batches
from components.judge.server.engine import Engine
from components.judge.server.jobs import Answer, Job


@given(st.lists(st.integers(1, 100)).map(sorted), st.integers(1, 8), st.integers(1, 300))
def test_batches_keep_order_and_bounds(lengths: list[int], rows: int, tokens: int) -> None:
    parts = list(batches(lengths, lambda length: length, rows=rows, tokens=tokens))
    assert [length for part in parts for length in part] == lengths
    for number, part in enumerate(parts):
        following = parts[number + 1] if number + 1 < len(parts) else None
        assert 1 <= len(part) <= rows
        assert len(part) == 1 or max(part) * len(part) <= tokens
        # No batch ends before it must.
        assert following is None or len(part) == rows or following[0] * (len(part) + 1) > tokens


class Gated:
    """An engine that waits for permission, and keeps what it was given."""

    def __init__(self) -> None:
        self.gate, self.busy = threading.Event(), threading.Event()
        self.batches: list[list[Job]] = []

    def answer(self, jobs: list[Job]) -> list[Answer]:
        self.batches.append(jobs)
        self.busy.set()
        assert self.gate.wait(20)
        return [Answer((), ids=job.ids) for job in jobs]


def job(number: int) -> Job:
    return Job((number,))


def test_work_that_arrives_meanwhile_is_one_batch_and_cancelled_work_is_dropped() -> None:
    engine = Gated()

    async def run() -> None:
        batcher = Batcher(cast(Engine, engine), wait=0.0)
        batcher.start()
        first = asyncio.create_task(batcher.submit([job(0)]))
        await asyncio.to_thread(engine.busy.wait, 20)
        calls = [asyncio.create_task(batcher.submit([job(number), job(10 + number)])) for number in (1, 2, 3)]
        await asyncio.sleep(0.05)
        calls[1].cancel()
        await asyncio.sleep(0.05)
        engine.gate.set()
        assert [answer.ids for answer in await first] == [(0,)]
        assert [answer.ids for answer in await calls[0]] == [(1,), (11,)]
        assert [answer.ids for answer in await calls[2]] == [(3,), (13,)]
        with pytest.raises(asyncio.CancelledError):
            await calls[1]
        await batcher.close()

    asyncio.run(run())
    assert [[each.ids[0] for each in batch] for batch in engine.batches] == [[0], [1, 11, 3, 13]]


def test_closing_frees_those_who_wait() -> None:
    engine = Gated()

    async def run() -> None:
        batcher = Batcher(cast(Engine, engine), wait=0.0)
        batcher.start()
        calls = [asyncio.create_task(batcher.submit([job(0)]))]
        await asyncio.to_thread(engine.busy.wait, 20)
        calls.append(asyncio.create_task(batcher.submit([job(1)])))
        await asyncio.sleep(0.02)
        engine.gate.set()
        await batcher.close()
        for call in calls:
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(call, 5)

    asyncio.run(run())


def test_who_was_answered_and_asks_again_joins_those_who_wait() -> None:
    engine = Gated()

    async def run() -> None:
        batcher = Batcher(cast(Engine, engine), wait=0.0)
        batcher.start()

        async def caller(*numbers: int) -> None:
            for number in numbers:
                await batcher.submit([job(number)])
                # As over a connection: not in the same turn of the loop.
                await asyncio.sleep(0.002)

        first = asyncio.create_task(caller(0, 1))
        await asyncio.to_thread(engine.busy.wait, 20)
        second = asyncio.create_task(caller(10))
        # A batch of a second or more: a share of it is far above the time in which the first caller asks again.
        await asyncio.sleep(1.5)
        engine.gate.set()
        await asyncio.gather(first, second)
        await batcher.close()

    asyncio.run(run())
    assert [sorted(each.ids[0] for each in batch) for batch in engine.batches] == [[0], [1, 10]]
