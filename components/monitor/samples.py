"""One response of a training as the monitor, the analysis and the report count it."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from components.workflow.errors import OperatorReason
from components.workflow.run.execution import Status

TERMS: Final = ("correctness", "efficiency", "simplicity", "format", "repetition")
"""Parts of a workflow's reward, in the order of their weights."""


UNKNOWN_OPERATOR: Final = "(unknown)"
"""In the place of names that are none of operators: a program may call whatever it likes, in texts of any length."""
_LONGEST: Final = 60


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a workflow.

    Attributes:
        status: of :class:`components.workflow.run.execution.Status`.
        reason: why its answer earned nothing, or there was none: of what is invalid or failed ``invalid:...`` and
            ``failed:...``; None of an answer that was scored.
        valid: whether the response kept the contract; None where nobody found out.
        right: whether the answer is right; None where there was none to score.
        calls: of operators.
        tokens: that the executor model read and wrote.
        seconds: that operators were at work.
        money: None where the executor has no price.
        operators: names of those that it called, in the order of the calls; :data:`UNKNOWN_OPERATOR` for what is none.
    """

    status: Status
    reason: str | None
    valid: bool | None
    right: bool | None
    calls: int
    tokens: int
    seconds: float
    money: float | None
    operators: tuple[str, ...]

    @property
    def ran(self) -> bool:
        """Whether it was executed to an end of its own."""
        return self.status in (Status.ANSWERED, Status.FAILED)

    @property
    def why(self) -> str | None:
        """``invalid:...`` or ``failed:...`` of what got no answer by its own doing; else None."""
        return self.reason if self.status in (Status.INVALID, Status.FAILED) else None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Outcome":
        """A row of the contract WORKFLOWS."""
        status = Status(row["status"])
        # Only of what was parsed there is a program.
        unknown = status is Status.ABSTAINED and row["source"] is None
        return cls(
            status=status,
            reason=row["reason"],
            valid=None if unknown else status is not Status.INVALID,
            right=None if row["right"] is None else bool(row["right"]),
            calls=int(row["calls"]),
            tokens=int(row["tokens"]),
            seconds=float(row["seconds"]),
            money=row["money"],
            operators=tuple(_operator(call) for call in json.loads(row["trace"])),
        )


def _operator(call: Mapping[str, Any]) -> str:
    name, error = str(call["operator"]), str(call.get("error") or "")
    is_name = len(name) <= _LONGEST and name.isascii() and name.isidentifier()
    return name if is_name and not error.startswith(OperatorReason.UNKNOWN_OPERATOR) else UNKNOWN_OPERATOR


@dataclasses.dataclass(frozen=True, slots=True)
class Sample:
    """One response.

    Attributes:
        step: of training.
        row_id: of its prompt.
        sample_id: its own.
        reward: None where it abstained.
        reason: why it abstained, or got the lowest reward; else None.
        parts: of the reward.
        tokens: of the response.
        finished: whether it ended before the limit.
        dataset: of its prompt; None where that is not known.
        domain: likewise.
        outcome: of the workflow; None where the run has none.
    """

    step: int
    row_id: str
    sample_id: str
    reward: float | None
    reason: str | None
    parts: Mapping[str, float]
    tokens: int
    finished: bool
    dataset: str | None = None
    domain: str | None = None
    outcome: Outcome | None = None

    @property
    def right(self) -> float | None:
        """1 for a right answer and 0 for any other, for none as well; None where nothing is known of it."""
        if self.outcome is None or self.reward is None:
            return None
        return float(self.outcome.right is True)

    @property
    def valid(self) -> float | None:
        """1 where the response kept the contract of workflows; None where that is not known."""
        valid = None if self.outcome is None else self.outcome.valid
        return None if valid is None else float(valid)


Origins = Mapping[str, tuple[str, str]]
"""Id of a training row -> its set and its domain."""


def sample_of(row: Mapping[str, Any], origins: Origins, workflow: Mapping[str, Any] | None) -> Sample:
    """A row of the contract ROLLOUTS.

    Args:
        row: of the table.
        origins: of the training rows; what is not in it is not known.
        workflow: the row of the contract WORKFLOWS on the same response; None where there is none.
    """
    dataset, domain = origins.get(row["row_id"], (None, None))
    parts = json.loads(row["parts"]) if isinstance(row["parts"], str) else row["parts"]
    return Sample(
        step=int(row["step"]),
        row_id=row["row_id"],
        sample_id=row["sample_id"],
        reward=row["reward"],
        reason=row["reason"],
        parts={name: float(value) for name, value in parts.items() if isinstance(value, int | float)},
        tokens=int(row["response_tokens"]),
        finished=bool(row["finished"]),
        dataset=dataset if workflow is None else workflow["dataset"],
        domain=domain if workflow is None else workflow["domain"],
        outcome=None if workflow is None else Outcome.of(workflow),
    )


def domains_of(samples: Sequence[Sample]) -> list[str]:
    """The domains in their usual order, others behind them; empty where the run has no domains of task sets."""
    found = {sample.domain for sample in samples if sample.domain is not None}
    usual = [name for name in ("math", "qa", "code") if name in found]
    return [*usual, *sorted(found - set(usual))] if usual else []
