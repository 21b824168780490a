"""The reward manager with each way to combine: what verl is given, and what the rollouts keep of it."""

import json
from pathlib import Path

import pytest
from scripted_judge import ScriptedJudge

pytest.importorskip("torch")
pytest.importorskip("verl")
from test_manager_judges import NOBODY, judge, manager, row

from components.core.errors import ContractError, JudgeError
from components.judge.memory import Ledger
from components.reward import abstain_guard, verl_groups
from components.reward.rollout_log import RolloutLog
from components.reward.verl_manager import AbstainedError, GavelRewardManager

CAT = {"text": "It has the word.", "points": 1.0}
SHORT = {
    "text": "At most two words.",
    "points": 1.0,
    "verifier": "rule",
    "rule": {"name": "word_count_range", "min_count": 0, "max_count": 2},
}
LONG = SHORT | {"text": "Three words.", "rule": {"name": "word_count_range", "min_count": 3, "max_count": 3}}
BROKEN = SHORT | {
    "text": "A rule.",
    "rule": {"name": "python", "function": "def check_following(i, r):\n    return r.x"},
}


async def scored(made: GavelRewardManager, rubric: list[dict[str, object]], *responses: list[int], step: int = 1):
    found: list[float | None] = []
    try:
        for index, response in enumerate(responses):
            try:
                got = await made.run_single(row(response, index=index, step=step, rubric=rubric))
                found.append(got["reward_score"])
            except AbstainedError:
                found.append(None)
    finally:
        await made._rewarder.close()
        made._ledger.close()
    return found


def rollouts(folder: Path) -> list[dict[str, object]]:
    log = RolloutLog(folder / "rollouts.sqlite")
    rows = log.rows()
    log.close()
    return [{**each, "parts": json.loads(each["parts"])} for each in rows]


async def test_verif_in_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # cat; cat cat cat (too long for one of two rules); jar.
    scripted = ScriptedJudge(reply=lambda call, verdicts: "[[1]]" if call < 3 else "[[0]]")
    with scripted.serve() as url:
        made = manager(tmp_path, monkeypatch, "reward=verif-rules-and-judge", f"judge={judge('cats', url)}")
        assert await scored(made, [SHORT, CAT, LONG], [1], [1, 1, 1], [2]) == [0.5, 0.5, 0.0]
    assert [each["parts"] for each in rollouts(tmp_path)] == [
        {"rules": 0.5, "judge": 1.0, "rule_lines": 2.0, "llm_lines": 1.0},
        {"rules": 0.5, "judge": 1.0, "rule_lines": 2.0, "llm_lines": 1.0},
        {"rules": 0.5, "judge": 0.0, "rule_lines": 2.0, "llm_lines": 1.0},
    ]
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        first = {entry.criterion_index: entry.judge for entry in ledger.rows() if entry.sample_id == "1-1-g-0"}
    assert first == {0: "rule", 1: "cats", 2: "rule"}
    metrics = verl_groups.judge_metrics(1)
    assert metrics["judge/rule_failure_rate"] == metrics["judge/abstain_rate"] == metrics["judge/empty_rate"] == 0.0


async def test_unclipped_rewards_go_below_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedJudge().serve() as url:
        made = manager(tmp_path, monkeypatch, "reward.clip=false", f"judge={judge('cats', url)}")
        assert await scored(made, [CAT | {"points": -2.0}, SHORT], [1], [2]) == [-1.0, 1.0]


@pytest.mark.parametrize("reward", ["length", "format", "random", "rule-only"])
async def test_control_arms_ask_nobody(reward: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = {
        "length": ["reward.length_target=4"],
        "rule-only": [
            "data.criteria.0.verifier=rule",
            "data.criteria.0.rule={name: word_count_range, min_count: 1, max_count: 2}",
        ],
    }.get(reward, [])
    made = manager(tmp_path, monkeypatch, f"reward={reward}", f"judge={judge('gone', NOBODY)}", *changes)
    found = await scored(made, [CAT, SHORT, LONG], [1], [1, 1, 1], [])
    expected = {"length": [0.25, 0.75, 0.0], "rule-only": [0.5, 0.5, 0.5]}.get(reward)
    if expected is not None:
        assert found == expected
    assert None not in found
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert ledger.calls() == []
        assert {entry.judge for entry in ledger.rows()} == ({"rule"} if reward == "rule-only" else set())
    assert verl_groups.judge_metrics(1)["judge/abstain_rate"] == 0.0
    assert {each["status"] for each in rollouts(tmp_path)} == {"scored"}


async def test_a_random_reward_is_the_same_after_a_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for attempt in (1, 2):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        made = manager(folder, monkeypatch, "reward=random", f"judge={judge('g', NOBODY)}", attempt=attempt)
        found.append(await scored(made, [CAT], [1], [2], [3], step=5))
    assert found[0] == found[1]
    assert len(set(found[0])) == 3
    seeds = manager(tmp_path, monkeypatch, "reward=random", f"judge={judge('g', NOBODY)}", "seed=99")
    assert await scored(seeds, [CAT], [1], [2], [3], step=5) != found[0]


async def test_a_row_that_the_reward_has_no_number_for_stops_the_run_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(abstain_guard, "AFTER_THE_END", 0)
    with ScriptedJudge().serve() as url:
        made = manager(tmp_path, monkeypatch, "reward=verif-rules-and-judge", f"judge={judge('cats', url)}")
        with pytest.raises(ContractError, match="is a penalty"):
            await scored(made, [CAT, SHORT | {"points": -1.0}], [1])
    told = json.loads((tmp_path / "fatal.json").read_text())
    assert told["where"] == "row g"
    assert "reward.combine: rubric" in told["remedy"]


async def test_rules_that_do_not_run_end_it_and_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abstain_guard, "AFTER_THE_END", 0)
    with ScriptedJudge(reply=lambda call, verdicts: "[[1]]").serve() as url:
        made = manager(tmp_path, monkeypatch, "reward=verif-rules-and-judge", f"judge={judge('cats', url)}")
        with pytest.raises(JudgeError, match=r"^rules could not be checked .*waiting does not mend this.*line 1: .*x"):
            await scored(made, [BROKEN, CAT], *[[1]] * abstain_guard.MINIMUM)
    assert all(each["reward"] is None and each["reason"] == "rules_unknown" for each in rollouts(tmp_path))


async def test_a_policy_that_falls_silent_is_told_from_a_judge_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(abstain_guard, "AFTER_THE_END", 0)
    scripted = ScriptedJudge()
    with scripted.serve() as url:
        made = manager(tmp_path, monkeypatch, f"judge={judge('cats', url)}")
        # tiny draws 4 x 4 samples a step; 64 in a row are more than two steps.
        quiet = [[]] * 63
        found = await scored(made, [CAT], *quiet[:40], [1], *quiet)
        assert found == [None] * 40 + [1.0] + [None] * 63
        metrics = verl_groups.judge_metrics(1)
        assert metrics["judge/empty_rate"] == metrics["judge/abstain_rate"] == pytest.approx(103 / 104)
        assert metrics["judge/parse_failure_rate"] == 0.0
        made = manager(tmp_path, monkeypatch, f"judge={judge('cats', url)}")
        with pytest.raises(JudgeError, match="the policy's newest 64 responses are all empty"):
            await scored(made, [CAT], *[[]] * 64)
    assert scripted.calls == 1


async def test_the_end_quotes_what_the_judge_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abstain_guard, "AFTER_THE_END", 0)
    monkeypatch.setattr(abstain_guard, "SHORT_PAUSE", 0.1)
    with ScriptedJudge(reply=lambda call, verdicts: "Lorem\nipsum " * 40).serve() as url:
        made = manager(tmp_path, monkeypatch, f"judge={judge('cats', url)}")
        with pytest.raises(
            JudgeError, match=r"stayed unreadable .*the newest unreadable reply begins 'Lorem ipsum Lorem .* \.\.\."
        ):
            await scored(made, [CAT], *[[1]] * abstain_guard.MINIMUM)


async def test_a_prompt_that_is_drawn_twice_in_a_step_has_samples_of_its_own_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = manager(tmp_path, monkeypatch, "reward=length", f"judge={judge('gone', NOBODY)}")
    for _ in range(2):
        for index in (0, 1):
            await made.run_single(row([1], index=index, step=3))
    assert await scored(made, [CAT], [1], step=4) != [None]
    found = [each["sample_id"] for each in rollouts(tmp_path)]
    assert sorted(found) == ["3-1-g-0", "3-1-g-0-2", "3-1-g-1", "3-1-g-1-2", "4-1-g-0"]
