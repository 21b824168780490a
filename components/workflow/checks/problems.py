"""One problem of each domain with its gold, a right answer and a wrong one."""

import dataclasses
from typing import Final

from components.tasks.gold import CodeGold, MathGold, QaGold, TaskGold
from components.workflow.prompts.problems import problem
from components.workflow.types import Problem

HEAD: Final = '''def middle(numbers: list) -> list:
    """Give the numbers without the first and the last one.

    >>> middle([1, 2, 3, 4])
    [2, 3]
    >>> middle([5, 6])
    []
    """
'''
_TESTS: Final = """def check(candidate):
    assert candidate([1, 2, 3, 4]) == [2, 3]
    assert candidate([7]) == []
    assert candidate([]) == []
    assert candidate([3, 1, 2]) == [1]
"""
RIGHT_PROGRAM: Final = f"{HEAD}    return numbers[1:-1]\n"
WRONG_PROGRAM: Final = f"{HEAD}    return numbers[1:]\n"


@dataclasses.dataclass(frozen=True, slots=True)
class Known:
    """Attributes:
    problem: what a workflow is called with.
    gold: what is known about the answer.
    right, wrong: answers of which that is known.
    """

    problem: Problem
    gold: TaskGold
    right: str
    wrong: str


def _known(text: str, gold: TaskGold, right: str, wrong: str) -> Known:
    return Known(problem(text, gold), gold, right, wrong)


KNOWN: Final = (
    _known(
        "Nora has 3 boxes with 12 eggs each. She drops 5 eggs. How many are whole?",
        MathGold("gsm8k", "31"),
        "3 * 12 = 36 and 36 - 5 = 31, so \\boxed{31}.",
        "3 * 12 = 36 and 36 + 5 = 41, so \\boxed{41}.",
    ),
    _known(
        "Passage:\nThe lighthouse of Brusk was built by Ida Holm in 1871.\n\nQuestion: Who built it?",
        QaGold("squad2", ("Ida Holm",)),
        "Ida Holm",
        "the town of Brusk",
    ),
    _known(
        HEAD,
        CodeGold("humaneval", HEAD, "middle", _TESTS),
        f"```python\n{RIGHT_PROGRAM}```",
        f"```python\n{WRONG_PROGRAM}```",
    ),
)
CODE: Final = KNOWN[2]
