"""A rubric's reward from its verdicts.

Source of the formula: RuscaRL (arXiv 2508.16949) and HealthBench score points of met criteria over positive points.
Here both sums run over known criteria alone, and a sample with too little known is not scored at all.
"""

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Literal

from components.core.errors import ContractError
from components.judge.verdict import Criterion, Verdict, VerdictStatus

Value = Literal["probability", "binary"]

ROUNDING = 1e-9
"""A share of 0.8 may come out of the sum as 0.79999999."""


@dataclasses.dataclass(frozen=True, slots=True)
class Reward:
    """What a sample's verdicts amount to.

    Attributes:
        status: ``scored``, or ``abstained`` when too little is known; an abstained sample takes no part in training.
        value: the reward, in [0, 1] unless a rubric's ratio goes unclipped; None exactly when abstained.
        parts: what it is made of, by name; a rubric's are ``unclipped`` (at most 1, below 0 when penalties prevail),
            and its summands ``earned`` and ``penalty``. Empty when abstained.
        known_weight: share of the positive points whose criteria are known, in [0, 1].
        reason: why it abstained: ``known_weight``, ``penalty_unknown`` or ``rules_unknown``; None when scored.
    """

    status: Literal["scored", "abstained"]
    value: float | None
    parts: dict[str, float]
    known_weight: float
    reason: str | None


def rubric_reward(
    criteria: Sequence[Criterion],
    verdicts: Sequence[Verdict],
    value: Value = "probability",
    min_known_weight: float = 0.8,
    *,
    clip: bool = True,
    where: str = "",
) -> Reward:
    """max(0, sum of points * p over known criteria / sum of positive points over known criteria).

    RuscaRL trains on this, clipped at 0; HealthBench's official score of an example is the ratio itself, and only its
    mean over examples is clipped. Unclipped, a response can lose more than it could win: the ratio is at most 1, and at
    least (sum of negative points) / (sum of positive points), which differs from row to row. Group-relative advantages
    do not mind the scale, but then tell apart responses that clipping makes equal.

    p is the verdict's probability, or 1 for met and 0 for unmet when ``value`` is binary; of a line that code decides
    always its probability, which is 1 or 0 but for an answer that counts by its F1. A line of 0 points is recorded and
    counts for nothing, also when it is unknown. The sample abstains when less than ``min_known_weight`` of the positive
    points is known, and also when any penalty is unknown, of whatever weight: leaving an unknown penalty out of the sum
    would treat a response whose grading failed as harmless.

    Args:
        criteria: the rubric; points below 0 are penalties.
        verdicts: one a criterion, in the same order.
        value: what a known verdict contributes.
        min_known_weight: in (0, 1].
        clip: whether a ratio below 0 counts as 0.
        where: the row, for error messages.

    Raises:
        ContractError: the rubric is empty, has no positive points or one criterion twice, or points of sizes that no
            ratio can hold; verdicts and criteria differ in number; or a known verdict has no probability where one is
            asked for.
    """
    positive = _check(criteria, verdicts, where)
    known = [(c, v) for c, v in zip(criteria, verdicts, strict=True) if v.status is not VerdictStatus.UNKNOWN]
    weight = _total((criterion.points for criterion, _ in known if criterion.points > 0), where)
    share = min(1.0, weight / positive)
    penalties = sum(criterion.points < 0 for criterion in criteria)
    reason = None
    if weight <= 0 or share < min_known_weight - ROUNDING:
        reason = "known_weight"
    elif sum(criterion.points < 0 for criterion, _ in known) < penalties:
        reason = "penalty_unknown"
    if reason is not None:
        return Reward("abstained", None, {}, share, reason)
    shares = [(c.points, _met(v, "probability" if c.verifier == "rule" else value, where)) for c, v in known]
    earned = _total((points * met for points, met in shares if points > 0), where) / weight
    penalty = _total((points * met for points, met in shares if points < 0), where) / weight
    unclipped = _total((points * met for points, met in shares), where) / weight
    if not math.isfinite(penalty):
        raise _sizes(where)
    parts = {"unclipped": unclipped, "earned": earned, "penalty": penalty}
    return Reward("scored", min(1.0, max(0.0, unclipped) if clip else unclipped), parts, share, None)


def _check(criteria: Sequence[Criterion], verdicts: Sequence[Verdict], where: str) -> float:
    """The sum of positive points, above 0."""
    if not criteria:
        raise ContractError(
            "the rubric is empty", where=where, remedy="give at least one criterion with points above 0"
        )
    if len(criteria) != len(verdicts):
        raise ContractError(
            f"{len(verdicts)} verdicts for {len(criteria)} criteria",
            where=where,
            remedy="give one verdict a criterion, in the order of the criteria; what is not known is unknown",
        )
    check_once(criteria, where)
    positive = _total((criterion.points for criterion in criteria if criterion.points > 0), where)
    if positive <= 0:
        raise ContractError(
            "the rubric has no positive points, so no reward is defined",
            where=where,
            remedy="give at least one criterion with points above 0",
        )
    return positive


def check_once(criteria: Iterable[Criterion], where: str) -> None:
    """Refuse a rubric that has one line twice. Lines of one text that are decided otherwise, by another rule or by the
    judge, are two lines: verdicts are told apart by the lines' places.

    Raises:
        ContractError: names the row and the line.
    """
    seen: set[object] = set()
    for criterion in criteria:
        if criterion.line in seen:
            raise ContractError(
                f"the rubric has a criterion twice: {criterion.text!r}",
                where=where,
                remedy="keep it once, with the sum of the points",
            )
        seen.add(criterion.line)


def check_sizes(criteria: Sequence[Criterion], min_known_weight: float, where: str) -> None:
    """Refuse points whose sums, or whose ratio at the least known weight, no number can hold.

    Raises:
        ContractError: names the row.
    """
    positive = _total((criterion.points for criterion in criteria if criterion.points > 0), where)
    penalty = _total((criterion.points for criterion in criteria if criterion.points < 0), where)
    least = positive * min_known_weight
    if positive > 0 and (least == 0 or not math.isfinite(penalty / least)):
        raise _sizes(where)


def _total(values: Iterable[float], where: str) -> float:
    try:
        return math.fsum(values)
    except OverflowError as error:
        raise _sizes(where) from error


def _sizes(where: str) -> ContractError:
    return ContractError(
        "the rubric's points are too large, or too different in size, for a ratio",
        where=where,
        remedy="give points between 1 and 100, or -100 and -1",
    )


def _met(verdict: Verdict, value: Value, where: str) -> float:
    if value == "binary":
        return 1.0 if verdict.status is VerdictStatus.MET else 0.0
    if verdict.probability is None:
        raise ContractError(
            f"judge {verdict.judge} gives no probabilities with {verdict.protocol}",
            where=where,
            remedy="set reward.value: binary, or choose a protocol that gives probabilities",
        )
    return verdict.probability
