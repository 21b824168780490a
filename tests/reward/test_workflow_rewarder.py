"""Rewards of workflows against a scripted executor model over HTTP: each status, what the log holds, and who failed.

Expected values by hand from configs/ladders/workflow.yaml: one call of 110 tokens in no time and a single block give
0.65 + 0.15 + 0.10 + 0.05 = 0.95 for a right answer and -0.325 + 0.05 = -0.275 for a wrong one.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scripted_executor import Model, Reply
from scripted_judge import MODEL, ScriptedJudge
from workflow_runs import CAPITAL, CATCHES, DOUBLE, ONE_CALL, RAISES, SUM, THREE_CALLS, experiment, sample

from components.core.contracts import WORKFLOWS, read_table, write_table
from components.core.errors import ContractError
from components.judge.memory import Ledger
from components.judge.verdict import Sample, VerdictStatus
from components.reward.judgement import Judgement
from components.reward.rewarder import Draw
from components.reward.workflow_rewarder import build_workflow_rewarder
from components.workflow.buffer.buffer import ExperienceBuffer
from components.workflow.buffer.entry import Forbidden
from components.workflow.log import WorkflowLog
from components.workflow.log_name import NAME

RIGHT, WRONG, LOWEST = 0.95, -0.275, -1.0
DRAW = Draw(seed=1, step=1, index=0)


async def judged(
    folder: Path, replies: Sequence[Reply], samples: Sequence[Sample], *overrides: str, **executor: object
) -> list[Judgement]:
    """The judgements, one after the other."""
    model = Model(*replies)
    async with model.serve() as url:
        made = experiment(url, *overrides, **executor)
        with Ledger(folder / "ledger.sqlite") as ledger:
            rewarder = build_workflow_rewarder(made, folder / "state", ledger, work=folder)
            try:
                return [await rewarder.reward(each, DRAW) for each in samples]
            finally:
                await rewarder.close()


def logged(folder: Path) -> list[dict[str, object]]:
    log = WorkflowLog(folder / NAME)
    rows = log.rows()
    log.close()
    return rows


@pytest.mark.parametrize(
    ("reply", "response", "value", "reason", "status"),
    [
        ("The answer is \\boxed{42}.", ONE_CALL, RIGHT, None, "answered"),
        ("The answer is \\boxed{41}.", ONE_CALL, WRONG, None, "answered"),
        ("\\boxed{42}", ONE_CALL.replace("await ", ""), LOWEST, "invalid:missing_await", "invalid"),
        ("\\boxed{42}", "I would ask the model.", LOWEST, "invalid:no_code", "invalid"),
        ("\\boxed{42}", "", LOWEST, "invalid:empty", "invalid"),
        ("\\boxed{42}", RAISES, LOWEST, "failed:exception", "failed"),
    ],
)
async def test_each_end_of_a_workflow_has_its_reward(
    reply: str, response: str, value: float, reason: str | None, status: str, tmp_path: Path
) -> None:
    (found,) = await judged(tmp_path, [reply], [sample(response)])
    assert found.reward.value == pytest.approx(value)
    assert (found.reward.status, found.reward.reason, found.abstained) == ("scored", reason, False)
    assert found.reward.parts["valid"] == float(status != "invalid")
    # Only who was asked is told to be up.
    assert [verdict.judge for verdict in found.verdicts] == ([] if status == "invalid" else ["scripted"])
    (row,) = logged(tmp_path)
    assert (row["status"], row["reason"], row["reward"]) == (status, reason, pytest.approx(value))
    assert row["right"] == {RIGHT: True, WRONG: False}.get(value)


@pytest.mark.parametrize(
    ("reply", "reason", "passing"),
    [
        ((503, {"error": "overloaded"}), "judge_down", True),
        ((401, {"error": "no such key"}), "rejected", False),
        ((200, b"<html>"), "unparseable", False),
    ],
)
async def test_an_executor_that_fails_abstains_and_is_named(
    reply: Reply, reason: str, passing: bool, tmp_path: Path
) -> None:
    # Not even a program that catches everything makes a number of it.
    found = await judged(tmp_path, [reply], [sample(ONE_CALL), sample(CATCHES, sample_id="1-1-r-1")])
    for each in found:
        assert (each.reward.status, each.reward.value) == ("abstained", None)
        assert each.may_pass is passing
        assert [(verdict.judge, str(verdict.status)) for verdict in each.verdicts] == [("scripted", "unknown")]
        assert "valid" not in each.reward.parts
    assert {row["status"] for row in logged(tmp_path)} == {"abstained"}
    assert {row["reward"] for row in logged(tmp_path)} == {None}
    assert found[0].reasons == [reason]


async def test_nobody_there_abstains(tmp_path: Path) -> None:
    made = experiment("http://127.0.0.1:9")
    rewarder = build_workflow_rewarder(made, tmp_path / "state", None, work=tmp_path)
    found = await rewarder.reward(sample(ONE_CALL), DRAW)
    await rewarder.close()
    assert (found.reward.value, found.reasons, found.may_pass) == (None, ["judge_down"], True)


async def test_the_runs_budget_abstains_and_the_workflows_own_fails(tmp_path: Path) -> None:
    samples = [sample(ONE_CALL, sample_id=f"1-1-r-{number}") for number in range(2)]
    first, second = await judged(tmp_path, ["\\boxed{42}"], samples, budget={"calls": 1})
    assert first.reward.value == pytest.approx(RIGHT)
    assert (second.reward.value, second.unpaid) == (None, True)
    (third,) = await judged(tmp_path / "other", ["\\boxed{42}"], [sample(THREE_CALLS)], "workflow.budget.calls=2")
    assert (third.reward.value, third.reward.reason, third.unpaid) == (LOWEST, "failed:budget", False)


async def test_programs_are_tested_and_answers_count_by_f1(tmp_path: Path) -> None:
    code = "```python\ndef double(x):\n    return 2 * x\n```"
    samples = [sample(ONE_CALL, DOUBLE), sample(ONE_CALL, CAPITAL)]
    found = await judged(tmp_path, [code, "Answer: the city of Oslo"], samples)
    assert found[0].reward.value == pytest.approx(RIGHT)
    # F1 of "city of oslo" (articles are no words) with "oslo": 2 x 1/3 x 1 / (1/3 + 1) = 0.5, which is worth 0.1.
    assert found[1].reward.value == pytest.approx(0.65 * 0.1 + 0.05)


def judge(url: str) -> list[str]:
    spec = (
        f"{{name: cats, family: test, serving: external, endpoint: '{url}', model_name: {MODEL}, logprobs: false, "
        "context_tokens: 4096, timeout_seconds: 1, attempts: 2, cache: false}"
    )
    return [f"judge={spec}", "workflow.correctness.qa=judge", "data.mixture.decided_by.qa=judge"]


async def test_a_judge_says_what_is_right_or_it_is_not_known(tmp_path: Path) -> None:
    asked = [sample(ONE_CALL, CAPITAL, judged="Oslo"), sample(ONE_CALL, CAPITAL, judged="Oslo", sample_id="b")]
    said = '{{"explanation": "As scripted.", "same": {}}}'
    with ScriptedJudge(reply=lambda call, _: said.format("true" if call < 2 else "false")).serve() as url:
        right, wrong = await judged(tmp_path, ["It is Oslo, I think."], asked, *judge(url))
    assert (right.reward.value, wrong.reward.value) == (pytest.approx(RIGHT), pytest.approx(WRONG))
    (unknown,) = await judged(tmp_path, ["Oslo"], asked[:1], *judge("http://127.0.0.1:9"))
    assert (unknown.reward.value, unknown.reward.reason) == (None, "judge:judge_down")
    assert [verdict.judge for verdict in unknown.verdicts] == ["cats"]
    # The official check is recorded, and decides nothing: F1 of one word in five is 2 / (5 + 1).
    assert sorted({row["gold"] for row in logged(tmp_path)}) == [pytest.approx(1 / 3), 1.0]


async def test_the_log_is_a_table_and_tells_whose_calls_they_were(tmp_path: Path) -> None:
    await judged(tmp_path, ["\\boxed{42}"], [sample(THREE_CALLS, sample_id="1-1-r-0")])
    write_table(tmp_path / "workflows.parquet", logged(tmp_path), WORKFLOWS)
    (row,) = read_table(tmp_path / "workflows.parquet", WORKFLOWS).to_pylist()
    assert (row["calls"], row["replies"], row["tokens"]) == (3, 3, 330)
    trace = json.loads(row["trace"])
    assert [call["operator"] for call in trace] == ["Custom"] * 3
    # Layer 2 is in the trace where it was applied.
    assert {bool(call["enhancement"]) for call in trace} == {True}
    with Ledger(tmp_path / "ledger.sqlite", make=False) as ledger:
        assert set(ledger.select("SELECT sample_id FROM calls", ())) == {("1-1-r-0",)}


class Counted:
    """Vectors that need no model."""

    name, version = "counted", "1"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.stack([np.array([1.0, 0.0], np.float32) for _ in texts]) if texts else np.empty((0, 2), np.float32)


async def test_the_buffer_gets_what_is_right_and_good_enough(tmp_path: Path) -> None:
    model = Model("\\boxed{42}", "\\boxed{41}", "\\boxed{42}")
    async with model.serve() as url:
        made = experiment(url)
        assert made.workflow is not None
        buffer = ExperienceBuffer(
            tmp_path, made.workflow.buffer, made.workflow.reward.scale, Forbidden.of([]), Counted()
        )
        rewarder = build_workflow_rewarder(made, tmp_path / "state", None, work=tmp_path, buffer=buffer)
        for number, response in enumerate([ONE_CALL, ONE_CALL, RAISES]):
            await rewarder.reward(sample(response, sample_id=f"1-1-r-{number}"), DRAW)
        (entry,) = buffer.entries()
        await rewarder.close()
    assert (entry.reward, entry.step, entry.judge, entry.executor) == (pytest.approx(RIGHT), 1, "gold", "scripted")


async def test_a_row_that_is_no_task_is_refused(tmp_path: Path) -> None:
    rewarder = build_workflow_rewarder(experiment("http://127.0.0.1:9"), tmp_path, None)
    with pytest.raises(ContractError, match="0 lines of rule task"):
        await rewarder.reward(Sample("r", "s", "Q?", ONE_CALL, ()), DRAW)
    await rewarder.close()


async def test_an_executor_that_moved_is_found_again(tmp_path: Path) -> None:
    from components.judge.endpoint import Endpoint, record_endpoint

    made = experiment("http://127.0.0.1:9")
    assert made.workflow is not None
    # Of a model of this machine the address is looked up by name.
    text = made.model_dump(mode="json")
    text["workflow"]["executor"] |= {"serving": "embedded", "endpoint": None, "source": {"kind": "tiny", "seed": 1}}
    moved = type(made).from_json(json.dumps(text))
    record_endpoint("scripted", tmp_path, Endpoint("http://127.0.0.1:9", "scripted-model"))
    rewarder = build_workflow_rewarder(moved, tmp_path, None)
    async with Model("\\boxed{42}").serve() as url:
        record_endpoint("scripted", tmp_path, Endpoint(url, "scripted-model"))
        found = await rewarder.reward(sample(ONE_CALL, SUM), DRAW)
    await rewarder.close()
    assert found.reward.value == pytest.approx(RIGHT)
    assert [verdict.status for verdict in found.verdicts] == [VerdictStatus.MET]
