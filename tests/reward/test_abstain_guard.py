"""The guard that holds a run whose judge has stopped judging, and then ends it. Time is a scripted clock."""

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import JudgeError
from components.judge.verdict import UnknownReason, Verdict, VerdictStatus
from components.reward.abstain_guard import MINIMUM, PAUSED, SHORT_PAUSE, WINDOW, AbstainGuard
from components.reward.judgement import Judgement
from components.reward.rubric import Reward

GOOD = Judgement(
    Reward("scored", 0.5, {"unclipped": 0.5}, 1.0, None), [Verdict(VerdictStatus.MET, 0.5, None, None, "j", "p", 1)]
)


def lost(reason: UnknownReason = UnknownReason.JUDGE_DOWN) -> Judgement:
    verdict = Verdict(VerdictStatus.UNKNOWN, None, None, reason, "j", "p", 3)
    return Judgement(Reward("abstained", None, {}, 0.0, "known_weight"), [verdict])


class World:
    """A clock that only sleeping moves, and a guard that lives by it."""

    def __init__(self, folder: Path, max_rate: float = 0.2, pause: float = 600.0, most_empty: int = WINDOW) -> None:
        self.now = 0.0
        self.words: str | None = None
        self.said: list[str] = []
        self.fatal = folder / "fatal.json"
        self.paused = folder / PAUSED
        self.guard = AbstainGuard(
            max_rate,
            self.fatal,
            judge="j",
            pause_seconds=pause,
            words=lambda: self.words,
            unpaid=lambda: JudgeError("judge j has reached its budget", where="budget of judge"),
            most_empty=most_empty,
            clock=lambda: self.now,
            sleep=self.sleep,
            say=self.said.append,
        )

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)

    async def note(self, judgement: Judgement) -> Judgement:
        return await self.guard.judged(always(judgement))


def always(judgement: Judgement) -> Callable[[], Awaitable[Judgement]]:
    async def attempt() -> Judgement:
        await asyncio.sleep(0)
        return judgement

    return attempt


async def test_a_dead_judge_pauses_the_run_and_ends_it_with_its_reasons(tmp_path: Path):
    world = World(tmp_path)
    for _ in range(MINIMUM - 1):
        assert (await world.note(lost())).abstained
    assert world.said == []
    with pytest.raises(JudgeError, match=rf"could not judge {MINIMUM} of the newest {MINIMUM}"):
        await world.note(lost())
    assert world.now == pytest.approx(600.0)
    assert "PAUSED for at most 10.0 min" in world.said[0]
    assert all("still away" in line for line in world.said[1:])
    told = json.loads(world.fatal.read_text())
    assert "judge_down 16" in told["what"]
    assert "did not recover in a pause of 10.0 min" in told["what"]


async def test_without_a_pause_it_ends_at_once(tmp_path: Path):
    world = World(tmp_path, pause=0)
    for _ in range(MINIMUM - 1):
        await world.note(lost())
    with pytest.raises(JudgeError, match="could not judge 16 of the newest 16"):
        await world.note(lost())
    assert (world.now, world.said) == (0.0, [])


async def test_a_judge_that_comes_back_loses_no_sample_that_waited(tmp_path: Path):
    world = World(tmp_path)
    for _ in range(MINIMUM - 1):
        await world.note(lost())
    calls: dict[int, int] = dict.fromkeys(range(20), 0)

    def sample(number: int) -> Callable[[], Awaitable[Judgement]]:
        async def attempt() -> Judgement:
            calls[number] += 1
            await asyncio.sleep(0)
            if world.now < 100.0:
                assert world.now == 0 or world.paused.exists()
                return lost()
            return GOOD

        return attempt

    found = await asyncio.gather(*(world.guard.judged(sample(number)) for number in range(20)))
    assert [judgement.abstained for judgement in found] == [False] * 20
    assert not world.guard.paused
    assert not world.paused.exists()
    assert not world.fatal.exists()
    assert "judges again" in world.said[-1]
    # 2 + 4 + 8 + 16 + 30 + 30 + 30 seconds: seven questions of one sample, while the others ask nothing.
    assert world.now == pytest.approx(120.0)
    assert sum(calls.values()) <= 20 + 7 + 20


async def test_the_window_begins_anew_after_a_pause(tmp_path: Path):
    world = World(tmp_path)
    for _ in range(MINIMUM - 1):
        await world.note(lost())
    answers = [lost(), GOOD]

    async def attempt() -> Judgement:
        return answers.pop(0)

    assert not (await world.guard.judged(attempt)).abstained
    for _ in range(MINIMUM - 2):
        assert (await world.note(lost())).abstained
    assert not world.guard.paused


@pytest.mark.parametrize(
    "reason",
    [
        UnknownReason.REJECTED,
        UnknownReason.TOO_LONG,
        UnknownReason.REFUSED,
        UnknownReason.RULE_FAILED,
        UnknownReason.TRUNCATED,
        UnknownReason.CONTRADICTORY,
        UnknownReason.UNDECIDED,
        UnknownReason.LOW_MASS,
        UnknownReason.SPLIT,
    ],
)
async def test_what_waiting_does_not_mend_ends_at_once_with_the_judges_words(tmp_path: Path, reason: UnknownReason):
    world = World(tmp_path)
    world.words = "status 401: no such key"
    # A stray time-out among them is no reason to wait.
    for number in range(MINIMUM - 1):
        await world.note(lost(UnknownReason.TIMEOUT if number == 3 else reason))
    with pytest.raises(JudgeError, match=r"waiting does not mend this; the newest failure: status 401: no such key"):
        await world.note(lost(reason))
    assert (world.now, world.said) == (0.0, [])


async def test_a_judge_that_comes_back_with_another_lock_ends_the_pause(tmp_path: Path):
    world = World(tmp_path)
    for _ in range(MINIMUM - 1):
        await world.note(lost())
    answers = [lost(), lost(UnknownReason.REJECTED)]

    async def attempt() -> Judgement:
        return answers.pop(0) if len(answers) > 1 else answers[0]

    # Of 16 samples and n rejected ones, n are more than a fifth from the 5th on.
    for _ in range(4):
        assert (await world.guard.judged(attempt)).abstained
    with pytest.raises(JudgeError, match="waiting does not mend this"):
        await world.guard.judged(attempt)
    assert world.now < 600.0
    assert "rejected 5" in json.loads(world.fatal.read_text())["what"]


async def test_the_first_sample_beyond_the_budget_ends_the_run(tmp_path: Path):
    world = World(tmp_path)
    await world.note(GOOD)
    with pytest.raises(JudgeError, match="has reached its budget"):
        await world.note(lost(UnknownReason.BUDGET))
    assert json.loads(world.fatal.read_text())["where"] == "budget of judge"
    with pytest.raises(JudgeError, match="has reached its budget"):
        await world.note(GOOD)


async def test_calls_in_flight_end_before_the_run_does(tmp_path: Path):
    world = World(tmp_path)
    free = asyncio.Event()

    async def slow() -> Judgement:
        await free.wait()
        assert not world.fatal.exists()
        return GOOD

    under_way = [asyncio.create_task(world.guard.judged(slow)) for _ in range(3)]
    await asyncio.sleep(0)
    unpaid = asyncio.create_task(world.note(lost(UnknownReason.BUDGET)))
    for _ in range(10):
        await asyncio.sleep(0)
    assert not world.fatal.exists()
    free.set()
    assert await asyncio.gather(*under_way) == [GOOD] * 3
    with pytest.raises(JudgeError, match="has reached its budget"):
        await unpaid
    assert world.fatal.exists()


async def test_everyone_who_waits_hears_of_the_end(tmp_path: Path):
    world = World(tmp_path)
    for _ in range(MINIMUM - 1):
        await world.note(lost())
    ends = await asyncio.gather(*(world.note(lost()) for _ in range(8)), return_exceptions=True)
    assert all(isinstance(end, JudgeError) for end in ends)
    assert world.now == pytest.approx(600.0)
    with pytest.raises(JudgeError):
        await world.note(GOOD)


async def test_a_rate_at_the_limit_goes_on(tmp_path: Path):
    world = World(tmp_path, 0.25)
    for number in range(200):
        await world.note(lost() if number % 4 == 3 else GOOD)
    assert not world.fatal.exists()
    assert world.said == []


@given(st.lists(st.booleans(), max_size=300), st.floats(0, 0.9))
def test_it_ends_exactly_when_the_share_of_the_window_is_above_the_limit(marks: list[bool], limit: float):
    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            world = World(Path(folder), limit, pause=0)
            for number, mark in enumerate(marks, 1):
                window = marks[max(0, number - WINDOW) : number]
                judgement = lost() if mark else GOOD
                if len(window) >= MINIMUM and sum(window) > limit * len(window):
                    with pytest.raises(JudgeError):
                        await world.note(judgement)
                    return
                assert await world.note(judgement) is judgement

    asyncio.run(run())


@pytest.mark.parametrize(
    ("reason", "change"),
    [
        (UnknownReason.UNPARSEABLE, "keeps to the form"),
        (UnknownReason.CONTRADICTORY, "follows the position"),
        (UnknownReason.TRUNCATED, "max_answer_tokens"),
        (UnknownReason.REJECTED, "model_name"),
    ],
)
async def test_the_remedy_fits_what_most_verdicts_lack(tmp_path: Path, reason: UnknownReason, change: str):
    world = World(tmp_path)
    for _ in range(MINIMUM - 1):
        await world.note(lost(reason))
    with pytest.raises(JudgeError) as caught:
        await world.note(lost(reason))
    assert change in caught.value.remedy


async def garbage(world: World, count: int) -> None:
    for _ in range(count):
        await world.note(lost(UnknownReason.UNPARSEABLE))


@pytest.mark.parametrize(("pause", "waits"), [(600.0, SHORT_PAUSE), (30.0, 30.0)])
async def test_garbage_gets_a_short_pause_within_the_longest_and_then_ends_the_run(
    tmp_path: Path, pause: float, waits: float
):
    world = World(tmp_path, pause=pause)
    world.words = "the newest unreadable reply begins '????'"
    await garbage(world, MINIMUM - 1)
    with pytest.raises(JudgeError, match=r"its replies stayed unreadable in a pause of .*begins '\?\?\?\?'") as caught:
        await world.note(lost(UnknownReason.UNPARSEABLE))
    assert world.now == pytest.approx(waits)
    assert "keeps to the form" in caught.value.remedy
    assert world.fatal.exists()


async def test_garbage_without_a_pause_ends_at_once(tmp_path: Path):
    world = World(tmp_path, pause=0)
    await garbage(world, MINIMUM - 1)
    with pytest.raises(JudgeError, match="waiting does not mend this"):
        await world.note(lost(UnknownReason.UNPARSEABLE))
    assert world.now == 0.0


async def test_a_judge_that_writes_garbage_for_a_while_loses_no_sample_that_waited(tmp_path: Path):
    world = World(tmp_path)
    await garbage(world, MINIMUM - 1)

    async def attempt() -> Judgement:
        await asyncio.sleep(0)
        return lost(UnknownReason.UNPARSEABLE) if world.now < 40.0 else GOOD

    found = await asyncio.gather(*(world.guard.judged(attempt) for _ in range(20)))
    assert not any(judgement.abstained for judgement in found)
    # 2 + 4 + 8 + 16 + 30 seconds.
    assert world.now == pytest.approx(60.0)
    assert not world.fatal.exists()


async def test_garbage_that_comes_again_soon_is_given_no_second_pause(tmp_path: Path):
    world = World(tmp_path)
    answers = [lost(UnknownReason.MISSING), GOOD]
    await garbage(world, MINIMUM - 1)

    async def attempt() -> Judgement:
        return answers.pop(0)

    assert not (await world.guard.judged(attempt)).abstained
    now = world.now
    await garbage(world, MINIMUM - 2)
    with pytest.raises(JudgeError, match="waiting does not mend this"):
        await garbage(world, 1)
    assert world.now == now


async def test_garbage_after_a_long_while_is_given_another_pause(tmp_path: Path):
    world = World(tmp_path)
    for number in (1, 2):
        answers: list[Judgement] = []

        async def attempt(answers: list[Judgement] = answers) -> Judgement:
            return answers.pop(0) if answers else lost(UnknownReason.MISSING)

        while not world.guard.paused:
            waiting = asyncio.create_task(world.guard.judged(attempt))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        answers.append(GOOD)
        assert not (await waiting).abstained
        for _ in range(4 * WINDOW):
            await world.note(GOOD)
        assert sum("PAUSED" in line for line in world.said) == number
    assert not world.fatal.exists()


async def test_a_judge_that_comes_back_writing_garbage_has_the_short_pause_for_it(tmp_path: Path):
    world = World(tmp_path)
    for _ in range(MINIMUM - 1):
        await world.note(lost())

    async def attempt() -> Judgement:
        return lost() if world.now < 10 else lost(UnknownReason.UNPARSEABLE)

    with pytest.raises(JudgeError, match="stayed unreadable"):
        await asyncio.gather(*(world.guard.judged(attempt) for _ in range(MINIMUM)))
    assert SHORT_PAUSE < world.now < 600.0


async def test_a_wrong_key_among_garbage_still_ends_at_once(tmp_path: Path):
    world = World(tmp_path)
    for number in range(MINIMUM - 1):
        await world.note(lost(UnknownReason.REJECTED if number % 2 else UnknownReason.UNPARSEABLE))
    with pytest.raises(JudgeError, match="waiting does not mend this"):
        await world.note(lost(UnknownReason.UNPARSEABLE))
    assert world.now == 0.0


async def test_empty_responses_are_no_failure_of_the_judge(tmp_path: Path):
    world = World(tmp_path, most_empty=9)
    empty = lost(UnknownReason.EMPTY_RESPONSE)
    for number in range(200):
        assert (await world.note(GOOD if number % 5 == 0 else empty)).abstained == (number % 5 != 0)
    assert (world.said, world.fatal.exists()) == ([], False)


async def test_a_policy_that_writes_nothing_else_ends_the_run_and_is_named(tmp_path: Path):
    world = World(tmp_path, most_empty=40)
    empty = lost(UnknownReason.EMPTY_RESPONSE)
    for _ in range(39):
        await world.note(empty)
    with pytest.raises(JudgeError, match="the policy's newest 40 responses are all empty") as caught:
        await world.note(empty)
    assert "chat template" in caught.value.remedy
    assert world.now == 0.0


async def test_an_empty_response_ends_no_pause_and_prolongs_none(tmp_path: Path):
    world = World(tmp_path)
    for _ in range(MINIMUM - 1):
        await world.note(lost())
    answers = [lost(), lost(UnknownReason.EMPTY_RESPONSE), lost(), GOOD]

    async def attempt() -> Judgement:
        return answers.pop(0)

    assert (await world.guard.judged(attempt)).empty
    assert world.guard.paused
    assert not (await world.guard.judged(attempt)).abstained
    assert not world.guard.paused


async def test_a_reward_without_a_judge_ends_no_pause(tmp_path: Path):
    world = World(tmp_path)
    rules = Judgement(GOOD.reward, [Verdict(VerdictStatus.MET, 1.0, None, None, "rule", "rule/p/0", 1)])
    for _ in range(MINIMUM - 1):
        await world.note(lost())
    answers = [lost(), rules, GOOD]

    async def attempt() -> Judgement:
        return answers.pop(0)

    assert await world.guard.judged(attempt) is rules
    assert world.guard.paused
    await world.guard.judged(attempt)
    assert not world.guard.paused


async def test_rules_that_fail_are_named_and_not_the_judge(tmp_path: Path):
    world = World(tmp_path)
    world.words = "rule, row 7, line 2: exception: NameError"
    for _ in range(MINIMUM - 1):
        await world.note(lost(UnknownReason.RULE_FAILED))
    with pytest.raises(JudgeError, match=r"^rules could not be checked for 16 of the newest 16") as caught:
        await world.note(lost(UnknownReason.RULE_FAILED))
    assert "judge" not in caught.value.what.split(";")[0]
    assert "NameError" in caught.value.what
    assert "mend the rules" in caught.value.remedy
    assert world.now == 0.0


async def test_control_arms_have_nothing_to_abstain_for(tmp_path: Path):
    world = World(tmp_path, 0.0)
    for _ in range(3 * WINDOW):
        await world.note(Judgement(Reward("scored", 0.0, {}, 1.0, None), []))
    assert (world.said, world.fatal.exists()) == ([], False)
