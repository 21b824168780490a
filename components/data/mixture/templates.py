"""From a task to its text: a template for each data set."""

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from components.data.mixture.row import TaskRow

_FIELD: Final = re.compile(r"\{([a-z]+)\}")


def template_of(row: TaskRow, *, facts: bool) -> str:
    """Name of the file that a row's prompt is made from.

    Args:
        row: the task.
        facts: whether HotpotQA's supporting sentences are asked.
    """
    if row.dataset == "hotpotqa" and facts:
        return "hotpotqa_facts"
    if row.dataset == "custom_qa" and row.context:
        return "custom_qa_context"
    if row.dataset == "custom_code" and not row.fields["tests"]:
        return "custom_code_head"
    return row.dataset


def render(folder: Path, name: str, fields: Mapping[str, str]) -> str:
    """The text. What a field holds is never taken for a field itself, whatever braces it has.

    Args:
        folder: of the templates.
        name: of one.
        fields: its values.
    """
    parts = _parts(folder, name)
    return "".join([fields[part] if number % 2 else part for number, part in enumerate(parts)])


@functools.cache
def _parts(folder: Path, name: str) -> tuple[str, ...]:
    """Literal text and names of fields by turns."""
    return tuple(_FIELD.split((folder / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")))
