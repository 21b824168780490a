"""Answers that are workflows: each is executed, and what it answers is scored by the official metric of its set."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from components.core.contracts import WORKFLOWS, write_table
from components.core.errors import StepError
from components.core.step import StepContext
from components.judge.deployed import keeping
from components.judge.memory import Ledger
from components.judge.memory.shipping import LEDGER, shipped
from components.reward.remedies import remedy_for, what_was_lost
from components.reward.shortfall import newest_words, over_budget
from components.reward.workflow_rewarder import judgement_of
from components.score_tasks.fields import score_fields
from components.tasks.gold import QaGold, TaskGold
from components.tasks.score import TaskScore
from components.tasks.tables import Tests
from components.workflow.attempts import Asked, Attempts, Tried
from components.workflow.build import build_attempts, workflow_of
from components.workflow.log import WorkflowLog, row_of
from components.workflow.log_name import NAME, TABLE
from components.workflow.prompts.problems import problem_of

if TYPE_CHECKING:
    from components.reward.judgement import Judgement

GOLD: Final = {"math": "gold", "qa": "gold", "code": "gold"}
"""Tests are scored by their official metrics, whoever decides in training."""
KEPT: Final = "scored.jsonl"
"""In the work folder: what is known of answers, a line each, so that a killed step goes on."""


def score_workflows(
    context: StepContext, answers: Sequence[Mapping[str, Any]], tests: Tests, golds: Mapping[str, TaskGold]
) -> list[dict[str, Any]]:
    """Columns of TASK_SCORES beside the origin, in the order of answers and their samples; writes workflows.parquet and
    calls.parquet.

    What is no workflow, or fails, is a wrong answer with a reason. What abstained is unknown.

    Raises:
        StepError: too many abstain; it names the executor model.
        JudgeError: the executor model is not deployed, cannot be asked at all, or its budget is used up.
    """
    experiment = context.experiment
    path = context.work / LEDGER
    kept = keeping(experiment.served(), experiment.cluster, experiment.name, context.progress)
    with shipped(path, context), Ledger(path) as ledger, kept:
        work = _Work(context, ledger)
        try:
            fields = asyncio.run(work.all(answers, tests, golds))
        finally:
            work.close()
        ledger.export_calls(context.out / "calls.parquet")
    log = WorkflowLog(context.work / NAME)
    wanted = [_sample_id(row, index) for row in answers for index in range(len(row["responses"]))]
    write_table(context.out / TABLE, log.rows(wanted), WORKFLOWS)
    log.close()
    return fields


class _Work:
    """The answers of one step.

    Args:
        context: of the step.
        ledger: gets every call.
    """

    def __init__(self, context: StepContext, ledger: Ledger) -> None:
        self._context, self._experiment, self._ledger = context, context.experiment, ledger
        self._executor = workflow_of(self._experiment).executor
        self._log = WorkflowLog(context.work / NAME)
        self._path = context.work / KEPT
        self._known = _read(self._path)
        self._lost: list[Judgement] = []
        self._seen = 0
        self._tried: dict[tuple[str, str], asyncio.Task[tuple[Asked, Tried]]] = {}

    def close(self) -> None:
        """Close the log."""
        self._log.close()

    async def all(
        self, answers: Sequence[Mapping[str, Any]], tests: Tests, golds: Mapping[str, TaskGold]
    ) -> list[dict[str, Any]]:
        """See :func:`score_workflows`."""
        pending = [(row, index) for row in answers for index in range(len(row["responses"]))]
        done = sum(_sample_id(row, index) in self._known for row, index in pending)
        self._context.progress.begin(len(pending), "workflow", done=done)
        if done == len(pending):
            return [self._known[_sample_id(row, index)] for row, index in pending]
        attempts = build_attempts(self._experiment, self._context.state, self._ledger, correctness=GOLD)
        slots = asyncio.Semaphore(self._executor.max_concurrency)

        async def one(row: Mapping[str, Any], index: int) -> dict[str, Any]:
            name = _sample_id(row, index)
            if name in self._known:
                return self._known[name]
            async with slots:
                fields = await self._one(row, index, tests, golds, attempts, of=len(pending))
            self._context.progress.advance()
            return fields

        tasks = [asyncio.create_task(one(row, index)) for row, index in pending]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in (*tasks, *self._tried.values()):
                task.cancel()
            await asyncio.gather(*tasks, *self._tried.values(), return_exceptions=True)
            await attempts.close()

    async def _one(
        self,
        row: Mapping[str, Any],
        index: int,
        tests: Tests,
        golds: Mapping[str, TaskGold],
        attempts: Attempts,
        *,
        of: int,
    ) -> dict[str, Any]:
        """Equal answers to one problem are executed once, and each has its row."""
        name, response = row["row_id"], row["responses"][index]
        asked = Asked(name, _sample_id(row, index), problem_of(tests.rows[name]), golds[name], "exact", response)
        task = self._tried.get((name, response))
        if task is None:
            task = self._tried[name, response] = asyncio.create_task(_attempt(attempts, asked))
        _, tried = await task
        self._log.append(row_of(asked, tried, model=row["model"], step=-1, index=index, executor=self._executor.name))
        self._note(judgement_of(tried, self._executor.name), of)
        fields = fields_of(tried, golds[name])
        if fields["correct"] is not None:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({"sample_id": asked.sample_id, "fields": fields}) + "\n")
        return fields

    def _note(self, judgement: "Judgement", of: int) -> None:
        self._seen += 1
        if not judgement.abstained:
            return
        if judgement.unpaid:
            raise over_budget(self._experiment, self._ledger, "only what is not known yet is executed")
        self._lost.append(judgement)
        # As soon as the limit is passed: with a model that is down every further one would only cost its timeouts.
        if len(self._lost) > self._experiment.reward.max_abstain_rate * of:
            raise self._unusable(of)

    def _unusable(self, of: int) -> StepError:
        told = newest_words(self._ledger)
        lost = what_was_lost(self._lost, self._experiment.judge.name, self._executor.name)
        return StepError(
            f"{lost}; {self._seen} of {of} were executed so far" + (f"; the newest failure: {told}" if told else ""),
            where=f"executor {self._executor.name}; {self._ledger.path}",
            remedy=f"{remedy_for(self._lost, self._executor.name)}, then run the same command again: what is known "
            "is kept",
        )


async def _attempt(attempts: Attempts, asked: Asked) -> tuple[Asked, Tried]:
    return asked, await attempts.attempt(asked)


def fields_of(tried: Tried, gold: TaskGold) -> dict[str, Any]:
    """An attempt as columns of TASK_SCORES."""
    reward, execution = tried.reward, tried.execution
    if tried.gold is not None:
        return score_fields(tried.gold)
    if reward.value is None:
        detail = execution.detail if execution is not None else ""
        return score_fields(TaskScore(None, detail=f"abstained: {reward.reason}: {detail}"[:500]))
    told = getattr(tried.attempt.result, "detail", "")
    detail = f"{reward.reason}: {told}"[:500]
    if not isinstance(gold, QaGold):
        return score_fields(TaskScore(False, detail=detail))
    # Not even where the question has no answer: nothing was said of it.
    facts = 0.0 if gold.dataset == "hotpotqa" and gold.supporting else None
    return score_fields(TaskScore(False, 0.0, 0.0, None, detail, facts, facts, facts, facts))


def _sample_id(row: Mapping[str, Any], index: int) -> str:
    return f"{row['model']}-{row['row_id']}-{index}"


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """What an earlier start found out; the line that it was writing when it was killed may be broken."""
    found: dict[str, dict[str, Any]] = {}
    if not path.exists():
        return found
    text = path.read_text(encoding="utf-8")
    for line in text.splitlines():
        try:
            kept = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[kept["sample_id"]] = kept["fields"]
    if text and not text.endswith("\n"):
        with path.open("a", encoding="utf-8") as stream:
            stream.write("\n")
    return found
