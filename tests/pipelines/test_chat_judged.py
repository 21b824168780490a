"""The whole pipeline with a chat judge that stumbles, lies about its form, and dies in the middle of training."""

import collections
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rule_judge import POINTS, RuleJudge, judged_by, truth
from tiny_runs import ALWAYS, DURABLE, Runner

pytestmark = [pytest.mark.arms, pytest.mark.verl, pytest.mark.slow]


@pytest.fixture(scope="module")
def runner(stumbling_judge: RuleJudge, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """After a run in which the judge died twice while responses were being judged."""
    judge = stumbling_judge
    runner = Runner(tmp_path_factory.mktemp("gavel") / "state")
    over = threading.Event()

    def trouble() -> None:
        for calls in (20, 60):
            while judge.calls < calls and not over.wait(0.05):
                pass
            if over.is_set():
                return
            judge.die()
            time.sleep(3)
            judge.start()

    thread = threading.Thread(target=trouble)
    thread.start()
    try:
        statuses, _ = runner.run(*judged_by(judge, "max_abstain_rate: 0.6"), "training.steps=4")
    finally:
        over.set()
        thread.join()
    assert statuses == dict.fromkeys([*DURABLE, *ALWAYS], "ran")
    return runner


def rows(runner: Runner, step: str, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(Path(runner.published(step)) / name).to_pylist()
    return found


def test_the_judge_died_and_stumbled_in_every_way(runner: Runner, stumbling_judge: RuleJudge) -> None:
    assert stumbling_judge.deaths == 2
    assert set(stumbling_judge.kinds) >= {
        "429",
        "500",
        "prose",
        "thinks",
        "list",
        "one left out",
        "cut",
        "nonsense",
        "labels",
    }


@pytest.mark.parametrize("step", ["train-grpo", "score"])
def test_no_known_verdict_differs_from_the_truth(runner: Runner, step: str) -> None:
    if step == "train-grpo":
        responses = {row["sample_id"]: row["response"] for row in rows(runner, "train-grpo", "rollouts.parquet")}
    else:
        responses = {
            f"{row['model']}-{row['row_id']}-{index}": response
            for row in rows(runner, "generate", "generations.parquet")
            for index, response in enumerate(row["responses"])
        }
    known = [row for row in rows(runner, step, "verdicts.parquet") if row["status"] != "unknown"]
    assert len(known) > 50
    for row in known:
        assert row["status"] == ("met" if truth(row["criterion"], responses[row["sample_id"]]) else "unmet"), row


def test_rewards_follow_from_the_rules_or_are_masked(runner: Runner) -> None:
    """Points 2, 1 and -1: earned over 3, cut at 0; computed here from the response alone."""
    rollouts = rows(runner, "train-grpo", "rollouts.parquet")
    assert collections.Counter(row["step"] for row in rollouts) == dict.fromkeys(range(1, 5), 16)
    verdicts: dict[str, dict[str, str]] = collections.defaultdict(dict)
    for row in rows(runner, "train-grpo", "verdicts.parquet"):
        verdicts[row["sample_id"]][row["criterion"]] = row["status"]
    scored = 0
    for row in rollouts:
        text = row["response"]
        if row["status"] != "scored":
            assert row["reward"] is None
            assert "unknown" in verdicts[row["sample_id"]].values()
            continue
        scored += 1
        known = verdicts[row["sample_id"]]
        positive = [name for name, points in POINTS.items() if points > 0 and known[name] != "unknown"]
        total = sum(POINTS[name] * truth(name, text) for name in [*positive, "has a digit"])
        assert row["reward"] == pytest.approx(max(0.0, total / sum(POINTS[name] for name in positive)), abs=1e-9)
    assert scored >= len(rollouts) / 2


def test_every_call_that_the_judge_answered_is_in_the_ledger(runner: Runner, stumbling_judge: RuleJudge) -> None:
    calls = [row for step in ("train-grpo", "score") for row in rows(runner, step, "calls.parquet")]
    whole = [row for row in calls if row["finish"] is not None and not row["from_cache"]]
    # The probe's calls are in a ledger of its own; it asks three times and again where it must.
    assert stumbling_judge.good - len(whole) in range(3, 12)
    assert {row["purpose"] for row in calls} >= {"ask", "again", "single"}
    assert sum(row["attempts"] for row in calls) <= stumbling_judge.calls + 8 * 2 * stumbling_judge.deaths
