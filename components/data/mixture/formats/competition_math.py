r"""MATH and MATH-500: ``problem`` and ``solution``, whose last box holds the answer."""

from typing import Any

from components.core.errors import ContractError
from components.data.mixture.row import TEST, TRAIN, TaskRow, text_of
from components.tasks.boxes import last_boxed
from components.tasks.gold import MathGold


def parse(value: dict[str, Any], part: str) -> TaskRow:
    """One row. Its official part is the one that its path tells (``test/algebra/1.json``), where it has one.

    Raises:
        ContractError: a text is missing, or the solution has no box.
    """
    problem, solution = text_of(value, "problem"), text_of(value, "solution")
    answer = last_boxed(solution)
    if answer is None or not answer.strip():
        raise ContractError(
            "'solution' has no boxed answer", remedy=r"the answer stands in the last \boxed{...}, with balanced braces"
        )
    place = value.get("unique_id") or value.get("path") or ""
    place = place if isinstance(place, str) else ""
    told = place.partition("/")[0]
    return TaskRow(
        "math",
        place,
        told if told in (TRAIN, TEST) else part,
        problem,
        "",
        {"problem": problem},
        MathGold("math", answer.strip()),
        answer.strip(),
    )
