"""The reward manager on workflows, as verl calls it: what is dropped, what the rollouts keep, and how a run ends whose
executor model stays away. Without Ray."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scripted_executor import Model, Reply
from workflow_runs import ONE_CALL, QUESTIONS, experiment, sample

torch = pytest.importorskip("torch")
pytest.importorskip("verl")
from tensordict import TensorDict  # noqa: E402
from verl import DataProto  # noqa: E402

from components.core.errors import JudgeError  # noqa: E402
from components.judge.rubrics import rubric_json  # noqa: E402
from components.reward import abstain_guard, verl_groups  # noqa: E402
from components.reward.rollout_log import RolloutLog  # noqa: E402
from components.reward.verl_manager import AbstainedError, GavelRewardManager  # noqa: E402
from components.reward.verl_manager_settings import SETTINGS_ENV, ManagerSettings  # noqa: E402
from components.workflow.log import WorkflowLog  # noqa: E402
from components.workflow.log_name import NAME  # noqa: E402
from components.workflow.shown import EXAMPLES  # noqa: E402

TEXTS = ["", ONE_CALL, "Hello.", ONE_CALL.replace("Solve.", "Fail."), ONE_CALL.replace("Solve.", "Err.")]
END = 9


def manager(
    folder: Path, monkeypatch: pytest.MonkeyPatch, url: str, *overrides: str, **changes: float
) -> GavelRewardManager:
    made = experiment(url, *overrides, **changes)
    settings = ManagerSettings(made.to_json(), str(folder / "state"), str(folder), 1, str(folder / "data"))
    settings.write(folder / "reward.json")
    monkeypatch.setenv(SETTINGS_ENV, str(folder / "reward.json"))
    monkeypatch.setenv(verl_groups.FOLDER_ENV, str(folder))
    monkeypatch.setattr(abstain_guard, "AFTER_THE_END", 0.0)
    log = RolloutLog(folder / "rollouts.sqlite")
    log.start_attempt(0)
    log.close()
    decode: Callable[..., str] = lambda ids, **_: "".join(TEXTS[each] for each in ids if each != END)  # noqa: E731
    tokenizer = SimpleNamespace(decode=decode, eos_token_id=END)
    return GavelRewardManager(None, tokenizer, None)


def row(word: int, index: int) -> DataProto:
    ids = torch.tensor([[word, END]])
    batch = TensorDict({"responses": ids, "attention_mask": torch.ones(1, 4, dtype=torch.long)}, batch_size=1)
    info = {"id": "g", "question": QUESTIONS["gsm8k"], "rubric": rubric_json(sample("").criteria)}
    values = {
        "extra_info": info,
        "global_steps": 1,
        "session_id": index,
        "tool_extra_fields": {EXAMPLES: ["one", "two"]},
    }
    return DataProto(
        batch=batch, non_tensor_batch={name: np.array([value], dtype=object) for name, value in values.items()}
    )


async def reward_of(made: GavelRewardManager, word: int, index: int) -> float | None:
    try:
        return float((await made.run_single(row(word, index)))["reward_score"])
    except AbstainedError:
        return None


async def rewards(made: GavelRewardManager, words: list[int], *, at_once: bool = False) -> list[float | None]:
    try:
        if at_once:
            return await asyncio.gather(*(reward_of(made, word, index) for index, word in enumerate(words)))
        return [await reward_of(made, word, index) for index, word in enumerate(words)]
    finally:
        await made._rewarder.close()
        made._ledger.close()


async def test_a_group_has_its_rewards_and_a_failure_drops_its_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def by(prompt: str) -> Reply:
        if "Fail." in prompt:
            return 503, {"error": "overloaded"}
        return "\\boxed{41}" if "Err." in prompt else "\\boxed{42}"

    async with Model(by=by).serve() as url:
        made = manager(tmp_path, monkeypatch, url)
        assert await rewards(made, [1, 3, 2, 4]) == [pytest.approx(0.95), None, -1.0, pytest.approx(-0.275)]
    log = RolloutLog(tmp_path / "rollouts.sqlite")
    rows = log.rows()
    log.close()
    assert [each["reason"] for each in rows] == [None, "judge_down", "invalid:no_code", None]
    assert [each["status"] for each in rows] == ["scored", "abstained", "scored", "scored"]
    parts = [json.loads(each["parts"]) for each in rows]
    assert [each.get("valid") for each in parts] == [1.0, None, 0.0, 1.0]
    assert parts[0]["tokens"] == 110
    assert {each["examples"] for each in parts} == {2.0}
    workflows = WorkflowLog(tmp_path / NAME)
    assert [each["sample_id"] for each in workflows.rows()] == [each["sample_id"] for each in rows]
    workflows.close()
    metrics = verl_groups.judge_metrics(1)
    assert (metrics["judge/abstain_rate"], metrics["judge/empty_rate"]) == (0.25, 0.0)


async def test_a_run_without_its_executor_pauses_and_ends_with_words_that_name_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(abstain_guard, "FIRST_WAIT", 0.01)
    # An executor that is not reached is asked again for timeout x attempts, since it may be restarting: one second
    # here, and the same one for samples that come together, as in training.
    away = {"timeout_seconds": 1.0, "attempts": 1}
    made = manager(tmp_path, monkeypatch, "http://127.0.0.1:9", "reward.pause_minutes=0.005", **away)
    with pytest.raises(JudgeError, match=r"executor scripted failed for 16 \(judge_down 16\)") as caught:
        await rewards(made, [1] * 16, at_once=True)
    assert "16 of the newest 16 workflows have no reward" in caught.value.what
    assert "executor scripted did not recover" in caught.value.what
    assert "bring it up again" in caught.value.remedy
    told = json.loads((tmp_path / "fatal.json").read_text())
    assert told["what"] == caught.value.what
    said = capsys.readouterr().out
    assert "[executor scripted] PAUSED" in said
    assert "goes on once it answers again" in said
    # No number stands anywhere for what was not executed.
    log = RolloutLog(tmp_path / "rollouts.sqlite")
    assert {each["reward"] for each in log.rows()} == {None}
    log.close()


async def test_invalid_workflows_are_no_reason_to_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = manager(tmp_path, monkeypatch, "http://127.0.0.1:9")
    assert await rewards(made, [2] * 20) == [-1.0] * 20
    assert not (tmp_path / abstain_guard.PAUSED).exists()
