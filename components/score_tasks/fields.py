"""A score as columns of TASK_SCORES."""

import dataclasses
import json
from typing import Any, Final

from components.tasks.score import TaskScore

_COLUMNS: Final = ("correct", "exact", "f1", "answer", "detail")


def score_fields(score: TaskScore) -> dict[str, Any]:
    """The columns; what has none of its own goes to ``parts``."""
    values = dataclasses.asdict(score)
    parts = {name: value for name, value in values.items() if name not in _COLUMNS and value is not None}
    return {**{name: values[name] for name in _COLUMNS}, "parts": json.dumps(parts, sort_keys=True)}
