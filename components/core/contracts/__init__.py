"""Data contracts: the parquet tables that pass between steps, validated at both ends."""

from components.core.contracts.schemas import (
    CALLS,
    CANARIES,
    GENERATIONS,
    METRICS,
    PROMPTS,
    ROLLOUTS,
    SCORES,
    TASK_SCORES,
    VERDICTS,
    WORKFLOWS,
)
from components.core.contracts.tables import read_table, write_table

__all__ = [
    "CALLS",
    "CANARIES",
    "GENERATIONS",
    "METRICS",
    "PROMPTS",
    "ROLLOUTS",
    "SCORES",
    "TASK_SCORES",
    "VERDICTS",
    "WORKFLOWS",
    "read_table",
    "write_table",
]
