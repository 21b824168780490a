"""Rows of rubrics and verdicts as JSON lines, for working out a reward by hand."""

import dataclasses
import json
from collections.abc import Iterable, Iterator
from typing import Any

from components.core.errors import ContractError
from components.core.unique_json import RepeatedKeyError, loads
from components.judge.rule import Rule
from components.judge.verdict import Criterion, UnknownReason, Verdict, VerdictStatus
from components.reward.rubric import Reward, Value, rubric_reward
from components.reward.verif import check_no_penalty, verif_reward

EXAMPLE = '{"id": "a", "criteria": [{"text": "Names a city.", "points": 2}], "verdicts": ["met"]}'
VERIF_EXAMPLE = (
    '{"id": "a", "criteria": [{"text": "At most 50 words.", "verifier": "rule"}, {"text": "Is polite."}], '
    '"verdicts": ["met", "unmet"]}'
)

ROW_KEYS = ("id", "criteria", "verdicts")
CRITERION_KEYS = ("text", "points", "verifier", "tags", "rule")
"""``tags`` and ``rule`` stand in prepared rows. A rule only tells lines of one text apart; it is not run."""


@dataclasses.dataclass(frozen=True, slots=True)
class RubricRow:
    """One line.

    Attributes:
        id: the row's id as it was written, a text or a whole number.
        criteria: the rubric.
        by_rule: whether code decides each of them, in the same order.
        verdicts: one a criterion, in the same order.
        where: line and id, for errors.
        unknown: keys of the line that mean nothing here.
    """

    id: str | int
    criteria: tuple[Criterion, ...]
    by_rule: tuple[bool, ...]
    verdicts: tuple[Verdict, ...]
    where: str
    unknown: tuple[str, ...] = ()


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


def verif_reward_of(row: RubricRow, *, value: Value, min_known_weight: float) -> dict[str, Any]:
    """The row's VerIF reward as the command prints it; see :func:`components.reward.verif.verif_reward`.

    Returns:
        ``id``, ``reward`` and its factors ``rules`` and ``judge`` (None when it abstains), and ``status``.

    Raises:
        ContractError: the lines define no reward, or verdicts and criteria differ in number.
    """
    if len(row.criteria) != len(row.verdicts):
        raise ContractError(
            f"{len(row.verdicts)} verdicts for {len(row.criteria)} criteria",
            where=row.where,
            remedy="give one verdict a criterion, in the order of the criteria; what is not known is unknown",
        )
    check_no_penalty(row.criteria, row.where)
    lines = list(zip(row.criteria, row.by_rule, row.verdicts, strict=True))
    reward: Reward = verif_reward(
        [verdict for _, by_rule, verdict in lines if by_rule],
        [criterion for criterion, by_rule, _ in lines if not by_rule],
        [verdict for _, by_rule, verdict in lines if not by_rule],
        value,
        min_known_weight,
        where=row.where,
    )
    return {
        "id": row.id,
        "reward": reward.value,
        "rules": reward.parts.get("rules"),
        "judge": reward.parts.get("judge"),
        "status": reward.status,
    }


def read_rows(lines: Iterable[str], source: str) -> Iterator[RubricRow | ContractError]:
    """Each line's row, or what is wrong with it; empty lines are passed over.

    Args:
        lines: JSON objects with ``id``, ``criteria`` (text; points, 1 if not given; verifier, ``llm`` if not given) and
            ``verdicts`` (``met``, ``unmet``, ``unknown``, or the probability of being met).
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
        values = loads(line)
    except RepeatedKeyError as error:
        raise error.located(where) from error
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
    lines = [_criterion(entry, f"{where}, criterion {place}") for place, entry in enumerate(values["criteria"], 1)]
    verdicts = tuple(_verdict(entry, f"{where}, verdict {place}") for place, entry in enumerate(values["verdicts"], 1))
    for place, ((_, by_rule), verdict) in enumerate(zip(lines, verdicts, strict=False), 1):
        # Code says yes or no. Rounding what is neither would be a check that nobody made.
        if by_rule and verdict.probability not in (None, 0.0, 1.0):
            raise ContractError(
                f"{verdict.probability} is no verdict of a rule",
                where=f"{where}, verdict {place}",
                remedy="write met, unmet, unknown, 1 or 0; a line with a probability has verifier llm",
            )
    return RubricRow(
        row_id,
        tuple(criterion for criterion, _ in lines),
        tuple(by_rule for _, by_rule in lines),
        verdicts,
        where,
        tuple(key for key in values if key not in ROW_KEYS),
    )


def _criterion(entry: object, where: str) -> tuple[Criterion, bool]:
    """The criterion, and whether code decides it."""
    remedy = f"write it as in {EXAMPLE}"
    if not isinstance(entry, dict) or not isinstance(entry.get("text"), str):
        raise ContractError("a criterion must be an object with a text", where=where, remedy=remedy)
    for key in entry:
        if key not in CRITERION_KEYS:
            # Of a misspelt "points" nobody would see that it counts 1.
            raise ContractError(f"unknown key {key!r}; known: {', '.join(CRITERION_KEYS)}", where=where, remedy=remedy)
    points = entry.get("points", 1)
    if isinstance(points, bool) or not isinstance(points, int | float):
        raise ContractError(f"points must be a number, got {points!r}", where=where, remedy=remedy)
    verifier = entry.get("verifier", "llm")
    if verifier not in ("llm", "rule"):
        raise ContractError(f"verifier must be llm or rule, got {verifier!r}", where=where, remedy=remedy)
    try:
        rule = Rule("file", (("rule", json.dumps(entry.get("rule"), sort_keys=True)),)) if verifier == "rule" else None
        return Criterion(entry["text"], float(points), verifier, rule=rule), verifier == "rule"
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
