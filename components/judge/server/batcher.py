"""Gathers the jobs of all connections into batches for the one thread that computes."""

import asyncio
import concurrent.futures
from collections.abc import Sequence

from components.judge.server.engine import Engine
from components.judge.server.jobs import Answer, Job

_SHARE = 0.04
"""Of the last batch's time: whoever was answered needs a moment to ask again. A batch that began at once would go
without them, and with half of the callers in turn each; prompts that begin alike would fall apart."""

_LONGEST_WAIT = 0.25
"""Seconds."""


class Batcher:
    """Queue in front of the engine.

    While the engine computes, jobs gather; when it is idle, the first job waits for company: ``wait`` seconds, or a
    small share of what the last batch took.

    Args:
        engine: computes batches, in a thread of its own.
        wait: seconds that an idle engine waits for further jobs, at least.
        most: jobs handed to the engine at once; it sorts and splits them. More would sort better, but a caller who
            gave up meanwhile is still computed for.
    """

    def __init__(self, engine: Engine, *, wait: float = 0.003, most: int = 64) -> None:
        self._engine = engine
        self._wait = wait
        self._most = most
        self._waiting: list[tuple[Job, asyncio.Future[Answer]]] = []
        self._taken: list[asyncio.Future[Answer]] = []
        self._arrived = asyncio.Event()
        self._thread = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="engine")
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to serve; needs a running loop."""
        self._task = asyncio.create_task(self._serve())

    async def submit(self, jobs: Sequence[Job]) -> list[Answer]:
        """Answers to ``jobs`` in order. Cancelling the call drops those that no batch has taken yet."""
        if self._task is not None and self._task.done():
            raise RuntimeError("the engine has stopped")
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Answer]] = [loop.create_future() for _ in jobs]
        self._waiting.extend(zip(jobs, futures, strict=True))
        self._arrived.set()
        try:
            return list(await asyncio.gather(*futures))
        finally:
            for future in futures:
                future.cancel()

    async def close(self) -> None:
        """Stop serving; whoever still waits is cancelled."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for future in [*self._taken, *(future for _, future in self._waiting)]:
            future.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        last = 0.0
        while True:
            await self._arrived.wait()
            if len(self._waiting) < self._most:
                await asyncio.sleep(max(self._wait, min(_SHARE * last, _LONGEST_WAIT)))
            live = [pair for pair in self._waiting if not pair[1].done()]
            batch, self._waiting = live[: self._most], live[self._most :]
            if not self._waiting:
                self._arrived.clear()
            if not batch:
                continue
            self._taken = [future for _, future in batch]
            began = loop.time()
            try:
                answers = await loop.run_in_executor(self._thread, self._engine.answer, [job for job, _ in batch])
            except (RuntimeError, MemoryError) as error:
                for _, future in batch:
                    if not future.done():
                        future.set_exception(RuntimeError(f"the engine failed: {error}"))
                continue
            last = loop.time() - began
            for (_, future), answer in zip(batch, answers, strict=True):
                if not future.done():
                    future.set_result(answer)
