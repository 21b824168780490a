"""Holds a run whose judge has stopped judging, and ends it if the judge stays away: the policy never trains on the few
samples that get through."""

import asyncio
import collections
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NoReturn

from components.core.errors import JudgeError
from components.reward.judgement import Judgement
from components.reward.remedies import NO_TEXT, remedy_for, what_was_lost

PAUSED = "paused.txt"
"""Name of the file that is there while judging is held, with one line for people."""

WINDOW = 64
"""Samples looked back on."""

MINIMUM = 16
"""Samples that must be seen before the rate means anything."""

FIRST_WAIT, LONGEST_WAIT = 2.0, 30.0
"""Seconds between two questions to a judge that is away: doubled from the first to the longest."""

SHORT_PAUSE = 120.0
"""Seconds that a judge of unreadable replies is given, within the longest pause: a server that is being restarted, or a
gateway in trouble, answers garbage for a while."""

NO_USE_IN_WAITING = "waiting does not mend this"

AFTER_THE_END = 60.0
"""Seconds that samples are held once the run's end is reported; the step that watches the trainer ends it sooner."""


def _abstained(found: Judgement) -> bool:
    return found.abstained


def _lasting(found: Judgement) -> bool:
    return found.lasting


def _hopeless(found: Judgement) -> bool:
    return found.hopeless


class AbstainGuard:
    """Watches the share of abstained samples among the newest ones, and pauses all judging while it is too high.

    In a pause one sample at a time asks the judge, again and again. Once it gets a reward, those that waited are judged
    again and the run goes on; when the pause has lasted too long, the run ends. It ends at once where too many samples
    abstain for reasons that no waiting mends (a wrong key, say), and at the first sample that the budget does not pay
    for, after those under way. Replies that cannot be read get one short pause (:data:`SHORT_PAUSE`); if they come
    again within :data:`WINDOW` samples after it, the run ends.

    An empty response is no failure of the judge: it abstains, and counts neither for nor against the judge. A run whose
    policy writes nothing else for ``most_empty`` samples in a row ends too, since the trainer would replace its groups
    for ever.

    Args:
        max_rate: largest share of abstained samples among the newest :data:`WINDOW`.
        fatal_file: where the end of the run is reported, for the step that watches the trainer; while judging is held,
            :data:`PAUSED` beside it says why.
        judge: name of the judge, for messages.
        executor: name of the executor model of an experiment with workflows, which messages then speak of; None where
            there is none.
        pause_seconds: longest pause; 0 ends the run at once.
        words: what the judge or its server said of late when it failed; None when it said nothing.
        unpaid: the error of a run whose budget is used up.
        most_empty: empty responses in a row that end the run.
        clock: monotonic seconds.
        sleep: waits.
        say: prints a line; the trainer's output is also its sign of life.
    """

    def __init__(
        self,
        max_rate: float,
        fatal_file: Path,
        *,
        judge: str,
        executor: str | None = None,
        pause_seconds: float,
        words: Callable[[], str | None] = lambda: None,
        unpaid: Callable[[], JudgeError],
        most_empty: int = WINDOW,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        say: Callable[[str], None] = lambda line: print(line, flush=True),
    ) -> None:
        self._max_rate = max_rate
        self._fatal_file = fatal_file
        self._pause_file = fatal_file.with_name(PAUSED)
        self._pause_file.unlink(missing_ok=True)
        self._judge, self._executor = judge, executor
        self._works = "judges again" if executor is None else "answers again"
        self._who = f"judge {judge}" if executor is None else f"executor {executor}"
        self._pause_seconds = pause_seconds
        self._words, self._unpaid = words, unpaid
        self._clock, self._sleep, self._say = clock, sleep, say
        self._recent: collections.deque[Judgement] = collections.deque(maxlen=WINDOW)
        self._most_empty, self._empty = most_empty, 0
        self._since: float | None = None
        self._until = 0.0
        self._short = False
        """Whether the pause now is the one for unreadable replies."""
        self._after_short = WINDOW
        """Samples since the last short pause."""
        self._turn = asyncio.Lock()
        self._stopped: JudgeError | None = None
        self._under_way = 0
        self._quiet = asyncio.Event()

    @property
    def paused(self) -> bool:
        """Whether judging is held now."""
        return self._since is not None

    async def judged(self, attempt: Callable[[], Awaitable[Judgement]]) -> Judgement:
        """The judgement of one sample, which is asked for again when a pause fell onto it.

        Args:
            attempt: judges the sample; called once, or several times around a pause.

        Raises:
            JudgeError: too many samples abstain, and pausing did not help, or could not; the same text is in the fatal
                file, since verl treats an exception as one lost sample and goes on.
        """
        while True:
            if self.paused:
                recovered = await self._hold(attempt)
                if recovered is not None:
                    return recovered
            found = await self._ask(attempt)
            if found.empty:
                return found
            if self.paused and self._passes(found):
                # Under way when the pause began, and lost to the same trouble.
                continue
            self._count(found)
            if not self._too_many():
                return found
            if not self.paused:
                self._pause()
            if not self._passes(found):
                return found

    async def _ask(self, attempt: Callable[[], Awaitable[Judgement]]) -> Judgement:
        """One attempt, unless the run is at its end."""
        if self._stopped is not None:
            raise self._stopped
        self._under_way += 1
        try:
            found = await attempt()
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._quiet.set()
        if found.unpaid:
            await self._spent()
        self._empty = self._empty + 1 if found.empty else 0
        if self._empty >= self._most_empty:
            raise self._report(
                JudgeError(
                    f"the policy's newest {self._empty} responses are all empty: there is nothing to judge or to learn",
                    where="rollouts",
                    remedy=f"{NO_TEXT}, then run the same command again: training resumes",
                )
            )
        return found

    async def _hold(self, attempt: Callable[[], Awaitable[Judgement]]) -> Judgement | None:
        """Wait for this sample's turn to ask the judge; its judgement if it ended the pause, None if another did."""
        async with self._turn:
            wait = FIRST_WAIT
            while self._since is not None and self._stopped is None:
                left = self._until - self._clock()
                if left <= 0:
                    lasted = _minutes(self._clock() - self._since)
                    why = (
                        "its replies stayed unreadable"
                        if self._short
                        else f"{self._who if self._executor else 'the judge'} did not recover"
                    )
                    self._end(f"{why} in a pause of {lasted}")
                await self._sleep(min(wait, left))
                wait = min(2 * wait, LONGEST_WAIT)
                found = await self._ask(attempt)
                if found.empty or not (found.abstained or found.by_judge):
                    # It says nothing about the judge.
                    return found
                if not found.abstained:
                    self._resume(found)
                    return found
                if not self._passes(found):
                    # It says nothing about the trouble, unless all the others get this answer too.
                    self._count(found)
                    if not self._too_many(_hopeless if self._short else _lasting):
                        return found
                    self._wait_for_readable()
                    if not self._passes(found):
                        return found
                self._say(f"[{self._who}] still away after {_minutes(self._clock() - self._since)}: {_why(found)}")
        if self._stopped is not None:
            raise self._stopped
        return None

    def _passes(self, found: Judgement) -> bool:
        """Whether the sample is to be judged again in this pause, or before the next."""
        return found.may_pass or (self._short and found.unreadable)

    def _count(self, found: Judgement) -> None:
        self._recent.append(found)
        self._after_short += 1

    def _too_many(self, counts: Callable[[Judgement], bool] = _abstained) -> bool:
        """Whether too many of the newest samples abstained, of those that ``counts`` names."""
        lost = sum(counts(found) for found in self._recent)
        return len(self._recent) >= MINIMUM and lost > self._max_rate * len(self._recent)

    def _pause(self) -> None:
        begun = self._clock()
        self._until = begun + self._pause_seconds
        if self._too_many(_lasting):
            self._wait_for_readable()
        if self._pause_seconds <= 0:
            self._end("")
        self._since = begun
        lasts = _minutes(self._until - begun)
        line = f"PAUSED for at most {lasts}: {self._what()}; training goes on once it {self._works}"
        self._pause_file.write_text(line)
        self._say(f"[{self._who}] {line}")

    def _wait_for_readable(self) -> None:
        """Make the pause, which begins or goes on, a short one; or end the run, if more than garbage is in the way."""
        if self._too_many(_hopeless) or self._pause_seconds <= 0 or self._after_short < WINDOW:
            self._end(NO_USE_IN_WAITING)
        self._short, self._after_short = True, 0
        self._until = min(self._until, self._clock() + SHORT_PAUSE)

    def _resume(self, found: Judgement) -> None:
        assert self._since is not None
        self._say(f"[{self._who}] {self._works} after {_minutes(self._clock() - self._since)}")
        self._since, self._short = None, False
        self._pause_file.unlink(missing_ok=True)
        self._recent.clear()
        self._count(found)

    def _what(self) -> str:
        return what_was_lost(self._recent, self._judge, self._executor)

    async def _spent(self) -> NoReturn:
        """End the run; calls in flight are paid for, so their samples are waited for and kept."""
        while self._under_way:
            self._quiet.clear()
            await self._quiet.wait()
        raise self._report(self._stopped or self._unpaid())

    def _end(self, why: str) -> NoReturn:
        told = self._words()
        error = JudgeError(
            self._what() + (f"; {why}" if why else "") + (f"; the newest failure: {told}" if told else ""),
            where=f"reward.max_abstain_rate = {self._max_rate}",
            remedy=f"{remedy_for(self._recent, self._executor)}, then run the same command again: training resumes",
        )
        raise self._report(error)

    def _report(self, error: JudgeError) -> JudgeError:
        """Have the step that watches the trainer end it; the error that did so, which is the first one."""
        if self._stopped is None:
            self._stopped = error
            partial = self._fatal_file.with_suffix(".partial")
            partial.write_text(json.dumps({"what": error.what, "where": error.where, "remedy": error.remedy}))
            partial.replace(self._fatal_file)
        return self._stopped

    async def halt(self, error: JudgeError) -> None:
        """Have the step that watches the trainer end it with ``error``, unless it ends already, and wait for the end.

        A sample that is handed back to verl counts as lost, and verl would train on the others.
        """
        self._report(error)
        await self._sleep(AFTER_THE_END)


def _why(found: Judgement) -> str:
    return ", ".join(sorted(set(found.reasons)))


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f} min"
