"""The reward of a workflow in training: the response is tried, and what it earns is told as any other reward is."""

import asyncio
import functools
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from components.core.errors import ContractError
from components.judge.rule import Rule
from components.judge.verdict import Sample, UnknownReason, Verdict, VerdictStatus
from components.reward.judgement import RULE, Judgement
from components.reward.rewarder import Draw
from components.reward.rubric import Reward
from components.tasks.gold import TaskGold, parse_gold
from components.workflow.attempts import Asked, Attempts, Tried
from components.workflow.buffer.buffer import ExperienceBuffer
from components.workflow.build import build_attempts
from components.workflow.contract.outcome import Plan
from components.workflow.log import WorkflowLog, row_of
from components.workflow.log_name import NAME
from components.workflow.prompts.problems import problem
from components.workflow.run.execution import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from components.core.spec import Experiment
    from components.judge.memory import Ledger

EXECUTED: Final = "workflow"
"""Protocol of a verdict that says whether the executor model did its work; it is in no ledger."""
_STALLED: Final = "executor_stalled"


class WorkflowRewarder:
    """Tries a response and gives its reward; in the place of :class:`components.reward.rewarder.Rewarder`.

    Args:
        attempts: does the work; closed with this.
        executor: name of the executor model.
        log: gets a row a sample; closed with this. None keeps none.
        buffer: is offered what is right; closed with this. None keeps nothing.
        judges: domain -> who says what is right, for the buffer.
    """

    def __init__(
        self,
        attempts: Attempts,
        executor: str,
        log: WorkflowLog | None = None,
        buffer: ExperienceBuffer | None = None,
        judges: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._attempts, self._executor, self._log = attempts, executor, log
        self._buffer, self._judges = buffer, judges

    async def reward(self, sample: Sample, draw: Draw | None = None) -> Judgement:
        """The reward of one response, whose question is what workflows are called with.

        It abstains, with a verdict that says who failed, where the executor model, a sandbox, a judge or a check
        failed. A text that is no workflow, or a workflow that fails, has the scale's lowest value and a reason.

        Args:
            sample: with the row's rubric: the line of rule ``task``, and the judge's where it decides.
            draw: which sample of the trainer it is; needed where a log is kept.

        Raises:
            ContractError: the row is no task.
            ServiceError: answers cannot be checked on this machine.
            JudgeError: the ledger cannot be written.
        """
        asked = asked_of(sample)
        tried = await self._attempts.attempt(asked)
        if draw is not None:
            if self._log is not None:
                row = row_of(asked, tried, model="rollout", step=draw.step, index=draw.index, executor=self._executor)
                self._log.append(row)
            if self._buffer is not None and tried.plan is not None:
                # It may have to make the vector of the problem first.
                await asyncio.to_thread(self._offer, self._buffer, asked, tried.plan, tried, draw.step)
        return judgement_of(tried, self._executor)

    def _offer(self, buffer: ExperienceBuffer, asked: Asked, plan: Plan, tried: Tried, step: int) -> None:
        buffer.offer_sample(
            asked.row_id,
            asked.problem,
            plan.source,
            tried.reward,
            judge=self._judges.get(asked.problem.domain, "gold"),
            executor=self._executor,
            step=step,
        )

    async def close(self) -> None:
        """End what tries workflows, and close the log. The ledger belongs to the caller."""
        await self._attempts.close()
        if self._log is not None:
            self._log.close()
        if self._buffer is not None:
            self._buffer.close()


def asked_of(sample: Sample) -> Asked:
    """The attempt that a sample asks for.

    Raises:
        ContractError: its rubric has no line of rule ``task``, or a gold that cannot be read.
    """
    rules = [line.rule for line in sample.criteria if line.rule is not None and line.rule.name == "task"]
    if len(rules) != 1:
        raise ContractError(
            f"the rubric has {len(rules)} lines of rule task, and a workflow's answer is checked by one",
            where=f"row {sample.row_id}",
            remedy="train on data of kind mixture",
        )
    gold = _gold(rules[0], sample.row_id)
    judged = tuple(line for line in sample.criteria if line.verifier == "llm")
    return Asked(
        sample.row_id,
        sample.sample_id,
        problem(sample.question, gold),
        gold,
        str(rules[0]["metric"]),
        sample.response,
        judged,
    )


def judgement_of(tried: Tried, executor: str) -> Judgement:
    """The reward as the trainer knows it, and verdicts that say who has failed, or that the executor model is up."""
    reward, execution = tried.reward, tried.execution
    parts = dict(reward.parts)
    if execution is None or execution.status is not Status.ABSTAINED:
        parts["valid"] = float(execution is not None)
    if reward.right is not None:
        parts["right"] = float(reward.right)
    if execution is not None:
        cost = execution.cost
        parts |= {"calls": float(len(execution.trace)), "tokens": float(cost.tokens), "seconds": cost.seconds}
        if cost.money is not None:
            parts["money"] = cost.money
    known = 0.0 if reward.value is None else 1.0
    found = Reward(reward.status, reward.value, parts, known, reward.reason)
    return Judgement(found, list(_verdicts(tried, executor)))


def _verdicts(tried: Tried, executor: str) -> "Sequence[Verdict]":
    execution, reason = tried.execution, tried.reward.reason
    if tried.reward.value is None:
        if execution is not None and execution.status is Status.ABSTAINED:
            return [_unknown(str(reason), execution.detail, executor)]
        # A judge says by itself why it does not know.
        unknown = [verdict for verdict in tried.verdicts if verdict.status is VerdictStatus.UNKNOWN]
        detail = tried.gold.detail if tried.gold is not None else ""
        return unknown or [_unknown(str(reason), detail, RULE)]
    # A reply that was kept tells nothing of whether the model is up.
    fresh = execution is not None and any(call.cost.calls and call.cost.seconds for call in execution.trace)
    done = [Verdict(VerdictStatus.MET, None, None, None, executor, EXECUTED, 1)] if fresh else []
    return [*tried.verdicts, *done]


def _unknown(reason: str, detail: str, who: str) -> Verdict:
    """Of what no model said, the machine's own checks are the ones that failed."""
    known = {each.value for each in UnknownReason}
    if reason == _STALLED:
        found = UnknownReason.TIMEOUT
    elif reason in known and who != RULE:
        found = UnknownReason(reason)
    else:
        found, who = UnknownReason.RULE_FAILED, RULE
    return Verdict(VerdictStatus.UNKNOWN, None, None, found, who, EXECUTED, 1, explanation=f"{reason}: {detail}"[:500])


@functools.lru_cache(maxsize=4096)
def _gold(rule: Rule, row_id: str) -> TaskGold:
    """Read once for the responses of a group."""
    return parse_gold(str(rule["gold"]), f"row {row_id}")


def build_workflow_rewarder(
    experiment: "Experiment",
    state: Path,
    ledger: "Ledger | None",
    *,
    earlier: "Sequence[Path]" = (),
    work: Path | None = None,
    buffer: ExperienceBuffer | None = None,
) -> WorkflowRewarder:
    """The rewarder of an experiment with the part workflow.

    Args:
        experiment, state, ledger, earlier: as for :func:`components.workflow.build.build_attempts`.
        work: the training step's durable folder, which gets the log; None keeps none.
        buffer: see :class:`WorkflowRewarder`.

    Raises:
        JudgeError: the executor model, or a judge who is to be asked, is not deployed or lacks its key.
    """
    attempts = build_attempts(experiment, state, ledger, earlier=earlier)
    assert experiment.workflow is not None
    log = WorkflowLog(work / NAME) if work is not None else None
    judges = {
        domain: "gold" if who == "gold" else experiment.verdict_name
        for domain, who in experiment.workflow.correctness.all.items()
    }
    return WorkflowRewarder(attempts, experiment.workflow.executor.name, log, buffer, judges)
