"""Evaluation benchmarks that come in training's columns: training on them spoils the evaluation."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from components.core.errors import ConfigError
from components.judge.verdict import Criterion

_AXES: Final = frozenset(
    {"accuracy", "completeness", "context_awareness", "communication_quality", "instruction_following"}
)
_LEVELS: Final = frozenset({"level:example", "level:cluster"})
_KEYS: Final = ("axis:", "cluster:")
_THEMES: Final = (
    "communication_",
    "complex_responses_",
    "context_seeking_",
    "emergency_referrals_",
    "global_health_",
    "health_data_tasks_",
    "hedging_",
)
"""What the names of its clusters begin with."""


def benchmark_of(data_source: str, criteria: Sequence[Criterion]) -> str | None:
    """The benchmark that a row is from, by its data_source or, where that was renamed, by its tags; None for none."""
    if "healthbench" in data_source.lower().replace("-", "").replace("_", ""):
        return "HealthBench"
    for line in criteria:
        axes, clusters = ({tag.removeprefix(key) for tag in line.tags if tag.startswith(key)} for key in _KEYS)
        if axes & _AXES and (clusters or _LEVELS & set(line.tags)):
            return "HealthBench"
        if any(cluster.startswith(_THEMES) for cluster in clusters):
            return "HealthBench"
    return None


def refuse_benchmarks(found: Counter[str], *, rows: int, where: str) -> None:
    """Raise :class:`ConfigError` if any row is a benchmark's.

    Args:
        found: benchmark -> rows.
        rows: in the file.
        where: the file.
    """
    if found:
        listed = ", ".join(f"{count} of {rows} rows are from {name}" for name, count in sorted(found.items()))
        raise ConfigError(
            f"{listed}, which is an evaluation benchmark: it is not to be trained on",
            where=where,
            remedy="give other rows, or set data.allow_benchmark: true and report nothing on this benchmark",
        )
