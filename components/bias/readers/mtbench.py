"""MT-Bench's questions with reference answers (arXiv 2306.05685), in their own files.

``question.jsonl`` (or ``mtbench_question.jsonl``): {question_id, category, turns}. ``reference_answer/*.jsonl`` (or
``mtbench_reference*.jsonl``): {question_id, choices: [{turns}]}. The first turn of each is used: later ones need the
conversation before them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.bias.mounted import DataSet, Mounted
from components.bias.readers.pairs import CRITERIA, rows_of
from components.bias.types import Form, Item, Role
from components.core.errors import ContractError
from components.core.text import is_text

SOURCE = "mt-bench"


def key_items(probe: str, mounted: Mounted, keys: tuple[str, ...]) -> list[Item]:
    """An item a question that has a reference: the reference is the base, a key the changed form. The judge is shown
    the reference, as MT-Bench shows it to its judges.

    Raises:
        ContractError: a file is not in its format.
    """
    found = []
    for number, (name, question, reference) in enumerate(referenced(mounted)):
        forms = {
            Role.BASE: Form(question, reference, CRITERIA, reference),
            Role.CHANGED: Form(question, keys[number % len(keys)], CRITERIA, reference),
        }
        found.append(Item(probe, f"{SOURCE}.{name}", f"{SOURCE}.{name}", forms, SOURCE, gold=Role.BASE))
    return found


def referenced(mounted: Mounted) -> list[tuple[str, str, str]]:
    """Id, first question and its reference, of all questions that have one, in the order of the questions.

    Raises:
        ContractError: a file is not in its format.
    """
    references: dict[str, str] = {}
    for path in mounted.files(DataSet.MTBENCH_REFERENCES):
        for row in rows_of(path):
            references.setdefault(_id(row, path), _first(row, path))
    found = []
    for path in mounted.files(DataSet.MTBENCH_QUESTIONS):
        for row in rows_of(path):
            if (name := _id(row, path)) in references:
                found.append((name, _turn(row, path), references[name]))
    return found


def _id(row: Mapping[str, Any], path: Path) -> str:
    name = row.get("question_id")
    if not isinstance(name, int | str) or isinstance(name, bool) or not is_text(str(name)):
        raise ContractError(f"question_id is {name!r}", where=str(path), remedy="take MT-Bench's own file")
    return str(name)


def _first(row: Mapping[str, Any], path: Path) -> str:
    choices = row.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ContractError("choices is no list of objects", where=str(path), remedy="take MT-Bench's own file")
    return _turn(choices[0], path)


def _turn(row: Mapping[str, Any], path: Path) -> str:
    turns = row.get("turns")
    if not isinstance(turns, list) or not turns or not isinstance(turns[0], str) or not turns[0].strip():
        raise ContractError("turns has no first text", where=str(path), remedy="take MT-Bench's own file")
    if not is_text(turns[0]):
        raise ContractError("the first of turns is no text", where=str(path), remedy="take MT-Bench's own file")
    return turns[0]
