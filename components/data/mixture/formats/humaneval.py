"""HumanEval: a function's head to be completed, and ``check``, which tests it. A test set only."""

from typing import Any

from components.data.mixture.row import TEST, TaskRow, text_of
from components.tasks.gold import CodeGold


def parse(value: dict[str, Any], part: str) -> TaskRow:
    """One task; whatever file it stands in, it is a test.

    Raises:
        ContractError: a text is missing.
    """
    prompt = text_of(value, "prompt")
    solution = prompt + text_of(value, "canonical_solution", blank=True)
    gold = CodeGold("humaneval", prompt, text_of(value, "entry_point"), text_of(value, "test"))
    return TaskRow(
        "humaneval", text_of(value, "task_id"), TEST, prompt, "", {"problem": prompt}, gold, solution, "", solution
    )
