"""Counting failures as 0 is a control: it changes what training gets, and no table and no held-out score."""

from types import SimpleNamespace

import pytest

pytest.importorskip("verl")
from components.core.spec import load_experiment
from components.judge.verdict import Sample
from components.report.settings import ZEROES, judged
from components.reward.judgement import Judgement
from components.reward.rubric import Reward
from components.reward.verl_manager import AbstainedError, GavelRewardManager

LOST = Judgement(Reward("abstained", None, {}, 0.0, "known_weight"), [])


class Log:
    def __init__(self) -> None:
        self.rows: list[dict[str, object]] = []

    def append(self, row: dict[str, object], judged: object = None) -> None:
        self.rows.append(row)


def manager(*changes: str) -> tuple[GavelRewardManager, Log]:
    made, log = object.__new__(GavelRewardManager), Log()
    made._experiment = load_experiment("tiny", list(changes))
    made._attempt, made._log, made._canaries = 1, log, None
    made._ledger = SimpleNamespace(take=lambda sample_id: None)

    async def lost(attempt: object) -> Judgement:
        return LOST

    made._guard = SimpleNamespace(judged=lost)
    made._sample = lambda item: (Sample("r", "s", "q", "a", ()), 3, True)
    return made, log


def batch() -> list[SimpleNamespace]:
    return [SimpleNamespace(non_tensor_batch={"global_steps": 1, "session_id": 0})]


async def test_a_failure_is_masked_everywhere_else(monkeypatch):
    monkeypatch.setattr("components.reward.verl_manager.Judged", SimpleNamespace(of=lambda *a, **k: None))
    made, log = manager()
    with pytest.raises(AbstainedError):
        await made._judge_last(batch())
    assert (log.rows[0]["status"], log.rows[0]["reward"]) == ("abstained", None)


async def test_the_control_arm_trains_on_zero_and_its_table_keeps_the_failure(monkeypatch):
    monkeypatch.setattr("components.reward.verl_manager.Judged", SimpleNamespace(of=lambda *a, **k: None))
    made, log = manager("reward.failures=zero_as_control")
    assert (await made._judge_last(batch()))["reward_score"] == 0.0
    assert (log.rows[0]["status"], log.rows[0]["reward"]) == ("abstained", None)


def test_its_report_says_so_first():
    assert judged(load_experiment("tiny", ["reward.failures=zero_as_control"])).warnings[0] == ZEROES
    assert ZEROES not in judged(load_experiment("tiny")).warnings
