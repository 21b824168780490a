"""Pairs of responses of which people or a key have decided the better one, as items of a probe.

LLMBar (arXiv 2310.07641): a JSON list of {input, output_1, output_2, label 1|2}. JudgeBench (arXiv 2410.12784): JSON
lines of {pair_id, question, response_A, response_B, label "A>B"|"B>A"}. Both as the data sets' own files.
"""

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from components.bias.mounted import DataSet, Mounted
from components.bias.types import Form, Item, Role
from components.core.errors import ContractError
from components.core.text import is_text

CRITERIA: Final = (
    "The response does what the request asks for.",
    "What the response says is correct.",
    "The response keeps to the form that the request asks for, if it asks for one.",
)
"""What such pairs are judged by where a mode needs criteria; they bring none."""
_NATURAL: Final = "Natural"


@dataclasses.dataclass(frozen=True, slots=True)
class Pair:
    """A decided pair.

    Attributes:
        source: data set and its part, such as ``llmbar-Neighbor``.
        key: unique in the source.
        question: the request.
        better: the response that was decided for.
        other: the other one.
    """

    source: str
    key: str
    question: str
    better: str
    other: str


def gold_pairs(probe: str, mounted: Mounted, *, ornate: bool) -> list[Item]:
    """Items with the better response as the base, and the other one as the changed form.

    Args:
        probe: whose items they are.
        mounted: the user's folder.
        ornate: whether to take the pairs in which the other one was made to look good (LLMBar's adversarial parts), or
            all others (LLMBar's natural part, JudgeBench).

    Raises:
        ContractError: a file is not in its format.
    """
    found = []
    for pair in (*llmbar(mounted), *judgebench(mounted)):
        if (pair.source.startswith("llmbar-") and not pair.source.endswith(_NATURAL)) is not ornate:
            continue
        forms = {
            Role.BASE: Form(pair.question, pair.better, CRITERIA),
            Role.CHANGED: Form(pair.question, pair.other, CRITERIA),
        }
        # One request may stand in several pairs, and is one text.
        text_id = f"{pair.source}.{hashlib.sha256(pair.question.encode()).hexdigest()[:12]}"
        item_id = f"{pair.source}.{pair.key}"
        found.append(Item(probe, item_id, text_id, forms, pair.source, gold=Role.BASE))
    return found


def llmbar(mounted: Mounted) -> Iterator[Pair]:
    """The pairs of all LLMBar files: ``.../PART/dataset.json`` below a folder ``LLMBar``, or ``llmbar_PART.json``.

    Raises:
        ContractError: a file is not in its format.
    """
    for path in mounted.files(DataSet.LLMBAR):
        part = path.parent.name if path.name == "dataset.json" else path.stem.removeprefix("llmbar_")
        rows = _parsed(_contents(path), str(path))
        for number, row in enumerate(rows if isinstance(rows, list) else [rows]):
            where = f"{path}, pair {number}"
            if not isinstance(row, dict):
                raise ContractError("a pair is no object", where=where, remedy="take the data set's own file")
            question, one, two = (text_of(row, key, where) for key in ("input", "output_1", "output_2"))
            label = row.get("label")
            if isinstance(label, bool) or label not in (1, 2):
                raise ContractError(f"label is {label!r}", where=where, remedy="LLMBar's labels are 1 and 2")
            better, other = (one, two) if label == 1 else (two, one)
            yield Pair(f"llmbar-{part}", str(number), question, better, other)


def judgebench(mounted: Mounted) -> Iterator[Pair]:
    """The pairs of all JudgeBench files: names with ``judgebench`` that end in ``.jsonl``.

    Raises:
        ContractError: a file is not in its format.
    """
    for path in mounted.files(DataSet.JUDGEBENCH):
        for number, row in enumerate(rows_of(path)):
            where = f"{path}, line {number + 1}"
            key, question, one, two = (
                text_of(row, key, where) for key in ("pair_id", "question", "response_A", "response_B")
            )
            label = row.get("label")
            if label not in ("A>B", "B>A"):
                raise ContractError(
                    f"label is {label!r}", where=where, remedy='JudgeBench\'s labels are "A>B" and "B>A"'
                )
            better, other = (one, two) if label == "A>B" else (two, one)
            yield Pair(f"judgebench-{_model(path)}", key, question, better, other)


def rows_of(path: Path) -> Iterator[Mapping[str, Any]]:
    """The objects of a JSON-lines file.

    Raises:
        ContractError: a line is none.
    """
    for number, line in enumerate(_contents(path).split("\n"), start=1):
        if not line.strip():
            continue
        row = _parsed(line, f"{path}, line {number}")
        if not isinstance(row, dict):
            raise ContractError(f"line {number} is no object", where=str(path), remedy="write one object a line")
        yield row


def text_of(row: Mapping[str, Any], key: str, where: str, remedy: str = "take the data set's own file") -> str:
    """A text that is there, says something, and can be written.

    Raises:
        ContractError: it is none.
    """
    value = row.get(key)
    if not isinstance(value, str) or not value.strip() or not is_text(value):
        raise ContractError(f"key {key!r} is no text", where=where, remedy=remedy)
    return value


def _contents(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ContractError(f"the file cannot be read: {error}", where=str(path), remedy="mend it") from error


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ContractError(f"this is no JSON: {error}"[:300], where=where, remedy="mend it") from error


def _model(path: Path) -> str:
    return path.stem.split("response_model=")[-1].removeprefix("judgebench_")
