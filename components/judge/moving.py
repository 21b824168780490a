"""A judge that is looked for again when it does not answer: restarted, it may stand at another address."""

import collections
from collections.abc import Callable

from components.core.errors import JudgeError
from components.judge.base import Judge
from components.judge.verdict import Sample, UnknownReason, Verdict

_AWAY = frozenset({UnknownReason.JUDGE_DOWN, UnknownReason.TIMEOUT, UnknownReason.REJECTED})
"""What is heard from an address that nobody, or somebody else, has by now."""


class MovingJudge:
    """Implements :class:`components.judge.base.Judge`. For one event loop.

    Args:
        find: the judge's address now; raises JudgeError where none is known.
        build: makes the judge at an address.

    Raises:
        JudgeError: it cannot be found or built at first.
    """

    def __init__(self, find: Callable[[], str], build: Callable[[str], Judge]) -> None:
        self._find, self._build = find, build
        self._address = find()
        self._judge = build(self._address)
        self._under_way: collections.Counter[Judge] = collections.Counter()

    async def judge(self, sample: Sample) -> list[Verdict]:
        """One verdict a criterion; asked once more, at the new address, if the judge was away and has moved."""
        asked = self._judge
        verdicts = await self._ask(asked, sample)
        if any(verdict.reason in _AWAY for verdict in verdicts):
            await self._follow()
            if self._judge is not asked:
                return await self._ask(self._judge, sample)
        return verdicts

    async def close(self) -> None:
        """Release the connections; those of former addresses are released as their last sample ends."""
        await self._judge.close()

    async def _ask(self, judge: Judge, sample: Sample) -> list[Verdict]:
        self._under_way[judge] += 1
        try:
            return await judge.judge(sample)
        finally:
            self._under_way[judge] -= 1
            await self._release(judge)

    async def _follow(self) -> None:
        """Go on at the judge's present address, if it is known and another one."""
        try:
            address = self._find()
        except JudgeError:
            # Not there again so far.
            return
        if address != self._address:
            former = self._judge
            self._judge, self._address = self._build(address), address
            await self._release(former)

    async def _release(self, judge: Judge) -> None:
        if judge is not self._judge and not self._under_way[judge]:
            del self._under_way[judge]
            await judge.close()
