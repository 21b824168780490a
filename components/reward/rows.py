"""Rows that the chosen reward has no number for, found before anything is trained on them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.core.errors import ContractError
from components.judge.verdict import Criterion
from components.reward.control import check_rule_lines
from components.reward.rubric import check_once, check_sizes
from components.reward.verif import check_no_penalty

if TYPE_CHECKING:
    from components.core.spec.reward import RewardSpec


def check_row(reward: "RewardSpec", criteria: Sequence[Criterion], where: str) -> None:
    """Refuse a row without a line that ``reward.combine`` can score.

    Args:
        reward: how lines become a reward.
        criteria: the row's rubric.
        where: the row, for the error.

    Raises:
        ContractError: a line stands there twice; points of sizes that no ratio can hold; combine rule_only and no rule
            line with positive points; combine verif and a penalty, or no line at all; combine rubric and no positive
            points; protocol verif and a penalty that the judge decides.
    """
    check_once(criteria, where)
    check_sizes(criteria, reward.min_known_weight, where)
    if reward.asks_in_training and reward.protocol == "verif" and reward.combine != "verif":
        _check_asked_together(criteria, where)
    if reward.combine == "rule_only":
        check_rule_lines(rule_lines(criteria), where)
    elif reward.combine == "verif" and criteria:
        check_no_penalty(criteria, where)
    elif reward.combine in ("rubric", "verif") and not any(criterion.points > 0 for criterion in criteria):
        raise ContractError(
            "the row has no line with positive points, so no reward is defined",
            where=where,
            remedy="give at least one criterion with points above 0",
        )


def check_heldout_row(reward: "RewardSpec", criteria: Sequence[Criterion], where: str) -> None:
    """Refuse a held-out row that cannot be scored: as :func:`check_row`, but a control arm's rows are scored by the
    judge as a rubric.

    Raises:
        ContractError: see :func:`check_row`.
    """
    check_row(reward if reward.asks_in_training else reward.model_copy(update={"combine": "rubric"}), criteria, where)


def _check_asked_together(criteria: Sequence[Criterion], where: str) -> None:
    for criterion in criteria:
        if criterion.verifier == "llm" and criterion.points < 0:
            raise ContractError(
                f"{criterion.text!r} is a penalty, and reward.protocol verif asks whether all constraints are kept",
                where=where,
                remedy="write it as a constraint with positive points, or set reward.protocol: rubric",
            )


def rule_lines(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """The lines that code decides."""
    return tuple(criterion for criterion in criteria if criterion.verifier == "rule")
