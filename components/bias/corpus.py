"""The project's own texts: questions with a good and a worse answer, written for these probes."""

import dataclasses
import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from components.core.errors import ContractError

_FOLDER: Final = Path(__file__).with_name("texts")
_KEYS: Final = frozenset({"id", "question", "good", "worse", "wrong", "criteria", "fails", "reference"})
_CRITERIA: Final = range(3, 6)


@dataclasses.dataclass(frozen=True, slots=True)
class Text:
    """One question and what is known about it.

    Attributes:
        text_id: unique.
        topic: the file's name.
        question: the user's request.
        good: an answer that meets all criteria; one paragraph of plain sentences.
        worse: an answer on the same subject that is truly worse: it says something false, or leaves out what was asked.
        wrong: the worse answer's central mistake, as a clause that can stand behind "I think that".
        criteria: yes/no lines; ``good`` meets all.
        fails: places in ``criteria`` of those that ``worse`` does not meet; one or more, not all.
        reference: a right answer in short.
    """

    text_id: str
    topic: str
    question: str
    good: str
    worse: str
    wrong: str
    criteria: tuple[str, ...]
    fails: tuple[int, ...]
    reference: str


@functools.cache
def texts() -> tuple[Text, ...]:
    """All texts, by topic and in the order of their files.

    Raises:
        ContractError: a file is not as this module says.
    """
    found: dict[str, Text] = {}
    for path in sorted(_FOLDER.glob("*.yaml")):
        for row in yaml.safe_load(path.read_text(encoding="utf-8")):
            text = _text(row, path)
            if text.text_id in found:
                raise ContractError(f"text {text.text_id!r} comes twice", where=str(path), remedy="rename one")
            found[text.text_id] = text
    return tuple(found.values())


def _text(row: Mapping[str, Any], path: Path) -> Text:
    name = str(row.get("id"))
    where = f"{path}, text {name}"
    if set(row) != _KEYS:
        raise ContractError(f"its keys are {sorted(row)}", where=where, remedy=f"write {', '.join(sorted(_KEYS))}")
    whole = {key: " ".join(row[key].split()) for key in ("question", "good", "worse", "wrong", "reference")}
    criteria = tuple(row["criteria"])
    # In the file criteria are counted from 1, as people do.
    fails = tuple(number - 1 for number in row["fails"])
    if (
        len(criteria) not in _CRITERIA
        or not 0 < len(fails) < len(criteria)
        or not set(fails) <= set(range(len(criteria)))
    ):
        raise ContractError(
            f"{len(criteria)} criteria, of which {row['fails']} fail",
            where=where,
            remedy="write 3 to 5 criteria, and number those that the worse answer fails: at least one, not all",
        )
    return Text(name, path.stem, criteria=criteria, fails=fails, **whole)
