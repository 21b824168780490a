"""From a policy's response to what it earns: validated, executed, its answer scored. Training and tests go this way."""

import dataclasses
from collections.abc import Mapping
from typing import Final, Protocol

from components.core.errors import ContractError, ServiceError
from components.core.spec.workflow_reward import WorkflowRewardSpec
from components.judge.base import Judge
from components.judge.memory.rows import about
from components.judge.verdict import Criterion, Sample, Verdict, VerdictStatus
from components.tasks.gold import TaskGold
from components.tasks.score import TaskScore
from components.workflow.contract.outcome import Invalid, Plan
from components.workflow.reward import Attempt, WorkflowReward, workflow_reward
from components.workflow.run.execution import Execution, Status
from components.workflow.types import Budget, Cost, Problem

NO_ANSWER: Final = "no answer"
"""What a judge reads where a workflow answers a question with nothing."""
NOT_SCORED: Final = "not_scored"
"""Why there is no score where the official check could not be run."""


class Validates(Protocol):
    """See :class:`components.workflow.contract.validator.Validator`."""

    async def validate(self, response: str) -> Plan | Invalid:
        """What a response is."""
        ...

    async def close(self) -> None:
        """End its processes."""
        ...


class Runs(Protocol):
    """See :class:`components.workflow.service.ExecutorService`."""

    async def run(self, plan: Plan, problem: Problem, budget: Budget) -> Execution:
        """Run a workflow on a problem."""
        ...

    async def close(self) -> None:
        """End its processes, and release the model."""
        ...


class Scores(Protocol):
    """See :class:`components.tasks.score.TaskScorer`."""

    async def score(self, gold: TaskGold, response: str) -> TaskScore:
        """How far an answer is right."""
        ...

    async def close(self) -> None:
        """End its processes."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """One response to one problem.

    Attributes:
        row_id: of the problem's row.
        sample_id: of this response, unique in the run.
        problem: what workflows are called with.
        gold: what is right.
        metric: ``exact`` or ``f1``: what an answer to a question counts.
        response: the policy's text.
        criteria: the row's lines that a judge decides; empty where the gold does.
    """

    row_id: str
    sample_id: str
    problem: Problem
    gold: TaskGold
    metric: str
    response: str
    criteria: tuple[Criterion, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Tried:
    """What became of it.

    Attributes:
        attempt: how it ended, with the score that counts.
        reward: what it earns.
        plan: the workflow; None where it is none.
        gold: the official check of its answer; None where it answered nothing.
        verdicts: the judge's on the answer; empty where none was asked.
    """

    attempt: Attempt
    reward: WorkflowReward
    plan: Plan | None
    gold: TaskScore | None
    verdicts: tuple[Verdict, ...] = ()

    @property
    def execution(self) -> Execution | None:
        """None where there was nothing to execute."""
        return self.attempt.result if isinstance(self.attempt.result, Execution) else None


class Attempts:
    """Tries responses; for one event loop. Closes what it is given.

    Args:
        spec: what is earned.
        correctness: domain -> ``gold`` or ``judge``.
        budget: of one execution.
        validator, runner, scorer: the work.
        judge: decides where ``correctness`` says so; None where it nowhere does.
    """

    def __init__(
        self,
        spec: WorkflowRewardSpec,
        correctness: Mapping[str, str],
        budget: Budget,
        *,
        validator: Validates,
        runner: Runs,
        scorer: Scores,
        judge: Judge | None = None,
    ) -> None:
        self._spec, self._correctness, self._budget = spec, correctness, budget
        self._validator, self._runner, self._scorer, self._judge = validator, runner, scorer, judge

    async def attempt(self, asked: Asked) -> Tried:
        """Validate, execute and score one response.

        Nothing that fails beside the workflow becomes a number: a sandbox or an executor model that fails, an answer
        that nobody could check, and a judge who does not know, all abstain.

        Raises:
            ServiceError: answers cannot be checked on this machine.
            ContractError: the row has no line for the judge who is to decide.
            JudgeError: the judge cannot be asked about this row, or the ledger cannot be written.
        """
        sample = Sample(asked.row_id, asked.sample_id, asked.problem.text, asked.response, asked.criteria)
        # So that the ledger tells whose calls they are.
        with about(sample):
            return await self._attempt(asked)

    async def close(self) -> None:
        """End everything."""
        for each in (self._validator, self._runner, self._scorer, self._judge):
            if each is not None:
                await each.close()

    async def _attempt(self, asked: Asked) -> Tried:
        domain = asked.problem.domain
        try:
            plan = await self._validator.validate(asked.response)
        except ServiceError as error:
            return self._made(Attempt(domain, asked.response, _no_sandbox(error)), None)
        if isinstance(plan, Invalid):
            return self._made(Attempt(domain, asked.response, plan), None)
        result = await self._runner.run(plan, asked.problem, self._budget)
        if result.status is not Status.ANSWERED or result.answer is None:
            return self._made(Attempt(domain, asked.response, result, plan.form), plan)
        gold = await self._scorer.score(asked.gold, result.answer)
        verdicts: tuple[Verdict, ...] = ()
        if self._correctness[domain] == "judge":
            score, unknown, verdicts = await self._judged(asked, result.answer)
        else:
            score = gold_score(gold, asked.metric)
            unknown = NOT_SCORED if score is None else None
        return self._made(Attempt(domain, asked.response, result, plan.form, score, unknown), plan, gold, verdicts)

    def _made(
        self,
        attempt: Attempt,
        plan: Plan | None,
        gold: TaskScore | None = None,
        verdicts: tuple[Verdict, ...] = (),
    ) -> Tried:
        return Tried(attempt, workflow_reward(self._spec, attempt), plan, gold, verdicts)

    async def _judged(self, asked: Asked, answer: str) -> tuple[float | None, str | None, tuple[Verdict, ...]]:
        if not answer.strip():
            if asked.problem.domain != "qa":
                return 0.0, None, ()
            answer = NO_ANSWER
        if self._judge is None or len(asked.criteria) != 1:
            raise ContractError(
                f"the row has {len(asked.criteria)} lines for a judge, where one says what is right",
                where=f"row {asked.row_id}",
                remedy="run the step prepare-data again, with data.mixture.decided_by as workflow.correctness",
            )
        sample = Sample(asked.row_id, asked.sample_id, asked.problem.text, answer, asked.criteria)
        (verdict,) = await self._judge.judge(sample)
        if verdict.status is VerdictStatus.UNKNOWN:
            return None, f"judge:{verdict.reason}", (verdict,)
        return float(verdict.status is VerdictStatus.MET), None, (verdict,)


def gold_score(found: TaskScore, metric: str) -> float | None:
    """What the official check gives for an answer, in [0, 1]; None where it could not be made."""
    if found.correct is None:
        return None
    return found.f1 if metric == "f1" and found.f1 is not None else float(found.correct)


def _no_sandbox(error: ServiceError) -> Execution:
    nothing = Cost(0, 0, 0, 0.0, None)
    return Execution(Status.ABSTAINED, None, "sandbox", f"{error.what}: {error.where}", nothing, None, (), 0.0)
