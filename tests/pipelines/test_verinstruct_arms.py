"""The four arms of the judge study in small: each trains, is killed, goes on, is merged, answers and is scored.

What makes an arm an arm is in what it left: which calls the judge got, of what the reward is made, what the prompts
showed.
"""

import collections
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from arms_judge import ArmsJudge, opinion
from tiny_runs import ALWAYS, DURABLE, ROOT, Runner

pytestmark = [pytest.mark.arms, pytest.mark.verl, pytest.mark.slow]

ARMS = ("rl", "ruscarl", "rl_verif", "ruscarl_verif")
STEPS = 4


@pytest.fixture(scope="module")
def judge() -> Iterator[ArmsJudge]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = ArmsJudge(port)
    found.start()
    yield found
    found.close()


class Arm:
    """One arm's run, killed after its first checkpoint and resumed."""

    def __init__(self, name: str, judge: ArmsJudge, folder: Path) -> None:
        self.name = name
        self.verif, self.scaffold = name.endswith("verif"), name.startswith("ruscarl")
        protocol = "verif" if self.verif else "rubric"
        combine = ", combine: verif" if self.verif else ""
        overrides = [
            f"judge={{name: arms, family: hash, serving: external, endpoint: '{judge.url}', model_name: rule, "
            "context_tokens: 4096, logprobs: false, timeout_seconds: 20, max_concurrency: 8}",
            f"reward={{name: small, protocol: {protocol}, value: binary{combine}}}",
            # With the arm's own two the last one can be over before its kill.
            f"training.steps={STEPS}",
        ]
        before = judge.kinds.copy()
        self.runner = Runner(folder / "state", f"tiny_verinstruct_{name}")
        child = self.runner.start(*overrides)
        assert child.stdout is not None
        told = []
        for line in child.stdout:
            told.append(line)
            if re.search(rf"\[train-grpo\] step [12]/{STEPS}", line):
                break
        else:
            pytest.fail("".join(told)[-4000:])
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        assert self.runner.left_over() == []
        statuses, self.output = self.runner.run(*overrides)
        assert statuses == dict.fromkeys([*DURABLE, *ALWAYS], "ran") | {"prepare-data": "reused"}
        self.asked = judge.kinds - before
        self.rollouts = self.rows("train-grpo", "rollouts.parquet")
        self.verdicts = self.rows("train-grpo", "verdicts.parquet")
        self.calls = self.rows("train-grpo", "calls.parquet")

    def rows(self, step: str, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = pq.read_table(Path(self.runner.published(step)) / name).to_pylist()
        return found


@pytest.fixture(scope="module", params=ARMS)
def arm(request: pytest.FixtureRequest, judge: ArmsJudge, tmp_path_factory: pytest.TempPathFactory) -> Arm:
    return Arm(request.param, judge, tmp_path_factory.mktemp(request.param))


def test_the_killed_run_went_on_and_lost_no_step(arm: Arm) -> None:
    assert re.search(r"resuming from step [1-3]", arm.output)
    assert collections.Counter(row["step"] for row in arm.rollouts) == dict.fromkeys(range(1, STEPS + 1), 16)
    prompts = [row["row_id"] for row in arm.rollouts if row["sample_index"] == 0]
    assert len(set(prompts)) == len(prompts) == 16


def test_the_judge_was_asked_in_the_arms_own_form(arm: Arm) -> None:
    asked = set(arm.asked)
    assert asked == ({"rubric", "verif"} & {"verif" if arm.verif else "rubric"})
    protocols = {row["protocol"].split("/")[0] for row in arm.calls}
    assert protocols == asked
    rules = {row["protocol"].split("/")[1] for row in arm.verdicts if row["judge"] == "rule"}
    # The rubric's rows have counts of words at most, VerIF's have functions.
    assert rules == ({"python"} if arm.verif else rules & {"word_count_range"})


def test_no_verdict_of_the_judge_differs_from_its_opinion(arm: Arm) -> None:
    responses = {row["sample_id"]: row["response"] for row in arm.rollouts}
    lines: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
    for row in arm.verdicts:
        if row["judge"] == "arms" and row["status"] != "unknown" and row["sample_id"] in responses:
            lines[row["sample_id"]].append(row)
    assert len(lines) > 16
    for sample_id, found in lines.items():
        opinions = [opinion(row["criterion"], responses[sample_id]) for row in found]
        if arm.verif:
            opinions = [all(opinions)] * len(opinions)
        assert [row["status"] == "met" for row in found] == opinions


def test_the_scaffold_is_logged_where_there_is_one(arm: Arm) -> None:
    for row in arm.rollouts:
        parts = json.loads(row["parts"])
        assert ("scaffold_ratio" in parts) is arm.scaffold
        if arm.scaffold:
            # Linear by place in a group of four, and by step: everything at the first, nothing at the last.
            expected = (1 - row["sample_index"] / 3) * (STEPS - row["step"]) / (STEPS - 1)
            assert parts["scaffold_ratio"] == pytest.approx(expected, abs=1e-9)
    if arm.scaffold:
        shown = [json.loads(row["parts"])["scaffold_shown"] for row in arm.rollouts]
        assert max(shown) >= 2


def test_the_trainer_learns_on_plain_prompts_and_from_its_own_log_probabilities(arm: Arm) -> None:
    first = {row["name"]: row["value"] for row in arm.rows("train-grpo", "metrics.parquet") if row["step"] == 1}
    # Far shorter than any prompt that shows a rubric.
    assert first["prompt_length/max"] <= 64
    if arm.scaffold:
        # As published: old log-probabilities are the trainer's on the plain prompt, so the first ratio is exactly 1.
        assert first["actor/ppo_kl"] == pytest.approx(0.0, abs=1e-6)


def test_every_reward_is_that_of_a_script_which_knows_nothing_of_the_project(arm: Arm) -> None:
    training, data = arm.runner.published("train-grpo"), arm.runner.published("prepare-data")
    command = [sys.executable, str(ROOT / "tests/reward/recompute_rewards.py"), str(training)]
    command += [str(data / "train.parquet"), "--combine", "verif" if arm.verif else "rubric", "--value", "binary"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_reward_has_the_arms_own_parts(arm: Arm) -> None:
    scored = [json.loads(row["parts"]) for row in arm.rollouts if row["status"] == "scored"]
    assert len(scored) > 16
    own = {"rules", "judge"} if arm.verif else {"earned", "penalty", "unclipped"}
    for parts in scored:
        assert own <= set(parts)
        assert not ({"rules", "judge", "earned", "penalty"} - own) & set(parts)
