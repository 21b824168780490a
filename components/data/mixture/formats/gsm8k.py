"""GSM8K: ``question`` and ``answer``, whose last line is four hashes and the number."""

from typing import Any

from components.core.errors import ContractError
from components.data.mixture.row import TaskRow, text_of
from components.tasks.gold import MathGold

MARKER = "####"


def parse(value: dict[str, Any], part: str) -> TaskRow:
    """One row.

    Raises:
        ContractError: a text is missing, or the marker with a number.
    """
    question, worked = text_of(value, "question"), text_of(value, "answer")
    _, marker, answer = worked.rpartition(MARKER)
    answer = answer.strip()
    if not marker or not answer:
        raise ContractError(
            f"'answer' has no {MARKER} with a number behind it", remedy=f"the last line is such as '{MARKER} 18'"
        )
    if not _is_number(answer):
        raise ContractError(
            f"behind {MARKER} stands {answer[:40]!r}, which is no number", remedy=f"such as '{MARKER} 1,024'"
        )
    return TaskRow("gsm8k", "", part, question, "", {"problem": question}, MathGold("gsm8k", answer), answer)


def _is_number(text: str) -> bool:
    plain = text.replace(",", "").lstrip("-$")
    whole, _, rest = plain.partition(".")
    return whole.isdecimal() and (not rest or rest.isdecimal())
