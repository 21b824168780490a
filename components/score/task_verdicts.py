"""What the official checks of tasks found, out of a table of verdicts."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Final

from components.judge.verdict import VerdictStatus
from components.reward.judgement import RULE

PROTOCOL: Final = "rule/task/"
"""How the protocol of such a verdict begins."""


@dataclasses.dataclass(frozen=True, slots=True)
class TaskVerdict:
    """The check of one response.

    Attributes:
        status: met where the answer is right; unknown where that could not be found out.
        value: 1 or 0, or the F1 of an answer; None when unknown.
    """

    status: VerdictStatus
    value: float | None


def task_verdicts(rows: Iterable[Mapping[str, Any]]) -> dict[str, TaskVerdict]:
    """The newest check of each response.

    Args:
        rows: of the VERDICTS contract, oldest first; those of judges and other rules are passed over.

    Returns:
        By sample id.
    """
    return {
        row["sample_id"]: TaskVerdict(VerdictStatus(row["status"]), row["probability"])
        for row in rows
        if row["judge"] == RULE and row["protocol"].startswith(PROTOCOL)
    }
