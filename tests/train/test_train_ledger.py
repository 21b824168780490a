"""What the judge was asked during training reaches the store and the published folder; the trainer is a stand-in."""

import io
from pathlib import Path

import pytest

from components.core.contracts import CALLS, PROMPTS, VERDICTS, read_table, write_table
from components.core.errors import StepError
from components.core.progress import Progress
from components.core.spec import load_experiment
from components.core.step import StepContext
from components.core.store import Store
from components.engine.overrides import TrainingPaths
from components.judge.memory import CallRow, Entry, Ledger
from components.judge.memory.segments import join
from components.models import loading
from components.reward.rollout_log import RolloutLog
from components.train import step as train

ROW = {
    "row_id": "r",
    "sample_index": 0,
    "question": "q",
    "response": "x",
    "response_tokens": 1,
    "finished": True,
    "status": "scored",
    "reward": 0.5,
    "reason": None,
    "known_weight": 1.0,
    "parts": {"clipped": 0.5},
}


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StepContext:
    for name in ("data", "out", "work"):
        (tmp_path / name).mkdir()
    write_table(tmp_path / "data" / "train.parquet", PROMPTS.empty_table(), PROMPTS)
    monkeypatch.setattr(train, "materialize", lambda source, cache: tmp_path / "model")
    monkeypatch.setattr(loading, "check_model", lambda folder: None)
    store = Store.open((tmp_path / "store").as_uri())
    return StepContext(
        load_experiment("tiny", ["training.steps=2"]),
        {"data": tmp_path / "data"},
        {},
        tmp_path / "out",
        tmp_path / "work",
        "id",
        Progress("train-grpo", stream=io.StringIO()),
        tmp_path / "state",
        store=store,
        place="tiny/train-grpo/id",
    )


def judge_one(ctx: StepContext, step: int, reason: str | None = None) -> None:
    name = f"{step}-1-r-0"
    with Ledger(ctx.work / "ledger.sqlite") as ledger:
        ledger.add_call(CallRow(1.0, "j", "p/1", "ask", "0", 2, 0.1, prompt_tokens=7, reason=reason, sample_id=name))
        status, chance = ("met", 0.9) if reason is None else ("unknown", None)
        ledger.add([Entry(name, "r", "c", 0, status, chance, None, reason, "j", "p/1", 2, 0.1, 7, 1, None, 1.0)])


def shipped_samples(ctx: StepContext) -> list[str]:
    assert ctx.store is not None
    joined = join(ctx.store, f"{ctx.place}/ledger")
    calls = [row[0] for row in joined.execute("SELECT sample_id FROM calls")]
    assert calls == [row[0] for row in joined.execute("SELECT sample_id FROM verdicts")]
    return calls


def test_a_failed_and_a_resumed_training(context: StepContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(ctx: StepContext, paths: TrainingPaths, deadline: float) -> None:
        judge_one(ctx, 1, "timeout")
        raise StepError("the trainer died")

    def succeeds(ctx: StepContext, paths: TrainingPaths, deadline: float) -> None:
        judge_one(ctx, 2)
        log = RolloutLog(ctx.work / "rollouts.sqlite")
        attempt = log.start_attempt(0)
        log.append({**ROW, "step": 2, "sample_id": "2-1-r-0", "attempt": attempt})
        log.close()
        (paths.checkpoints / "global_step_2" / "actor").mkdir(parents=True)
        (ctx.work / "command.json").write_text("{}")
        train.metrics_file(ctx.work, attempt).write_text("")

    monkeypatch.setattr(train, "_train", fails)
    with pytest.raises(StepError, match="the trainer died"):
        train.run(context)
    assert shipped_samples(context) == ["1-1-r-0"]
    monkeypatch.setattr(train, "_train", succeeds)
    returned = train.run(context)
    assert shipped_samples(context) == ["1-1-r-0", "2-1-r-0"]
    calls = read_table(context.out / "calls.parquet", CALLS).to_pylist()
    verdicts = read_table(context.out / "verdicts.parquet", VERDICTS).to_pylist()
    assert [(row["sample_id"], row["attempts"], row["reason"]) for row in calls] == [
        ("1-1-r-0", 2, "timeout"),
        ("2-1-r-0", 2, None),
    ]
    assert [row["probability"] for row in verdicts] == [None, 0.9]
    assert (returned["calls"], returned["verdicts"]) == (2, 2)


def test_a_training_that_never_asked_ships_nothing(context: StepContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(ctx: StepContext, paths: TrainingPaths, deadline: float) -> None:
        raise StepError("no room")

    monkeypatch.setattr(train, "_train", fails)
    with pytest.raises(StepError, match="no room"):
        train.run(context)
    assert context.store is not None
    assert context.store.list() == []
    assert not (context.work / "ledger.sqlite").exists()
