"""The reward manager as verl calls it, on judges over HTTP: panels, quorum, split votes, re-asks; what is masked, and
what reaches the metrics. Without Ray."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scripted_judge import MODEL, ScriptedJudge

torch = pytest.importorskip("torch")
pytest.importorskip("verl")
from tensordict import TensorDict  # noqa: E402
from test_verl_groups import masked  # noqa: E402
from verl import DataProto  # noqa: E402

from components.core.errors import JudgeError  # noqa: E402
from components.core.spec import load_experiment  # noqa: E402
from components.judge.memory import Ledger  # noqa: E402
from components.reward import abstain_guard, verl_groups  # noqa: E402
from components.reward.rollout_log import RolloutLog  # noqa: E402
from components.reward.verl_manager import AbstainedError, GavelRewardManager  # noqa: E402
from components.reward.verl_manager_settings import SETTINGS_ENV, ManagerSettings  # noqa: E402

NOBODY = "http://127.0.0.1:9"
RUBRIC = [{"text": "It has the word.", "points": 1.0}]
WORDS = ["", "cat", "jar", "hat"]
END = 9


def judge(name: str, url: str) -> str:
    return (
        f"{{name: {name}, family: test, serving: external, endpoint: '{url}', model_name: {MODEL}, logprobs: false, "
        "context_tokens: 4096, timeout_seconds: 1, attempts: 2, max_concurrency: 4, cache: false}"
    )


def manager(folder: Path, monkeypatch: pytest.MonkeyPatch, *overrides: str, attempt: int = 1) -> GavelRewardManager:
    experiment = load_experiment("tiny", ("reward=rubric", *overrides))
    ManagerSettings(experiment.to_json(), str(folder / "state"), str(folder), attempt).write(folder / "reward.json")
    monkeypatch.setenv(SETTINGS_ENV, str(folder / "reward.json"))
    monkeypatch.setenv(verl_groups.FOLDER_ENV, str(folder))
    log = RolloutLog(folder / "rollouts.sqlite")
    log.start_attempt(0)
    log.close()
    decode: Callable[..., str] = lambda ids, **_: " ".join(WORDS[each] for each in ids if each != END)  # noqa: E731
    return GavelRewardManager(None, SimpleNamespace(decode=decode, eos_token_id=END), None)


def row(
    words: list[int], *, group: str = "g", index: int = 0, step: int = 1, rubric: list[dict[str, object]] = RUBRIC
) -> DataProto:
    ids = torch.tensor([[*words, END]])
    batch = TensorDict(
        {"responses": ids, "attention_mask": torch.ones(1, 2 + ids.shape[1], dtype=torch.long)}, batch_size=1
    )
    info = {"id": group, "question": "Write a word.", "rubric": json.dumps(rubric)}
    values = {"extra_info": info, "global_steps": step, "session_id": index}
    return DataProto(
        batch=batch, non_tensor_batch={name: np.array([value], dtype=object) for name, value in values.items()}
    )


async def rewards(made: GavelRewardManager, responses: list[list[int]]) -> list[float | None]:
    """The reward of each response, None where verl is told to drop it."""
    found: list[float | None] = []
    try:
        for index, response in enumerate(responses):
            try:
                found.append((await made.run_single(row(response, index=index)))["reward_score"])
            except AbstainedError:
                found.append(None)
    finally:
        await made._rewarder.close()
        made._ledger.close()
    return found


@contextlib.contextmanager
def two_judges() -> Iterator[tuple[str, str]]:
    with ScriptedJudge().serve() as cats, ScriptedJudge(liked="jar").serve() as jars:
        yield cats, jars


BOTH, CAT, JAR, NONE = [1, 2], [1], [2], [3]


async def test_a_split_panel_abstains_and_the_rest_of_the_group_is_trained_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with two_judges() as (cats, jars):
        panel = f"panel={{members: [{judge('jars', jars)}], combine: majority, quorum: 2}}"
        made = manager(tmp_path, monkeypatch, f"judge={judge('cats', cats)}", panel)
        found = await rewards(made, [BOTH, CAT, JAR, NONE])
    assert found == [1.0, None, None, 0.0]
    # Nothing that abstained reaches verl; the two others have figures to learn from.
    queue, keys, counts = masked([1.0, 0.0], ["g", "g"], [3, 2])
    assert [int(queue.rows[key]["response_mask"].sum()) for key in keys] == [3, 2]
    assert counts["judge/masked_groups"] == 0
    metrics = verl_groups.judge_metrics(1)
    assert metrics["judge/abstain_rate"] == 0.5
    assert metrics["judge/abstained_samples"] == 2
    # Members that disagree were read well, and asked once.
    assert metrics["judge/parse_failure_rate"] == metrics["judge/reask_rate"] == metrics["judge/retry_rate"] == 0
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        panels = [entry for entry in ledger.rows() if entry.judge == "panel"]
        members = [entry.status for entry in ledger.rows() if entry.judge in ("cats", "jars")]
    assert [entry.reason for entry in panels] == [None, "split", "split", None]
    assert (members.count("met"), members.count("unmet")) == (4, 4)


async def test_a_panel_with_a_member_down_keeps_to_its_quorum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    found = {}
    with ScriptedJudge().serve() as cats:
        for quorum in (1, 2):
            folder = tmp_path / str(quorum)
            folder.mkdir()
            panel = f"panel={{members: [{judge('gone', NOBODY)}], combine: majority, quorum: {quorum}}}"
            made = manager(folder, monkeypatch, f"judge={judge('cats', cats)}", panel)
            found[quorum] = await rewards(made, [CAT, NONE])
            metrics = verl_groups.judge_metrics(1)
            assert metrics["judge/abstain_rate"] == (0.0 if quorum == 1 else 1.0)
            assert metrics["judge/retry_rate"] == 1.0
            log = RolloutLog(folder / "rollouts.sqlite")
            assert [line["reason"] for line in log.rows()] == [None if quorum == 1 else "known_weight"] * 2
            log.close()
            with Ledger(folder / "ledger.sqlite") as ledger:
                gone = [(entry.status, entry.reason) for entry in ledger.rows() if entry.judge == "gone"]
            assert gone == [("unknown", "judge_down")] * 2
    assert found == {1: [1.0, 0.0], 2: [None, None]}


async def test_a_lone_survivor_is_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with two_judges() as (cats, jars):
        panel = f"panel={{members: [{judge('jars', jars)}], combine: majority, quorum: 2}}"
        made = manager(tmp_path, monkeypatch, f"judge={judge('cats', cats)}", panel)
        found = await rewards(made, [BOTH, CAT, JAR])
    survivors = [reward for reward in found if reward is not None]
    queue, keys, counts = masked(survivors, ["g"] * len(survivors), [3] * len(survivors))
    assert survivors == [1.0]
    assert int(queue.rows[keys[0]]["response_mask"].sum()) == 0
    assert counts == {"judge/groups": 1.0, "judge/masked_groups": 1.0, "judge/masked_samples": 1.0}


async def test_a_question_put_again_is_a_re_ask_and_a_call_sent_again_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # Call 1 fails on the way and is made again as call 2; the reply to call 3 cannot be read, and call 4 asks again.
    scripted = ScriptedJudge(
        lambda call: 500 if call == 1 else 200,
        reply=lambda call, verdicts: "Hm." if call == 3 else json.dumps(verdicts),
    )
    with scripted.serve() as url:
        made = manager(tmp_path, monkeypatch, f"judge={judge('cats', url)}")
        assert await rewards(made, [CAT, JAR, NONE, CAT]) == [1.0, 0.0, 0.0, 1.0]
    assert scripted.calls == 6
    metrics = verl_groups.judge_metrics(1)
    assert metrics["judge/reask_rate"] == metrics["judge/retry_rate"] == 0.25
    log = RolloutLog(tmp_path / "rollouts.sqlite")
    judged = log.judged_in(1)
    log.close()
    assert [(one.repeated, one.asked_again) for one in judged] == [
        (True, False),
        (False, True),
        (False, False),
        (False, False),
    ]


async def test_a_used_up_budget_stops_the_run_and_a_higher_one_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(abstain_guard, "AFTER_THE_END", 0)
    scripted = ScriptedJudge()
    with scripted.serve() as url:
        made = manager(tmp_path, monkeypatch, f"judge={judge('cats', url)}", "judge.budget.calls=3")
        # Equal questions under way at once would be one call.
        jobs = [made.run_single(row([1] * (1 + index), index=index)) for index in range(3)]
        assert [found["reward_score"] for found in await asyncio.gather(*jobs)] == [1.0] * 3
        with pytest.raises(JudgeError, match="judge cats has reached its budget"):
            await rewards(made, [JAR])
        told = json.loads((tmp_path / "fatal.json").read_text())
        assert "budget.calls: 3 calls made of 3 allowed; spent: 3 calls, 330 tokens" in told["what"]
        assert "raise the limit" in told["remedy"]
        made = manager(tmp_path, monkeypatch, f"judge={judge('cats', url)}", "judge.budget.calls=4")
        assert await rewards(made, [JAR]) == [0.0]
    assert scripted.calls == 4
    log = RolloutLog(tmp_path / "rollouts.sqlite")
    statuses = log.recent_statuses(9)
    log.close()
    assert statuses == ["scored"] * 4, "the sample that the budget did not allow for has no reward, and no zero"


async def test_a_wrong_key_stops_the_run_with_the_servers_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(abstain_guard, "AFTER_THE_END", 0)
    scripted = ScriptedJudge(lambda call: 401)
    with scripted.serve() as url:
        made = manager(tmp_path, monkeypatch, f"judge={judge('cats', url)}")
        with pytest.raises(
            JudgeError, match=r"waiting does not mend this; the newest failure: .*status 401: as scripted"
        ):
            await rewards(made, [CAT] * abstain_guard.MINIMUM)
    assert scripted.calls == abstain_guard.MINIMUM
