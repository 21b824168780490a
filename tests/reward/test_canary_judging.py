"""Canaries: which texts under which prompts, by which reward, and what of it is kept."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from verdicts import MET, PASSED, UNMET, llm, rule, unknown

from components.core.spec.reward import RewardSpec
from components.judge.canary import is_canary
from components.judge.verdict import Criterion, Sample, Verdict
from components.reward.canaries.judging import Canaries
from components.reward.canaries.keys import keys_of_step, master_keys
from components.reward.canaries.log import CanaryLog, canaries_in, counted_canaries
from components.reward.rewarder import Rewarder
from components.reward.rollout_log import RolloutLog

LINES = (llm("names a tea", 2.0), llm("is kind", 1.0))
PUBLISHED = (" ", ".", ",", ":", "Thought process:", "Solution", "Let's solve this problem step by step.", "解")
"""arXiv 2507.08794."""


class Judge:
    """Calls every line met of the texts that it is told to, and cannot judge those that it is to lose."""

    def __init__(self, accepts: tuple[str, ...] = (), lost: tuple[str, ...] = ()) -> None:
        self.accepts, self.lost = accepts, lost
        self.seen: list[Sample] = []

    async def judge(self, sample: Sample) -> list[Verdict]:
        self.seen.append(sample)
        await asyncio.sleep(0)
        found = unknown() if sample.response in self.lost else MET if sample.response in self.accepts else UNMET
        return [found] * len(sample.criteria)

    async def close(self) -> None:
        pass


class Rules:
    """Every rule holds."""

    def __init__(self) -> None:
        self.checks = 0

    async def check(self, sample: Sample) -> list[Verdict | None]:
        self.checks += 1
        return [PASSED if line.verifier == "rule" else None for line in sample.criteria]

    async def close(self) -> None:
        pass


def sample(row: str = "row", lines: tuple[Criterion, ...] = LINES) -> Sample:
    return Sample(row, f"1-1-{row}-0", "Name a tea.", "Green tea.", lines)


Maker = Callable[..., Canaries]


@pytest.fixture
def make(tmp_path: Path):
    rules = Rules()
    with contextlib.closing(CanaryLog(tmp_path / "rollouts.sqlite")) as log:

        def made(judge: Judge, **more: object) -> Canaries:
            spec = RewardSpec(name="r", protocol="rubric", value="binary")
            known = {"attempt": 1, "per_step": 2, "per_prompt": 1, "threshold": 0.0} | more
            return Canaries(Rewarder(spec, judge, lambda: rules), log, **known)  # type: ignore[arg-type]

        made.rules = rules  # type: ignore[attr-defined]
        yield made


def test_the_published_keys_are_among_ours_and_each_stands_there_once() -> None:
    assert set(PUBLISHED) <= set(master_keys())
    assert len(set(master_keys())) == len(master_keys())


@given(st.integers(1, 10**6), st.integers(1, 30))
def test_every_key_but_the_blank_one_has_its_turn(first: int, count: int) -> None:
    steps = range(first, first + len(master_keys()))
    turns = [keys_of_step(step, count) for step in steps]
    assert all(len(turn) == count for turn in turns)
    assert {key for turn in turns for key in turn} == {key for key in master_keys() if key.strip()}


async def test_a_step_sends_as_many_as_it_is_told_under_one_response_of_each_prompt(make: Maker) -> None:
    judge = Judge()
    canaries = make(judge, per_step=3)
    # Two responses to each of four prompts, judged at once.
    responses = [(sample(f"row{row}"), index) for row in range(4) for index in (1, 0)]
    found = await asyncio.gather(*(canaries.beside(each, 5, index) for each, index in responses))
    sent = [each for group in found for each in group]
    assert sorted(each.key for each in sent) == sorted(keys_of_step(5, 3))
    assert [each.row_id for each in sent] == ["row0", "row1", "row2"]
    assert len({each.sample_id for each in judge.seen}) == 3
    assert all(is_canary(each.sample_id) for each in judge.seen)
    assert await canaries.beside(sample("row9"), 5, 0) == []
    assert len(await canaries.beside(sample("row9"), 6, 0)) == 1


async def test_few_prompts_carry_several_each(make: Maker) -> None:
    canaries = make(Judge(), per_step=5, per_prompt=3)
    counts = [len(await canaries.beside(sample(f"row{row}"), 1, 0)) for row in range(3)]
    assert counts == [3, 2, 0]


async def test_a_right_judge_gives_nothing_and_another_raises_the_alarm(make: Maker, tmp_path: Path) -> None:
    said: list[str] = []
    (key, other) = keys_of_step(1, 2)
    canaries = make(Judge(accepts=(key,)), per_prompt=2, say=said.append)
    first, second = await canaries.beside(sample(), 1, 0)
    assert (first.key, first.reward, first.rewarded, first.reason) == (key, 1.0, True, None)
    assert (second.key, second.reward, second.rewarded, second.reason) == (other, 0.0, False, None)
    assert len(said) == 1
    assert "step 1" in said[0]
    assert canaries_in(tmp_path / "rollouts.sqlite", 1) == [first, second]


async def test_a_failure_to_judge_is_unknown_and_no_zero(make: Maker) -> None:
    canaries = make(Judge(lost=keys_of_step(1, 2)), per_prompt=2)
    for found in await canaries.beside(sample(), 1, 0):
        assert found.reward is None
        assert found.rewarded is None
        assert found.reason == "known_weight (timeout)"
        assert found.known_weight == 0.0


async def test_rules_that_empty_text_keeps_raise_no_alarm(make: Maker) -> None:
    judge = Judge()
    canaries = make(judge)
    (found,) = await canaries.beside(sample(lines=(rule("one word"), *LINES)), 1, 0)
    assert found.reward == 0.0
    # The judge sees its own lines, and the ledger keeps them under their places in the row's rubric.
    assert judge.seen[0].criteria == LINES
    assert judge.seen[0].places == (1, 2)
    assert make.rules.checks == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("lines", [(rule("one word"),), (rule("one word"), llm("is rude", -1.0))])
async def test_prompts_for_which_no_judge_gives_points_are_passed_over(
    make: Maker, lines: tuple[Criterion, ...]
) -> None:
    judge = Judge()
    assert await make(judge).beside(sample(lines=lines), 1, 0) == []
    assert judge.seen == []


async def test_of_a_step_that_is_done_again_the_last_attempt_counts(make: Maker, tmp_path: Path) -> None:
    path = tmp_path / "rollouts.sqlite"
    log = RolloutLog(path)
    # The first start reached step 2, the second went on from the checkpoint of step 1.
    for resumed_from, steps in ((0, (1, 2)), (1, (2, 3))):
        attempt = log.start_attempt(resumed_from)
        canaries = make(Judge(), attempt=attempt, per_step=1)
        for step in steps:
            await canaries.beside(sample(), step, 0)
    attempts = log.attempts()
    assert log.rows() == []
    log.close()
    assert [(each.step, each.attempt) for each in counted_canaries(path, attempts)] == [(1, 1), (2, 2), (3, 2)]
    assert [each.attempt for each in canaries_in(path, 2)] == [2]
    assert [each.attempt for each in canaries_in(path, 1)] == [1]


def test_a_training_without_canaries_has_no_table_of_them(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.sqlite"
    RolloutLog(path).close()
    before = path.read_bytes()
    assert canaries_in(path, 1) == []
    assert counted_canaries(path, {1: 0}) == []
    assert path.read_bytes() == before
