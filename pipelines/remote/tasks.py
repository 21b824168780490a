"""The tasks of a run as KFP's API tells of them, without those of its own machinery."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from components.core.progress import clock_text
from pipelines.placing import TITLES

_STEPS = {
    **{name: name for name in TITLES},
    "score-generations": "score",
    "generate-tasks-of": "generate-tasks",
    "report-tasks": "report",
}
"""Task of a graph -> step."""
_NUMBER = re.compile(r"-\d+$")
_BY_TITLE = {title: name for name, title in TITLES.items()}
_ORDER = list(TITLES)
ENDED = frozenset({"SUCCEEDED", "FAILED", "CANCELED", "SKIPPED"})


@dataclass(frozen=True)
class Task:
    """One task.

    Attributes:
        step: as Gavel names it.
        state: in lower case.
        seconds: how long it took or has taken; None before it starts.
        errors: what KFP says went wrong.
    """

    step: str
    state: str
    seconds: float | None
    errors: tuple[str, ...]


def tasks_of(run: Any) -> list[Task]:
    """The steps that a run has come to, in the graph's order; a step that was retried counts once, as it stands now.

    Args:
        run: ``V2beta1Run`` with its details.
    """
    details = (run.run_details.task_details if run.run_details else None) or []
    children: dict[str, list[Any]] = {}
    for detail in details:
        children.setdefault(str(detail.parent_task_id), []).append(detail)
    found: dict[str, Any] = {}
    for detail in details:
        step = step_of(detail.display_name)
        if step and (step not in found or _started(detail) >= _started(found[step])):
            found[step] = detail
    return [
        Task(step, str(d.state or "unknown").lower(), seconds_of(d.start_time, d.end_time), tuple(_errors(d, children)))
        for step, d in sorted(found.items(), key=lambda pair: _ORDER.index(pair[0]))
    ]


def step_of(name: str | None) -> str | None:
    """Gavel's step of a task's name or title; None for a task of KFP's own, such as a driver."""
    # KFP numbers the tasks of one component that stand in several branches.
    known = _NUMBER.sub("", name or "")
    return _STEPS.get(known) or _BY_TITLE.get(name or "")


def failing(tasks: list[Task]) -> str:
    """The first step that failed; "" when none did."""
    return next((task.step for task in tasks if task.state == "failed"), "")


def seconds_of(start: datetime | None, end: datetime | None) -> float | None:
    """From start to end, or until now; KFP gives a time before any run for one that it does not know."""
    if not _known(start):
        return None
    assert start is not None
    last = end if end is not None and _known(end) else datetime.now(UTC)
    return max(0.0, (_aware(last) - _aware(start)).total_seconds())


def took(seconds: float | None) -> str:
    """A duration to read; "-" for none."""
    return "-" if seconds is None else clock_text(seconds)


def _known(time: datetime | None) -> bool:
    return time is not None and time.year > 1970


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _started(detail: Any) -> datetime:
    time = detail.start_time or detail.create_time
    return _aware(time) if time else datetime.min.replace(tzinfo=UTC)


def _errors(detail: Any, children: dict[str, list[Any]]) -> list[str]:
    """Of the task, of its history and of the pods below it, each text once."""
    texts: dict[str, None] = {}
    todo, seen = [detail], set()
    while todo:
        one = todo.pop(0)
        if one.task_id in seen:
            continue
        seen.add(one.task_id)
        history = [status.error for status in one.state_history or []]
        for error in (one.error, *history):
            if error is not None and error.message:
                texts[" ".join(error.message.split())] = None
        todo += children.get(str(one.task_id), [])
    return list(texts)
