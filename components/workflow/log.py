"""What became of every workflow, kept beside the trainer or the scoring step in SQLite, and read while they run."""

import dataclasses
import json
import sqlite3
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from components.core.contracts import WORKFLOWS
from components.workflow.attempts import Asked, Tried, gold_score
from components.workflow.run.execution import Status
from components.workflow.types import Call

_COLUMNS: Final = tuple(WORKFLOWS.names)
_LONGEST: Final = 1000
"""Characters of one text in a trace."""


class WorkflowLog:
    """One row a sample, the newest try; many writers and readers.

    Args:
        path: of the file, made where it is missing.
    """

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, timeout=30)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        columns = ", ".join(f"{name}{' PRIMARY KEY' if name == 'sample_id' else ''}" for name in _COLUMNS)
        self._connection.execute(f"CREATE TABLE IF NOT EXISTS workflows ({columns}, time REAL)")
        self._connection.commit()

    def append(self, row: Mapping[str, Any]) -> None:
        """Add one row of the WORKFLOWS contract, in the place of an earlier try of the same sample."""
        marks = ", ".join("?" * (len(_COLUMNS) + 1))
        values = [row[name] for name in _COLUMNS]
        with self._connection:
            self._connection.execute(f"INSERT OR REPLACE INTO workflows VALUES ({marks})", [*values, time.time()])

    def rows(self, sample_ids: Collection[str] | None = None) -> list[dict[str, Any]]:
        """Rows in the order of steps and samples; those of the given samples, or all."""
        query = f"SELECT {', '.join(_COLUMNS)} FROM workflows ORDER BY step, row_id, sample_index, sample_id"
        rows = [dict(zip(_COLUMNS, values, strict=True)) for values in self._connection.execute(query)]
        wanted = None if sample_ids is None else frozenset(sample_ids)
        for row in rows:
            row["right"] = None if row["right"] is None else bool(row["right"])
        return [row for row in rows if wanted is None or row["sample_id"] in wanted]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def row_of(asked: Asked, tried: Tried, *, model: str, step: int, index: int, executor: str) -> dict[str, Any]:
    """The row of one attempt.

    Args:
        asked, tried: the attempt.
        model: ``rollout``, or which model wrote the workflow.
        step: of the trainer; -1 where it is none of training.
        index: of the sample among those of its problem.
        executor: name of the executor model.
    """
    execution, reward = tried.execution, tried.reward
    cost = None if execution is None else execution.cost
    detail = execution.detail if execution is not None else getattr(tried.attempt.result, "detail", "")
    if execution is not None and execution.status is Status.ANSWERED and tried.gold is not None:
        detail = tried.gold.detail
    return {
        "model": model,
        "step": step,
        "sample_id": asked.sample_id,
        "row_id": asked.row_id,
        "sample_index": index,
        "domain": asked.problem.domain,
        "dataset": asked.problem.dataset,
        "source": None if tried.plan is None else tried.plan.digest,
        "form": None if tried.plan is None else tried.plan.form.value,
        "status": "invalid" if execution is None else execution.status.value,
        "reason": reward.reason,
        "detail": detail[:_LONGEST],
        "answer": None if execution is None or execution.answer is None else execution.answer[:_LONGEST],
        "gold": None if tried.gold is None else gold_score(tried.gold, asked.metric),
        "score": tried.attempt.score,
        "right": reward.right,
        "reward": reward.value,
        "parts": json.dumps(reward.parts, sort_keys=True),
        "calls": 0 if execution is None else len(execution.trace),
        "replies": 0 if cost is None else cost.calls,
        "prompt_tokens": 0 if cost is None else cost.prompt_tokens,
        "completion_tokens": 0 if cost is None else cost.completion_tokens,
        "tokens": 0 if cost is None else cost.tokens,
        "seconds": 0.0 if cost is None else cost.seconds,
        "money": None if cost is None else cost.money,
        "wall_seconds": 0.0 if execution is None else execution.seconds,
        "executor": executor,
        "trace": json.dumps([] if execution is None else [_call(each) for each in execution.trace]),
    }


def _call(call: Call) -> dict[str, Any]:
    cost = dataclasses.asdict(call.cost)
    told = {"operator": call.operator, "arguments": dict(call.arguments), "outputs": call.outputs, "error": call.error}
    return {**{key: _cut(value) for key, value in told.items()}, "enhancement": _cut(call.enhancement), "cost": cost}


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]} [... {len(value)} characters]"
    if isinstance(value, Mapping):
        return {key: _cut(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_cut(each) for each in value]
    return value
