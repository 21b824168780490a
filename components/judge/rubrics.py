"""Rubrics as prompts carry them, and those that define no reward."""

import json
from collections.abc import Iterable
from typing import Any

from components.core.errors import JudgeError
from components.core.identity import canonical_json
from components.judge.lengths import Lengths
from components.judge.rule import Rule
from components.judge.verdict import Criterion, Sample


def read_rubric(text: str) -> tuple[Criterion, ...]:
    """The criteria of ``extra_info.rubric`` in the PROMPTS contract, a JSON list."""
    return tuple(
        Criterion(
            text=line["text"],
            points=line["points"],
            verifier=line.get("verifier", "llm"),
            tags=tuple(line.get("tags", ())),
            rule=Rule.parse(line["rule"]) if "rule" in line else None,
        )
        for line in json.loads(text)
    )


def rubric_json(criteria: Iterable[Criterion]) -> str:
    """The JSON list that :func:`read_rubric` reads back; equal rubrics give equal text."""
    return canonical_json([_line(criterion) for criterion in criteria], ascii=False)


def _line(criterion: Criterion) -> dict[str, Any]:
    line: dict[str, Any] = {
        "text": criterion.text,
        "points": criterion.points,
        "verifier": criterion.verifier,
        "tags": list(criterion.tags),
    }
    # Lines without a rule stay as they were before there were rules: rows are named by a hash of this text.
    return line if criterion.rule is None else line | {"rule": criterion.rule.to_json_value()}


def check_rubric(sample: Sample, judge: str) -> None:
    """Refuse a rubric that is empty, has a criterion twice, or has no positive points.

    Args:
        sample: with the whole rubric, or the judge's part of it.
        judge: its name, for the error.

    Raises:
        JudgeError: names the judge, the row and the remedy.
    """
    where = f"judge {judge}, row {sample.row_id}"
    if not sample.criteria:
        raise JudgeError(
            "the rubric is empty",
            where=where,
            remedy="give at least one criterion with points above 0",
        )
    seen: set[str] = set()
    for number, criterion in enumerate(sample.criteria, start=1):
        text = " ".join(criterion.text.split())
        if text in seen:
            raise JudgeError(
                f"the rubric has a criterion twice: number {number}, {criterion.text!r}",
                where=where,
                remedy="keep it once, with the sum of the points",
            )
        seen.add(text)
    # The positive points may stand in the lines that code decides.
    if sample.places is None and all(criterion.points < 0 for criterion in sample.criteria):
        raise JudgeError(
            "the rubric has no positive points, so no reward is defined",
            where=where,
            remedy="give at least one criterion with points above 0",
        )


async def refuse_rubric(sample: Sample, judge: str, lengths: Lengths, reply: int) -> None:
    """Refuse a rubric with a criterion that is too long for the judge whatever the response; see :class:`Lengths`.

    Raises:
        JudgeError: names the judge, the row, the count and the remedy.
    """
    found = await lengths.never_fits(sample, reply)
    if found is None:
        return
    criterion, excess = found
    answer = f", of which its reply may take {reply}" if reply else ""
    raise JudgeError(
        f"the question with the criterion {criterion[:60]!r} alone has {excess}, and the judge takes "
        f"{lengths.context} tokens{answer}: no response can be judged by it",
        where=f"judge {judge}, row {sample.row_id}",
        remedy="shorten the question or the criterion, lower max_answer_tokens, or take a judge with a larger "
        "context_tokens",
    )
