"""MBPP, whole and sanitized: a task in a sentence, and three asserts, which the prompt shows."""

from typing import Any, Final

from components.core.errors import ContractError
from components.data.mixture.row import TEST, TRAIN, TaskRow, text_of, texts_of
from components.tasks.gold import CodeGold

TESTS: Final = range(11, 511)
"""Task ids that are tests; 1-10 are prompts, 511-600 validation and 601-974 training by the authors' count."""
LAST: Final = 974


def parse(value: dict[str, Any], part: str) -> TaskRow:
    """One task; its id says whether it is a test.

    Raises:
        ContractError: a text is missing, there are no tests, or the id is out of range.
    """
    text = text_of(value, "text" if "text" in value else "prompt")
    number = value.get("task_id")
    if type(number) is not int or not 1 <= number <= LAST:
        raise ContractError(f"'task_id' is {number!r}", remedy=f"MBPP's ids are from 1 to {LAST}")
    tests = texts_of(value, "test_list")
    if not tests:
        raise ContractError("'test_list' is empty", remedy="a task has asserts")
    code = text_of(value, "code").replace("\r\n", "\n")
    setup = "\n".join([*texts_of(value, "test_imports"), value.get("test_setup_code") or ""]).strip()
    gold = CodeGold("mbpp", text, None, "\n".join(tests), setup.replace("\r\n", "\n"))
    return TaskRow(
        "mbpp",
        str(number),
        TEST if number in TESTS else TRAIN,
        text,
        "",
        {"problem": text.strip(), "tests": "\n".join(tests)},
        gold,
        code,
        "",
        code,
    )
