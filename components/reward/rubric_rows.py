"""Rows of rubrics and verdicts as JSON lines, for working out a reward by hand."""

import dataclasses
import json
from collections.abc import Iterable, Iterator
from typing import Any

from components.core.errors import ContractError
from components.judge.verdict import Criterion, UnknownReason, Verdict, VerdictStatus
from components.reward.rubric import Reward, Value, rubric_reward

EXAMPLE = '{"id": "a", "criteria": [{"text": "Names a city.", "points": 2}], "verdicts": ["met"]}'


@dataclasses.dataclass(frozen=True, slots=True)
class RubricRow:
    """One line.

    Attributes:
        id: the row's id as it was written, a text or a whole number.
        criteria: the rubric.
        verdicts: one a criterion, in the same order.
        where: line and id, for errors.
    """

    id: str | int
    criteria: tuple[Criterion, ...]
    verdicts: tuple[Verdict, ...]
    where: str


def reward_of(row: RubricRow, *, value: Value, min_known_weight: float) -> dict[str, Any]:
    """The row's reward as the command prints it; see :func:`components.reward.rubric.rubric_reward`.

    Returns:
        ``id``, ``clipped`` and ``unclipped`` (both None when it abstains), ``status`` and ``known_weight``.

    Raises:
        ContractError: the rubric defines no reward.
    """
    reward: Reward = rubric_reward(row.criteria, row.verdicts, value, min_known_weight, where=row.where)
    return {
        "id": row.id,
        "clipped": reward.value,
        "unclipped": reward.parts.get("unclipped"),
        "status": reward.status,
        "known_weight": reward.known_weight,
    }


def read_rows(lines: Iterable[str], source: str) -> Iterator[RubricRow | ContractError]:
    """Each line's row, or what is wrong with it; empty lines are passed over.

    Args:
        lines: JSON objects with ``id``, ``criteria`` (text, points) and ``verdicts`` (``met``, ``unmet``, ``unknown``,
            or the probability of being met).
        source: name of the file, for errors.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield _row(line, f"{source}, line {number}")
            except ContractError as error:
                yield error


def _row(line: str, where: str) -> RubricRow:
    remedy = f"write it like {EXAMPLE}"
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ContractError(f"the line is no JSON: {error}", where=where, remedy=remedy) from error
    if not isinstance(values, dict):
        raise ContractError("the line is no JSON object", where=where, remedy=remedy)
    row_id = values.get("id")
    if isinstance(row_id, bool) or not isinstance(row_id, str | int):
        raise ContractError("key 'id' must be a text or a whole number", where=where, remedy=remedy)
    where = f"{where}, id {row_id!r}"
    for key in ("criteria", "verdicts"):
        if not isinstance(values.get(key), list):
            raise ContractError(f"key {key!r} must be a list", where=where, remedy=remedy)
    return RubricRow(
        row_id,
        tuple(_criterion(entry, f"{where}, criterion {place}") for place, entry in enumerate(values["criteria"], 1)),
        tuple(_verdict(entry, f"{where}, verdict {place}") for place, entry in enumerate(values["verdicts"], 1)),
        where,
    )


def _criterion(entry: object, where: str) -> Criterion:
    remedy = f"write it as in {EXAMPLE}"
    if not isinstance(entry, dict) or not isinstance(entry.get("text"), str):
        raise ContractError("a criterion must be an object with a text", where=where, remedy=remedy)
    points = entry.get("points")
    if isinstance(points, bool) or not isinstance(points, int | float):
        raise ContractError(f"points must be a number, got {points!r}", where=where, remedy=remedy)
    try:
        return Criterion(entry["text"], float(points))
    except (ValueError, OverflowError) as error:
        raise ContractError(str(error), where=where, remedy=remedy) from error


def _verdict(entry: object, where: str) -> Verdict:
    if isinstance(entry, int | float) and not isinstance(entry, bool) and 0 <= entry <= 1:
        side = VerdictStatus.MET if entry > 0.5 else VerdictStatus.UNMET
        return Verdict(side, float(entry), None, None, "file", "file", 0)
    status = next((status for status in VerdictStatus if status.value == entry), None)
    if status is None:
        raise ContractError(
            f"{entry!r} is no verdict",
            where=where,
            remedy="write met, unmet, unknown, or the probability of being met; what is neither is unknown",
        )
    if status is VerdictStatus.UNKNOWN:
        return Verdict(status, None, None, UnknownReason.MISSING, "file", "file", 0)
    return Verdict(status, float(status is VerdictStatus.MET), None, None, "file", "file", 0)
