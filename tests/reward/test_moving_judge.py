"""A judge that is restarted on another port while a run waits for it. Real HTTP; the guard's sleep is scripted."""

import asyncio
import contextlib
from pathlib import Path

import pytest
from scripted_judge import MODEL, ScriptedJudge

from components.core.errors import JudgeError
from components.core.spec import Experiment, load_experiment
from components.judge.endpoint import Endpoint, record_endpoint
from components.judge.memory import Ledger
from components.judge.moving import MovingJudge
from components.judge.panel.build import build_deciding_judge
from components.judge.verdict import Criterion, Sample, UnknownReason, Verdict, VerdictStatus
from components.reward.abstain_guard import MINIMUM, AbstainGuard, Judgement
from components.reward.rubric import rubric_reward

SAMPLE = Sample("r", "s", "Write.", "a small cat", (Criterion("The sentence mentions an animal."),))


def experiment() -> Experiment:
    """Its judge is found by name in the state folder, as a deployed one is."""
    judge = f"judge={{use: tiny-lr, model_name: {MODEL}, attempts: 1, timeout_seconds: 1}}"
    return load_experiment("tiny", (judge,))


def deploy(state: Path, url: str) -> None:
    record_endpoint(experiment().judge.name, state, Endpoint(url, MODEL))


async def test_a_paused_run_finds_the_judge_at_its_new_address(tmp_path: Path):
    spec = experiment()
    with contextlib.ExitStack() as servers, Ledger(tmp_path / "l.sqlite") as ledger:
        with ScriptedJudge().serve() as first:
            deploy(tmp_path, first)
            judge = build_deciding_judge(spec, tmp_path, ledger)
            assert (await judge.judge(SAMPLE))[0].status is not VerdictStatus.UNKNOWN
        later = ScriptedJudge()
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)
            if len(slept) == 2:
                deploy(tmp_path, servers.enter_context(later.serve()))

        guard = AbstainGuard(
            0.2,
            tmp_path / "fatal.json",
            judge=spec.verdict_name,
            pause_seconds=600,
            unpaid=lambda: JudgeError(""),
            sleep=sleep,
            say=lambda line: None,
        )

        async def attempt() -> Judgement:
            verdicts = await judge.judge(SAMPLE)
            return Judgement(rubric_reward(SAMPLE.criteria, verdicts), verdicts)

        found = await asyncio.gather(*(guard.judged(attempt) for _ in range(MINIMUM + 4)))
        await judge.close()
    # Those that came before the guard had seen enough are lost, and none of the others.
    assert sum(judgement.abstained for judgement in found) == MINIMUM - 1
    assert not guard.paused
    assert len(slept) == 2
    assert later.calls == 5


class Numbered:
    """Answers with its number as the judge's name once it may, and is away before."""

    def __init__(self, address: str, made: list["Numbered"]) -> None:
        self.address, self.closed = address, False
        self.free = asyncio.Event()
        made.append(self)

    async def judge(self, sample: Sample) -> list[Verdict]:
        assert not self.closed
        await self.free.wait()
        assert not self.closed
        reason = UnknownReason.JUDGE_DOWN if self.address == "old" else None
        status = VerdictStatus.UNKNOWN if reason else VerdictStatus.MET
        return [Verdict(status, None, None, reason, self.address, "p", 1)]

    async def close(self) -> None:
        self.closed = True


async def test_samples_under_way_keep_their_connections_until_they_end():
    made: list[Numbered] = []
    addresses = ["old"]

    def find() -> str:
        if addresses[-1] == "":
            raise JudgeError("its process has ended")
        return addresses[-1]

    judge = MovingJudge(find, lambda address: Numbered(address, made))
    one = asyncio.create_task(judge.judge(SAMPLE))
    await asyncio.sleep(0)
    addresses.append("")
    made[0].free.set()
    assert (await one)[0].reason is UnknownReason.JUDGE_DOWN
    assert len(made) == 1, "nobody knows yet where it is"

    made[0].free.clear()
    both = [asyncio.create_task(judge.judge(SAMPLE)) for _ in range(2)]
    await asyncio.sleep(0)
    addresses.append("new")
    made[0].free.set()
    for _ in range(5):
        await asyncio.sleep(0)
    assert [each.address for each in made] == ["old", "new"]
    made[1].free.set()
    assert [(await task)[0].judge for task in both] == ["new", "new"]
    assert made[0].closed
    await judge.close()
    assert made[1].closed


def test_a_judge_that_is_nowhere_cannot_be_built(tmp_path: Path):
    with pytest.raises(JudgeError, match="is not deployed"):
        build_deciding_judge(experiment(), tmp_path, None)
