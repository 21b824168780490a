"""What a file of rows gives: items, and counts of what was done to them."""

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from components.core.errors import ContractError
from components.data.item import Item
from components.data.turns import Turn, question_of, unicode_text
from components.judge.rubrics import rubric_json
from components.judge.verdict import Criterion


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """A file's items.

    Attributes:
        items: in the order of the file.
        counts: what data.json tells about the file beside its rows: name -> number.
        data_sources: the rows' own data_source -> rows.
        benchmarks: evaluation benchmark -> rows that are from it.
    """

    items: Sequence[Item]
    counts: Counter[str]
    data_sources: Counter[str]
    benchmarks: Counter[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """One row as read.

    Attributes:
        item: the prompt.
        counts: what was done to this row.
        data_source: the row's own name for where it comes from; empty when it has none.
        benchmark: name of the evaluation benchmark that the row is from; None for none.
        where: file and place.
    """

    item: Item
    counts: Counter[str]
    data_source: str
    benchmark: str | None
    where: str


def collect(found: Iterable[Found]) -> Reading:
    """Put rows together; a row that says the same as an earlier one in everything is left out and counted."""
    items: dict[Item, None] = {}
    counts: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    benchmarks: Counter[str] = Counter()
    for row in found:
        counts["rows_in_file"] += 1
        counts.update(row.counts)
        sources[row.data_source] += 1
        benchmarks.update([row.benchmark] if row.benchmark is not None else [])
        if row.item in items:
            counts["repeated_rows"] += 1
        items.setdefault(dataclasses.replace(row.item, where=row.where))
    return Reading(list(items), counts, sources, benchmarks)


def make_item(turns: tuple[Turn, ...], criteria: tuple[Criterion, ...]) -> Item:
    """An item without hidden checks. Rows of one question share a template, so that no split has it twice."""
    question = question_of(turns)
    alone = len(turns) == 1
    return Item(question, " ".join(question.split()), criteria, None, () if alone else turns)


def merge_lines(lines: Iterable[Criterion], counts: Counter[str], *, where: str) -> tuple[Criterion, ...]:
    """The lines with repetitions merged: text (but for spaces), verifier and rule are equal, points are added, tags
    joined, and ``counts["merged_criteria"]`` goes up by one for each line that is gone.

    Raises:
        ContractError: points add up to nothing or to no number, no line has positive points, there is no line, or
            one holds half of a surrogate pair.
    """
    merged: dict[object, Criterion] = {}
    for line in lines:
        before = merged.get(line.line)
        if before is None:
            merged[line.line] = line
            continue
        counts["merged_criteria"] += 1
        points = before.points + line.points
        if points == 0:
            raise ContractError(
                f"the criterion {_short(line.text)} stands there twice, and its points add up to 0",
                where=where,
                remedy="keep it once, with points that are meant",
            )
        if not math.isfinite(points):
            raise ContractError(
                f"the criterion {_short(line.text)} stands there twice, and the sum of its points is no number",
                where=where,
                remedy="give points between 1 and 100, or -100 and -1",
            )
        merged[line.line] = dataclasses.replace(
            before, points=points, tags=tuple(dict.fromkeys((*before.tags, *line.tags)))
        )
    if not merged:
        raise ContractError("the row has no criterion", where=where, remedy="give it one, or leave the row out")
    if not any(line.points > 0 for line in merged.values()):
        raise ContractError(
            "no criterion has positive points, so no reward can be formed",
            where=where,
            remedy="give at least one criterion points above 0; negative points are penalties",
        )
    unicode_text(rubric_json(merged.values()), where=where)
    return tuple(merged.values())


def text_of(value: Any) -> str:
    """A column that holds a short text, empty where it holds none."""
    return value if isinstance(value, str) else ""


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
