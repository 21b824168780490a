"""Holds a run whose judge has stopped judging, and ends it if the judge stays away: the policy never trains on the few
samples that get through."""

import asyncio
import collections
import dataclasses
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NoReturn

from components.core.errors import JudgeError
from components.judge.verdict import PASSING, UnknownReason, Verdict
from components.reward.rubric import Reward

PAUSED = "paused.txt"
"""Name of the file that is there while judging is held, with one line for people."""

WINDOW = 64
"""Samples looked back on."""

MINIMUM = 16
"""Samples that must be seen before the rate means anything."""

FIRST_WAIT, LONGEST_WAIT = 2.0, 30.0
"""Seconds between two questions to a judge that is away: doubled from the first to the longest."""

NO_USE_IN_WAITING = "waiting does not mend this"

AFTER_THE_END = 60.0
"""Seconds that samples are held once the run's end is reported; the step that watches the trainer ends it sooner."""


@dataclasses.dataclass(frozen=True, slots=True)
class Judgement:
    """One sample's verdicts and the reward that they make."""

    reward: Reward
    verdicts: Sequence[Verdict]

    @property
    def abstained(self) -> bool:
        """Whether there is no reward."""
        return self.reward.value is None

    @property
    def may_pass(self) -> bool:
        """Whether it abstained for a reason that may be gone when the sample is judged again."""
        return self.abstained and any(verdict.reason in PASSING for verdict in self.verdicts)

    @property
    def unpaid(self) -> bool:
        """Whether the run's budget did not allow for it."""
        return any(verdict.reason is UnknownReason.BUDGET for verdict in self.verdicts)

    @property
    def reasons(self) -> list[str]:
        """Why verdicts are unknown."""
        return [verdict.reason.value for verdict in self.verdicts if verdict.reason is not None]


_FORM = "take a judge that keeps to the form, or reward.protocol rubric_token, which needs none"
_REMEDIES = {
    "unparseable": _FORM,
    "missing": _FORM,
    "contradictory": "take another judge (in pairwise this one follows the position), or raise reward.max_abstain_rate",
    "undecided": "take a larger judge, or raise reward.max_abstain_rate",
    "split": "add a member to the panel or combine by mean, or raise reward.max_abstain_rate",
    "truncated": "raise judge.max_answer_tokens, or set judge.thinking: false",
    "low_mass": "lower reward.min_mass, or choose another reward.protocol",
    "too_long": "shorten the responses, lower judge.max_answer_tokens, or take a judge with longer context_tokens",
    "rejected": "mend what the server rejects (api_key_env, model_name, endpoint or profile)",
    "refused": "take a judge without that content filter, or other data",
    "empty_response": "see why the policy writes nothing (training.temperature, its chat template)",
}
"""What to change before the run goes on, by the reason of most unknown verdicts."""


class AbstainGuard:
    """Watches the share of abstained samples among the newest ones, and pauses all judging while it is too high.

    In a pause one sample at a time asks the judge, again and again. Once it gets a reward, those that waited are judged
    again and the run goes on; when the pause has lasted too long, the run ends. It ends at once where too many samples
    abstain for reasons that no waiting mends (a wrong key, say), and at the first sample that the budget does not pay
    for, after those under way.

    Args:
        max_rate: largest share of abstained samples among the newest :data:`WINDOW`.
        fatal_file: where the end of the run is reported, for the step that watches the trainer; while judging is held,
            :data:`PAUSED` beside it says why.
        judge: name of the judge, for messages.
        pause_seconds: longest pause; 0 ends the run at once.
        words: what the judge or its server said of late when it failed; None when it said nothing.
        unpaid: the error of a run whose budget is used up.
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
        pause_seconds: float,
        words: Callable[[], str | None] = lambda: None,
        unpaid: Callable[[], JudgeError],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        say: Callable[[str], None] = lambda line: print(line, flush=True),
    ) -> None:
        self._max_rate = max_rate
        self._fatal_file = fatal_file
        self._pause_file = fatal_file.with_name(PAUSED)
        self._pause_file.unlink(missing_ok=True)
        self._judge = judge
        self._pause_seconds = pause_seconds
        self._words, self._unpaid = words, unpaid
        self._clock, self._sleep, self._say = clock, sleep, say
        self._recent: collections.deque[Judgement] = collections.deque(maxlen=WINDOW)
        self._since: float | None = None
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
            if self.paused and found.may_pass:
                # Under way when the pause began, and lost to the same trouble.
                continue
            self._recent.append(found)
            if not self._too_many():
                return found
            if not self.paused:
                self._pause()
            if not found.may_pass:
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
        return found

    async def _hold(self, attempt: Callable[[], Awaitable[Judgement]]) -> Judgement | None:
        """Wait for this sample's turn to ask the judge; its judgement if it ended the pause, None if another did."""
        async with self._turn:
            wait = FIRST_WAIT
            while self._since is not None and self._stopped is None:
                left = self._since + self._pause_seconds - self._clock()
                if left <= 0:
                    self._end("the judge did not recover in a pause of " + _minutes(self._pause_seconds))
                await self._sleep(min(wait, left))
                wait = min(2 * wait, LONGEST_WAIT)
                found = await self._ask(attempt)
                if not found.abstained:
                    self._resume(found)
                    return found
                if not found.may_pass:
                    # It says nothing about the trouble, unless all the others get this answer too.
                    self._recent.append(found)
                    if self._too_many(lasting=True):
                        self._end(NO_USE_IN_WAITING)
                    return found
                self._say(
                    f"[judge {self._judge}] still away after {_minutes(self._clock() - self._since)}: {_why(found)}"
                )
        if self._stopped is not None:
            raise self._stopped
        return None

    def _too_many(self, *, lasting: bool = False) -> bool:
        """Whether too many of the newest samples abstained; ``lasting``: for reasons that no waiting mends."""
        lost = sum(found.abstained and not (lasting and found.may_pass) for found in self._recent)
        return len(self._recent) >= MINIMUM and lost > self._max_rate * len(self._recent)

    def _pause(self) -> None:
        if self._too_many(lasting=True):
            self._end(NO_USE_IN_WAITING)
        if self._pause_seconds <= 0:
            self._end("")
        self._since = self._clock()
        line = (
            f"PAUSED for at most {_minutes(self._pause_seconds)}: {self._what()}; training goes on once it judges again"
        )
        self._pause_file.write_text(line)
        self._say(f"[judge {self._judge}] {line}")

    def _resume(self, found: Judgement) -> None:
        assert self._since is not None
        self._say(f"[judge {self._judge}] judges again after {_minutes(self._clock() - self._since)}")
        self._since = None
        self._pause_file.unlink(missing_ok=True)
        self._recent.clear()
        self._recent.append(found)

    def _what(self) -> str:
        reasons = collections.Counter(reason for judgement in self._recent for reason in judgement.reasons)
        listed = ", ".join(f"{name} {number}" for name, number in reasons.most_common(5))
        lost = sum(judgement.abstained for judgement in self._recent)
        return f"judge {self._judge} could not judge {lost} of the newest {len(self._recent)} samples ({listed})"

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
            remedy=f"{self._remedy()}, then run the same command again: training resumes",
        )
        raise self._report(error)

    def _remedy(self) -> str:
        """What to change, by the most frequent reason."""
        reasons = collections.Counter(reason for judgement in self._recent for reason in judgement.reasons)
        most = reasons.most_common(1)[0][0] if reasons else ""
        return _REMEDIES.get(most, "look at the judge's log and endpoint")

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
