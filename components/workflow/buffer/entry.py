"""One workflow of the buffer, with the problem that it solved and what it earned."""

import dataclasses
import hashlib
import math
import time as clock
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Self

import numpy as np
import numpy.typing as npt

from components.core.errors import ContractError
from components.tasks.sets import DOMAINS
from components.workflow.buffer.normal import workflow_hash
from components.workflow.reward import WorkflowReward
from components.workflow.types import Problem

Vector = npt.NDArray[np.float32]


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """A workflow that was right.

    Attributes:
        problem_id: the row's id in its prepared table.
        problem_hash: :func:`problem_hash` of its text.
        domain: math, code or qa.
        dataset: as :data:`components.tasks.sets.DATASETS` names it.
        problem: its text, as the workflow got it.
        workflow: source of the program.
        workflow_hash: see :func:`components.workflow.buffer.normal.workflow_hash`.
        reward: on the scale of the reward's spec.
        parts: weighted terms of the reward by name.
        judge: what decided that the answer is right, with its version: ``gold``, or a judge.
        executor: the model that its operators called.
        step: training step of the sample; 0 for what a training began with.
        time: Unix time.
        embedding: unit vector of the problem's text; None before the buffer has made it.

    Raises:
        ContractError: a field cannot be.
    """

    problem_id: str
    problem_hash: str
    domain: str
    dataset: str
    problem: str
    workflow: str
    workflow_hash: str
    reward: float
    parts: Mapping[str, float]
    judge: str
    executor: str
    step: int
    time: float
    embedding: Vector | None = dataclasses.field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.domain not in DOMAINS:
            raise ContractError(f"no domain is named {self.domain!r}", remedy=f"one of {', '.join(DOMAINS)}")
        if not all(math.isfinite(value) for value in (self.reward, self.time, *self.parts.values())):
            raise ContractError(f"reward {self.reward}, parts {dict(self.parts)}: not all are finite numbers")
        if self.step < 0:
            raise ContractError(f"step {self.step} is below 0")
        if not self.problem.strip() or not self.workflow.strip() or not self.problem_id:
            raise ContractError("the problem, its id or the workflow is blank")

    @classmethod
    def of(
        cls,
        problem_id: str,
        problem: Problem,
        workflow: str,
        reward: WorkflowReward,
        *,
        judge: str,
        executor: str,
        step: int,
        time: float | None = None,
    ) -> Self:
        """The entry of one sample.

        Args:
            problem_id: the row's id.
            problem: what was to be solved.
            workflow: ``Plan.source`` of the sample's valid plan.
            reward: what it earned; must be scored and right.
            judge: ``gold``, or name and version of the judge that found the answer right.
            executor: name of the executor's spec.
            step: of the training.
            time: Unix time; now by default.

        Raises:
            ContractError: the reward is none of a right answer, or a field cannot be.
        """
        if reward.value is None or reward.right is not True:
            raise ContractError(
                f"a workflow whose reward is {reward.status}, right {reward.right}, is no example",
                remedy="offer what was scored and right",
            )
        return cls(
            problem_id=problem_id,
            problem_hash=problem_hash(problem.text),
            domain=problem.domain,
            dataset=problem.dataset,
            problem=problem.text,
            workflow=workflow,
            workflow_hash=workflow_hash(workflow),
            reward=reward.value,
            parts=dict(reward.parts),
            judge=judge,
            executor=executor,
            step=step,
            time=clock.time() if time is None else time,
        )


def problem_hash(text: str) -> str:
    """SHA-256, as hex, of a problem's text; width of letters, case and white space do not count."""
    normal = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return hashlib.sha256(normal.encode("utf-8", "backslashreplace")).hexdigest()


@dataclasses.dataclass(frozen=True, slots=True)
class Forbidden:
    """Problems that the buffer never keeps and never shows: those that the policy is tested on.

    Attributes:
        ids: of their rows.
        hashes: :func:`problem_hash` of their texts, which finds them under any id.
    """

    ids: frozenset[str] = frozenset()
    hashes: frozenset[str] = frozenset()

    @classmethod
    def of(cls, problems: Iterable[tuple[str, str]]) -> Self:
        """Those with these ids and texts (``Problem.text``)."""
        found = [(problem_id, problem_hash(text)) for problem_id, text in problems]
        return cls(frozenset(each for each, _ in found), frozenset(each for _, each in found))

    def holds(self, problem_id: str, hashed: str) -> bool:
        """Whether a problem is one of them, by its id or by its text."""
        return problem_id in self.ids or hashed in self.hashes
