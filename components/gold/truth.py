"""What a row of the PROMPTS contract says of the right response: its hidden checks, or the gold of its task."""

import json
from collections.abc import Mapping
from typing import Final

from components.core.errors import ContractError
from components.gold.checks import GoldChecks
from components.tasks.gold import TaskGold, parse_gold

TASK: Final = "task"
"""``reward_model.style`` of a task's row."""


def read_truth(reward_model: Mapping[str, str], where: str) -> GoldChecks | TaskGold | None:
    """The row's ``reward_model``, read.

    Args:
        reward_model: with ``style`` and ``ground_truth``.
        where: the row, for errors.

    Returns:
        None for a row without any checks.

    Raises:
        ContractError: the text is no JSON, or neither checks nor a gold.
    """
    text = reward_model["ground_truth"]
    if reward_model["style"] == TASK:
        return parse_gold(text, where)
    try:
        value = json.loads(text)
    except (ValueError, TypeError) as error:
        raise ContractError(f"ground_truth cannot be read: {error!r}", where=where) from error
    return None if value is None else GoldChecks.parse(value, where=where)
