"""VerIF's reward: what code can check, times what the judge says of the rest (arXiv 2506.09942)."""

import math
from collections.abc import Sequence

from components.core.errors import ContractError
from components.judge.verdict import Criterion, Verdict, VerdictStatus
from components.reward.rubric import ROUNDING, Reward, Value, rubric_reward


def verif_reward(
    rules: Sequence[Verdict],
    criteria: Sequence[Criterion],
    verdicts: Sequence[Verdict],
    value: Value = "binary",
    min_known_weight: float = 0.8,
    *,
    where: str = "",
) -> Reward:
    """mean over the known rule checks (0, 1, or an answer's F1; 1 if the row has none) x judge term (1 without lines).

    The paper describes the hard part as binary (all rule checks pass, or none of it counts); the published code takes
    their mean. This is the mean: it keeps differences inside a group that the product of all would make equal. The mean
    counts checks, whatever their points.

    The judge term is :func:`components.reward.rubric.rubric_reward` over the lines that the judge decides. The protocol
    verif gives all of them the one verdict over all constraints, so that the term is that verdict; the other protocols
    give a verdict a line, and the term is their mean, weighted by points.

    The sample abstains when less than ``min_known_weight`` of the rule checks is known (``rules_unknown``), and when
    the judge term does (its reason), also where the other factor is 0: only what is judged whole is scored.

    Args:
        rules: verdicts of the row's rule lines.
        criteria: the lines that the judge decides.
        verdicts: one for each of ``criteria``, in the same order.
        value: what a known verdict of the judge contributes.
        min_known_weight: in (0, 1]; of the number of rule checks, and of the points of ``criteria``.
        where: the row, for error messages.

    Returns:
        The reward in [0, 1] with ``parts`` ``rules``, ``judge`` (the factors), ``rule_lines`` and ``llm_lines`` (their
        numbers); ``known_weight`` is the smaller of the two known shares.

    Raises:
        ContractError: there is no line at all, or one with negative points, which a product of shares kept has no place
            for; or as :func:`~components.reward.rubric.rubric_reward`.
    """
    if not rules and not criteria:
        raise ContractError(
            "the row has neither a rule nor a constraint for the judge, so no reward is defined",
            where=where,
            remedy="give at least one line",
        )
    check_no_penalty(criteria, where)
    known = [verdict for verdict in rules if verdict.status is not VerdictStatus.UNKNOWN]
    share = len(known) / len(rules) if rules else 1.0
    judge, known_weight = 1.0, share
    if criteria:
        judged = rubric_reward(criteria, verdicts, value, min_known_weight, where=where)
        known_weight = min(share, judged.known_weight)
        if judged.value is None:
            return Reward("abstained", None, {}, known_weight, judged.reason)
        judge = judged.value
    if (rules and not known) or share < min_known_weight - ROUNDING:
        return Reward("abstained", None, {}, known_weight, "rules_unknown")
    passed = math.fsum(_held(verdict) for verdict in known) / len(known) if rules else 1.0
    parts = {"rules": passed, "judge": judge, "rule_lines": float(len(rules)), "llm_lines": float(len(criteria))}
    return Reward("scored", passed * judge, parts, known_weight, None)


def _held(verdict: Verdict) -> float:
    """How far a rule's check holds: 1 or 0, or the F1 of an answer."""
    return float(verdict.status is VerdictStatus.MET) if verdict.probability is None else verdict.probability


def check_no_penalty(criteria: Sequence[Criterion], where: str) -> None:
    """Refuse lines with negative points, those of rules too.

    Raises:
        ContractError: names the row and the line.
    """
    for criterion in criteria:
        if criterion.points < 0:
            raise ContractError(
                f"{criterion.text!r} is a penalty, and reward.combine verif multiplies shares of constraints kept",
                where=where,
                remedy="write it as a constraint with positive points, or set reward.combine: rubric",
            )
