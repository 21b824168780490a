"""What a workflow earns, by the terms of a :class:`components.core.spec.workflow_reward.WorkflowRewardSpec`.

Source of the terms and their weights: the README of the system that this replaces (see docs and the YAML files), put on
one scale. Gated: sum of weight x term, where efficiency and simplicity count for right answers alone.
"""

import dataclasses
from typing import Literal

from components.core.errors import ContractError
from components.core.spec.workflow_reward import Ladder, WorkflowRewardSpec
from components.workflow.contract.outcome import Form, Invalid
from components.workflow.run.execution import Execution, Status
from components.workflow.types import Cost


@dataclasses.dataclass(frozen=True, slots=True)
class Attempt:
    """One response of the policy and what became of it.

    Attributes:
        domain: math, code or qa.
        response: the policy's text.
        result: why it is no workflow, or its execution.
        form: how the program stood in the response; None where there is none.
        score: of the answer by its gold metric or its judge, in [0, 1]; None where it is not known, or nothing was
            answered.
        unknown: why the score of what was answered is not known.
    """

    domain: str
    response: str
    result: Invalid | Execution
    form: Form | None = None
    score: float | None = None
    unknown: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class WorkflowReward:
    """What it earns.

    Attributes:
        status: ``scored``, or ``abstained`` when it is not known what it is worth; that takes no part in training.
        value: on the spec's scale; None exactly when abstained.
        parts: weighted terms by name, which add up to the value; empty unless there was an answer to score.
        right: whether the answer is right; None unless there was one to score.
        reason: ``invalid:...`` or ``failed:...`` of what gets the lowest value; why it abstained; else None.
    """

    status: Literal["scored", "abstained"]
    value: float | None
    parts: dict[str, float]
    right: bool | None
    reason: str | None


def workflow_reward(spec: WorkflowRewardSpec, attempt: Attempt) -> WorkflowReward:
    """The reward of one attempt.

    What is invalid, or failed, gets the lowest value. Nothing else stands in for its answer, and none of its terms is
    earned. What abstained, and an answer whose score or price is not known, has no value.

    Raises:
        ContractError: the attempt contradicts itself, or its score is outside of [0, 1].
    """
    result = attempt.result
    if isinstance(result, Invalid):
        return _lowest(spec, f"invalid:{result.reason.value}")
    if result.status is Status.INVALID:
        return _lowest(spec, f"invalid:{result.reason}")
    if result.status is Status.FAILED:
        return _lowest(spec, f"failed:{result.reason}")
    if result.status is Status.ABSTAINED:
        return _abstained(str(result.reason))
    if attempt.score is None:
        return _abstained(attempt.unknown or "score_unknown")
    if not 0 <= attempt.score <= 1 or attempt.form is None or result.answer is None:
        raise ContractError(
            f"an answer with score {attempt.score} and form {attempt.form}",
            remedy="give the score in [0, 1] and the form of the plan that was run",
        )
    amount = _amount(spec, result.cost)
    if amount is None:
        return _abstained("no_price")
    return _scored(spec, attempt, result, attempt.score, attempt.form, amount)


def _scored(
    spec: WorkflowRewardSpec, attempt: Attempt, result: Execution, score: float, form: Form, amount: float
) -> WorkflowReward:
    weights, gated = spec.weights, spec.variant == "gated"
    right = score >= spec.right_from
    counts = 1.0 if right or not gated else 0.0
    simple = (spec.simplicity.seconds(result.cost.seconds) + spec.simplicity.calls(len(result.trace))) / 2
    forms = {Form.EXACT: spec.format.exact, Form.MIXED: spec.format.mixed, Form.BARE: spec.format.bare}
    repetition = spec.repetition(unique_share(attempt.response))
    parts = {
        "correctness": weights.correctness * _ladder(spec, attempt.domain)(score),
        "efficiency": counts * weights.efficiency * spec.efficiency.ladder(amount),
        "simplicity": counts * weights.simplicity * simple,
        "format": weights.format * forms[form],
        # The former formula's minus sign before what is negative already: it pays.
        "repetition": weights.repetition * (repetition if gated else -repetition),
    }
    return WorkflowReward("scored", sum(parts.values()), parts, right, None)


def _ladder(spec: WorkflowRewardSpec, domain: str) -> Ladder:
    ladders = {"math": spec.correctness.math, "code": spec.correctness.code, "qa": spec.correctness.qa}
    if domain not in ladders:
        raise ContractError(f"no ladder for the domain {domain!r}", remedy=f"use one of {', '.join(ladders)}")
    return ladders[domain]


def _amount(spec: WorkflowRewardSpec, cost: Cost) -> float | None:
    """What efficiency counts; None where there is no price. The former formula took a model without one for free."""
    if spec.efficiency.unit == "tokens":
        return float(cost.tokens)
    if spec.efficiency.unit == "seconds":
        return cost.seconds
    return 0.0 if cost.money is None and spec.variant == "as_described" else cost.money


def unique_share(text: str) -> float:
    """Share of different ones among the sequences of three words; 1 where there is none.

    Words are what white space divides. In (0, 1].
    """
    words = text.split()
    triples = list(zip(words, words[1:], words[2:], strict=False))
    return len(set(triples)) / len(triples) if triples else 1.0


def _lowest(spec: WorkflowRewardSpec, reason: str) -> WorkflowReward:
    return WorkflowReward("scored", spec.failed, {}, None, reason)


def _abstained(reason: str) -> WorkflowReward:
    return WorkflowReward("abstained", None, {}, None, reason)
