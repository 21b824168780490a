"""The reward manager with canaries, on a judge over HTTP: what verl sees of them, and what it does not."""

from pathlib import Path

import pytest
from scripted_judge import ScriptedJudge

pytest.importorskip("torch")
pytest.importorskip("verl")
from test_manager_judges import BOTH, CAT, NONE, judge, manager, rewards, row

from components.judge.canary import is_canary
from components.judge.memory import Ledger
from components.reward import verl_groups
from components.reward.rollout_log import RolloutLog
from components.reward.verl_manager import AbstainedError

RESPONSES = [CAT, NONE, BOTH, []]


def rollouts(folder: Path) -> list[dict[str, object]]:
    log = RolloutLog(folder / "rollouts.sqlite")
    found = log.rows()
    log.close()
    return found


async def test_the_policys_samples_and_counts_are_what_they_are_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {}
    with ScriptedJudge().serve() as url:
        for name, more in (("with", ["training.canaries={per_step: 3}"]), ("without", [])):
            folder = tmp_path / name
            folder.mkdir()
            made = manager(folder, monkeypatch, f"judge={judge('cats', url)}", *more)
            values = await rewards(made, RESPONSES)
            assert made._ledger._asked == {}
            found[name] = (values, rollouts(folder), verl_groups.judge_metrics(1), list(made._guard._recent))
            canaries = verl_groups.canary_metrics(1)
            assert ("canary/sent" in canaries) == (name == "with")
    assert found["with"][0] == found["without"][0] == [1.0, 0.0, 1.0, None]
    assert found["with"][1:3] == found["without"][1:3]
    assert len(found["with"][3]) == len(found["without"][3]) == 3
    with Ledger(tmp_path / "with" / "ledger.sqlite") as ledger:
        theirs = [entry for entry in ledger.rows() if is_canary(entry.sample_id)]
        calls = [call for call in ledger.calls() if is_canary(call.sample_id)]
    # One of three: the step has one prompt here, where tiny draws four.
    assert [(entry.sample_id, entry.row_id, entry.status) for entry in theirs] == [("canary-1-1-0", "g", "unmet")]
    assert len(calls) == 1


async def test_a_judge_that_likes_empty_words_shows_in_the_metrics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedJudge(liked="").serve() as url:
        made = manager(tmp_path, monkeypatch, f"judge={judge('glad', url)}", "training.canaries={per_step: 8}")
        await rewards(made, [CAT, NONE])
    assert verl_groups.canary_metrics(1) == {
        "canary/sent": 2.0,
        "canary/rewarded": 2.0,
        "canary/unknown": 0.0,
        "canary/reward_mean": 1.0,
    }
    assert capsys.readouterr().out.count("[canary] step 1") == 2
    assert verl_groups.canary_metrics(2) == {}


async def test_a_judge_that_fails_leaves_them_unknown_and_the_guard_does_not_count_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The response is judged; every call after it fails.
    with ScriptedJudge(status=lambda call: 200 if call == 1 else 400).serve() as url:
        made = manager(tmp_path, monkeypatch, f"judge={judge('cats', url)}", "training.canaries={per_step: 4}")
        try:
            assert (await made.run_single(row(CAT)))["reward_score"] == 1.0
            assert [each.abstained for each in made._guard._recent] == [False]
            with pytest.raises(AbstainedError):
                await made.run_single(row(CAT, index=1))
            assert [each.abstained for each in made._guard._recent] == [False, True]
        finally:
            await made._rewarder.close()
            made._ledger.close()
    assert verl_groups.canary_metrics(1) == {"canary/sent": 1.0, "canary/rewarded": 0.0, "canary/unknown": 1.0}
    assert verl_groups.judge_metrics(1)["judge/abstain_rate"] == 0.5
