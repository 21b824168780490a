"""One task as its file has it, before it is rendered as a prompt."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from components.core.errors import ContractError
from components.tasks.gold import TaskGold

TRAIN: Final = "train"
TEST: Final = "test"
ANY: Final = "any"
"""The part of a file that holds all parts of its set: its rows say theirs."""


class TaskRow(NamedTuple):
    """One task.

    Attributes:
        dataset: a name of :data:`components.tasks.sets.DATASETS`.
        official_id: as the file has it; empty where its form has none.
        part: :data:`TRAIN` or :data:`TEST`, by the authors of the set.
        text: the problem or question alone, which duplicates are looked for in.
        context: what it is asked about; empty for none. Equal texts about other contexts are no duplicates.
        fields: what the data set's prompt is filled with.
        gold: what is known about the right answer.
        answer: the answer as exports tell it.
        group: rows of one group share a split; empty where only the row itself and its near-duplicates do.
        solution: source of a right program; empty for none. It is no part of any prompt or gold.
    """

    dataset: str
    official_id: str
    part: str
    text: str
    context: str
    fields: Mapping[str, str]
    gold: TaskGold
    answer: str | tuple[str, ...] | None
    group: str = ""
    solution: str = ""


def text_of(value: Mapping[str, Any], key: str, *, blank: bool = False) -> str:
    """The text under a key.

    Args:
        value: the row.
        key: must be there.
        blank: whether the text may be blank.

    Raises:
        ContractError: there is none, or it is blank.
    """
    found = value.get(key)
    if isinstance(found, str) and (blank or found.strip()):
        return found
    if key not in value:
        raise ContractError(f"lacks {key!r}", remedy=f"a row of this form has a text under {key!r}")
    kind = "blank" if isinstance(found, str) else "null" if found is None else f"of type {type(found).__name__}"
    raise ContractError(f"{key!r} is {kind}", remedy=f"{key!r} must be a text{'' if blank else ' that is not blank'}")


def texts_of(value: Mapping[str, Any], key: str) -> list[str]:
    """The list of texts under a key; a missing one is empty.

    Raises:
        ContractError: it is no list of texts.
    """
    found = value.get(key, [])
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ContractError(
            f"{key!r} must be a list of texts, got {found!r}"[:200], remedy='such as ["assert f(1) == 2"]'
        )
    return found
