"""A killed training sees the prompts in the order of an unbroken one, refilled groups included, and the checkpoint path
beside the pipeline: merge, evaluate and score again what a run has left."""

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

import pyarrow.parquet as pq
import pytest
from aiohttp import web
from rule_judge import RuleJudge, judged_by
from tiny_runs import ALWAYS, ROOT, Runner

pytestmark = [pytest.mark.kills, pytest.mark.verl, pytest.mark.slow]

# Three steps go more than once through the data, whose second round is shuffled otherwise.
COMMON = ("seed=5", "training.steps=4", "training.checkpoint_every=2", "data.train_rows=12")
PROMPTS = ROOT / "tests" / "score" / "ifeval" / "prompts.jsonl"
GROUP = 4
"""Rollouts of a prompt."""
REFUSED = ("the school hall", "a summer storm", "the city square")
"""In three of the twelve prompts. What the judge says on them cannot be read: none of their responses is judged."""


class Refusing(RuleJudge):
    """Stumbles over the same prompts each time."""

    async def _answer(self, fault: str, verdicts: dict[str, str], request: web.Request) -> web.StreamResponse:
        prompt = (await request.json())["messages"][-1]["content"]
        refused = any(subject in prompt for subject in REFUSED)
        return await super()._answer("nonsense" if refused else "plain", verdicts, request)


@pytest.fixture(scope="module")
def judge() -> Iterator[Refusing]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = Refusing(port, faults=False)
    found.start()
    yield found
    found.close()


@pytest.fixture(scope="module")
def runs(judge: Refusing, tmp_path_factory: pytest.TempPathFactory) -> tuple[Runner, Runner]:
    """An unbroken run, and one that was killed after its third step and resumed."""
    more = (*COMMON, *judged_by(judge, "max_abstain_rate: 0.9"), "data.train_rows=12")
    unbroken = Runner(tmp_path_factory.mktemp("unbroken") / "state")
    unbroken.run(*more)
    killed = Runner(tmp_path_factory.mktemp("killed") / "state")
    child = killed.start(*more)
    assert child.stdout is not None
    for line in child.stdout:
        if re.search(r"\[train-grpo\] step 3/4", line):
            break
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    assert killed.left_over() == []
    _, output = killed.run(*more)
    assert re.search(r"resuming from step 2", output), "more than one checkpoint interval was lost"
    return unbroken, killed


def rollouts(runner: Runner) -> list[dict]:
    found: list[dict] = pq.read_table(runner.published("train-grpo") / "rollouts.parquet").to_pylist()
    return found


def by_step(runner: Runner) -> dict[int, list[str]]:
    """Rows of each step, once for each time that they were drawn; with a refilled group that can be twice in a step."""
    samples = collections.Counter((row["step"], row["row_id"]) for row in rollouts(runner))
    steps: dict[int, list[str]] = collections.defaultdict(list)
    for (step, row_id), count in sorted(samples.items()):
        assert count % GROUP == 0
        steps[step] += [row_id] * (count // GROUP)
    return dict(steps)


def refilled(runner: Runner) -> dict[int, int]:
    rows = pq.read_table(runner.published("train-grpo") / "metrics.parquet").to_pylist()
    return {row["step"]: int(row["value"]) for row in rows if row["name"] == "judge/refilled_groups"}


def test_each_step_has_the_prompts_of_the_unbroken_run(runs: tuple[Runner, Runner]):
    unbroken, killed = runs
    assert by_step(killed) == by_step(unbroken)
    attempts = collections.defaultdict(set)
    for row in rollouts(killed):
        attempts[row["step"] > 2].add(row["attempt"])
    # On a busy machine the trainer may have been started once more, before its first step.
    assert max(attempts[False]) < min(attempts[True])


def test_refilled_groups_are_counted_and_nothing_is_skipped_or_repeated(runs: tuple[Runner, Runner]):
    for runner in runs:
        steps, replaced = by_step(runner), refilled(runner)
        assert sorted(replaced) == [1, 2, 3, 4]
        assert sum(replaced.values()) > 0
        # A step asks for four prompts, and for one more for each that was refused as a whole.
        assert {step: len(found) for step, found in steps.items()} == {step: 4 + n for step, n in replaced.items()}
        abstained = collections.Counter(row["step"] for row in rollouts(runner) if row["status"] == "abstained")
        assert {step: abstained[step] / GROUP for step in steps} == replaced
        # Each round through the twelve rows has each once: the first twelve prompts drawn are all of them.
        drawn = [row_id for step in sorted(steps) for row_id in steps[step]]
        assert max(collections.Counter(drawn).values()) <= -(-len(drawn) // 12)


def test_ifeval_joins_a_finished_run_without_repeating_it(runs: tuple[Runner, Runner], judge: Refusing):
    unbroken, _ = runs
    asked = f"evaluation.ifeval={{path: '{PROMPTS}', limit: 6, max_response_tokens: 8, base: true}}"
    statuses, _ = unbroken.run(*COMMON, *judged_by(judge, "max_abstain_rate: 0.9"), "data.train_rows=12", asked)
    ran = {step for step, status in statuses.items() if status == "ran"} - set(ALWAYS)
    assert ran == {"generate-ifeval", "ifeval", "report"}
    summary = json.loads((unbroken.published("report") / "summary.json").read_text())
    assert set(summary["ifeval"]["shares"]) == {"base", "trained"}
    metadata = json.loads((unbroken.published("ifeval") / "manifest.json").read_text())["metadata"]
    assert metadata["Pr_S"] == summary["ifeval"]["shares"]["trained"]["Pr_S"]["value"]
    assert {"Pr_S", "Ins_S", "Pr_L", "Ins_L", "base_Pr_S"} <= set(metadata)
    unbroken.run(*COMMON, *judged_by(judge, "max_abstain_rate: 0.9"), "data.train_rows=12")
    assert "ifeval" not in unbroken.statuses()


def command(runner: Runner, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env=runner.environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_stored_responses_are_scored_by_the_embedded_judge(runs: tuple[Runner, Runner], tmp_path: Path):
    unbroken, _ = runs
    generations, data = unbroken.published("generate"), unbroken.published("prepare-data")
    output = command(
        unbroken,
        "components.score",
        "rescore",
        "--generations",
        str(generations),
        "--data",
        str(data),
        "--experiment",
        "tiny",
        "--output",
        str(tmp_path / "out"),
    )
    assert "judge tiny-lr" in output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["models"]["trained"]["abstained"] == 0
    assert unbroken.left_over() == []


def test_a_checkpoint_of_the_run_is_evaluated_by_itself(runs: tuple[Runner, Runner]):
    unbroken, _ = runs
    scores = unbroken.published("score") / "summary.json"
    (checkpoint,) = unbroken.state.glob("store/tiny/train-grpo/*/*/checkpoint")
    asked = f"evaluation.ifeval={{path: '{PROMPTS}', limit: 6, max_response_tokens: 8}}"
    more = [f"CHECKPOINT={checkpoint}", "EXPERIMENT=tiny", *COMMON, asked, "training.steps=9"]
    output = command(unbroken, "pipelines", "eval", *more)
    assert "test_score/tiny-sentences" in output
    assert "IFEval, trained" in output
    figures = json.loads(Path(output.rstrip().rpartition("figures: ")[2]).read_text())
    assert set(figures["models"]) == {"trained"}
    assert figures["models"]["trained"]["samples"] == json.loads(scores.read_text())["models"]["trained"]["samples"]
    assert figures["ifeval"]["trained"]["prompts"] == 6
    statuses = unbroken.statuses()
    assert statuses["import-model"] == "ran"
    assert statuses["ifeval"] == "ran"
    assert unbroken.left_over() == []
